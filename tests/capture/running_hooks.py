"""Hooks as an assistant runs them, and stand-ins for the parts that they start or import."""

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orgmem.capture.hook import CAPTURE, ERRORS, LOCK, NICENESS, SPOOL
from orgmem.capture.spool import Wake, wakes

CHECKOUT = Path(__file__).resolve().parent.parent.parent
HOOK = CHECKOUT / "scripts" / "orgmem-hook"
RECORDS = """
import json, os, subprocess, sys, time
from pathlib import Path
until = time.monotonic() + 20
while os.nice(0) < %(nice)r and time.monotonic() < until:
    time.sleep(0.01)
home = Path(os.environ["ORGMEM_HOME"])
fds = [fd for fd in range(256) if os.path.exists(f"/dev/fd/{fd}")]
again = subprocess.run([sys.executable, %(hook)r, "PostToolUse"], input=b"nested", capture_output=True)
told = {
    "capture": os.environ["ORGMEM_CAPTURE"], "cwd": os.getcwd(), "nice": os.nice(0), "safe": sys.flags.safe_path,
    "leads": os.getsid(0) == os.getpid(), "fds": fds, "again": again.returncode,
    "nowhere": [os.fstat(fd).st_rdev == os.stat(os.devnull).st_rdev for fd in range(3)],
}
(home / "told.tmp").write_text(json.dumps(told))
(home / "told.tmp").rename(home / "told.json")
"""
"""A stand-in for the reconcile: says what it was started with, and runs a hook itself.

It waits for its priority, which the hook sets when it runs already.
"""


class Hooks:
    """A home, and the hooks that are run for it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.cwd = folder / "project"
        self.cwd.mkdir()
        self.stand_ins = folder / "stand-ins"
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ORGMEM_", "CLAUDE", "PYTHON"))
        } | {"HOME": str(folder), "PYTHONPATH": str(self.stand_ins), "ORGMEM_HOME": str(self.home)}
        self.stand_in("__main__", RECORDS % {"hook": str(HOOK), "nice": NICENESS})

    def stand_in(self, module: str, source: str) -> None:
        """Let hooks, and what they start, find this module of orgmem.capture instead of ours."""
        for package in ("orgmem", "orgmem/capture"):
            (self.stand_ins / package).mkdir(parents=True, exist_ok=True)
            code = f"__path__.append({str(CHECKOUT / package)!r})\n__version__ = '0'\n"
            (self.stand_ins / package / "__init__.py").write_text(code)
        (self.stand_ins / "orgmem" / "capture" / f"{module}.py").write_text(source)

    def command(self, *words: str) -> tuple[str, ...]:
        return (sys.executable, str(HOOK), *words)

    def run(self, *words: str, payload: bytes = b"", **options: Any) -> "subprocess.CompletedProcess[bytes]":
        """Run a hook to its end."""
        given = {"cwd": self.cwd, "env": self.environment, "timeout": 60, "capture_output": True, **options}
        if "stdin" not in given:
            given["input"] = payload
        return subprocess.run(self.command(*words), check=False, **given)

    def silent(self, *words: str, payload: bytes = b"", **options: Any) -> None:
        """Run a hook that is to say nothing."""
        done = self.run(*words, payload=payload, **options)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    @property
    def capture(self) -> Path:
        return self.home / CAPTURE

    @property
    def spool(self) -> Path:
        return self.capture / SPOOL

    def wakes(self) -> tuple[Wake, ...]:
        return wakes(str(self.spool))

    def errors(self) -> list[str]:
        """Lines about faults."""
        file = self.capture / ERRORS
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    @contextmanager
    def busy(self) -> Iterator[None]:
        """As if a reconcile were running: hooks start none."""
        self.capture.mkdir(parents=True, exist_ok=True)
        with (self.capture / LOCK).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def told(self) -> Mapping[str, Any]:
        """What the stand-in of the reconcile says, once it has."""
        file, until = self.home / "told.json", time.monotonic() + 30
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.01)
        said: dict[str, Any] = json.loads(file.read_text())
        file.unlink()
        return said


def without_rights(command: Sequence[str]) -> tuple[str, ...]:
    """The command so that modes of files hold for it, even if root runs the tests."""
    drop = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
    return (*drop, *command)
