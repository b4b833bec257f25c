"""What a hook costs while the assistant waits: its wall time over that of `python3 -c pass`, run in pairs.

    python -P benchmarks/hook.py [--pairs 100]

PostToolUse after an Edit, and Stop in an interactive session with 50 watched files of which 3 were edited, so that
the question is asked. Each once while a reconcile holds the lock, so that the hook starts none, and once as usual:
it starts one, and the next pair waits for its end. `nothing` is the same pair of `pass` and `pass`: what the
machine itself makes of it. Then what each import costs. The exit code is 1 where a usual hook costs too much.
"""

import argparse
import contextlib
import fcntl
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from orgmem.capture import hook, spool
from orgmem.capture.state import candidates, database, replicas

HOOK = str(Path(__file__).resolve().parent.parent / "scripts" / "orgmem-hook")
BARE = ("-c", "pass")
FILES, EDITED, SESSION = 50, 3, "d1c2b3a4-0000-4000-8000-000000000001"
SETTLE_SECONDS = 0.25
"""For a reconcile whose lock is free to be gone."""


class Case(NamedTuple):
    """A hook, and what it may cost."""

    event: str
    median: float
    """Times the wall time of a bare interpreter."""
    ninety_fifth: float | None = None


CASES = (Case("PostToolUse", 1.5, 2.0), Case("Stop", 4.0))


class Ratios(NamedTuple):
    """What pairs of runs gave."""

    bare: float
    """Median, ms."""
    run: float
    """Median, ms."""
    median: float
    ninety_fifth: float


class Desk:
    """A person's project and home, after an hour with an assistant."""

    def __init__(self, folder: Path) -> None:
        self.project, self.home, self.prepared = (folder / name for name in ("shop", "home", "prepared.db"))
        self.capture = self.home / hook.CAPTURE
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("ORGMEM_", "CLAUDE"))}
        # Installers leave compiled modules behind; in a checkout the first run does.
        clean.pop("PYTHONDONTWRITEBYTECODE", None)
        told = {"CLAUDE_CODE_ENTRYPOINT": "cli", "HOME": str(folder), "ORGMEM_HOME": str(self.home)}
        self.environment = {**clean, **told}

    def prepare(self) -> None:
        """Files that are watched, edits that wait for a yes."""
        self.capture.mkdir(parents=True)
        files = [self.project / f"part{number}" / "CLAUDE.md" for number in range(FILES)]
        for file in files:
            file.parent.mkdir(parents=True)
            file.write_text("# Shop\n\nA line as it stood before the session.\n" * 20)
        git = shutil.which("git") or "git"
        subprocess.run((git, "init", "--quiet", str(self.project)), env=self.environment, check=True)
        self._tell("SessionStart", source="startup")
        self._tell("UserPromptSubmit", prompt="go on")
        for file in files[:EDITED]:
            file.write_text(file.read_text() + "\nAlways run `make check` before you push.\n")
        self._tell("PostToolUse", tool_name="Bash", tool_input={"command": "sed -i ..."})
        with contextlib.closing(database.connect(self.capture)) as db:
            (place,) = replicas.checkouts(db)
            found = len(replicas.replicas_of(db, place.root)), len(candidates.pending(db))
        if found != (FILES, EDITED):
            raise SystemExit(f"{found[0]} files are watched and {found[1]} edits wait; not {FILES} and {EDITED}")
        shutil.copy(self.capture / hook.DATABASE, self.prepared)

    def _tell(self, event: str, **more: object) -> None:
        with self.busy():
            self.timed((HOOK, event), self.payload(event, **more))
        subprocess.run((sys.executable, "-P", "-m", "orgmem.capture"), env=self.environment, check=True)

    def payload(self, event: str, **more: object) -> bytes:
        """What the assistant says to the hook."""
        given = {
            "session_id": SESSION,
            "transcript_path": f"{self.home.parent}/.claude/projects/shop/{SESSION}.jsonl",
            "cwd": str(self.project),
            "permission_mode": "acceptEdits",
            "hook_event_name": event,
        }
        return json.dumps({**given, **more}).encode()

    def edit(self) -> bytes:
        """PostToolUse of an Edit of some source file: the tool's input, and what became of it."""
        path, old, new = str(self.project / "src" / "cart.py"), "total += price\n", "total += price * count\n"
        lines = [f"    line_{number} = {number}\n" for number in range(400)]
        hunk = {"oldStart": 9, "oldLines": 7, "newStart": 9, "newLines": 7, "lines": [*lines[8:15], f"+{new}"]}
        given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        response = {
            **{name: given[f] for name, f in (("filePath", "file_path"), ("oldString", "old_string"))},
            "newString": new, "originalFile": "".join(lines), "structuredPatch": [hunk], "userModified": False,
        }  # fmt: skip
        return self.payload("PostToolUse", tool_name="Edit", tool_input=given, tool_response=response)

    def restore(self) -> None:
        """As it was before anybody was asked."""
        for file in self.capture.glob(f"{hook.DATABASE}*"):
            file.unlink()
        shutil.copy(self.prepared, self.capture / hook.DATABASE)
        shutil.rmtree(self.capture / hook.SPOOL, ignore_errors=True)
        (self.capture / hook.SPOOL).mkdir(mode=0o700)

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Hold the lock of reconciles."""
        with (self.capture / hook.LOCK).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def settle(self) -> None:
        """Wait for the end of the reconcile that a hook has started."""
        until = time.monotonic() + 60
        while spool.wakes(spool.folder(str(self.home))):
            if time.monotonic() > until:
                raise SystemExit("the reconcile does not empty the spool: orgmem capture status")
            time.sleep(0.02)
        with self.busy():
            pass
        time.sleep(SETTLE_SECONDS)

    def timed(self, words: tuple[str, ...], payload: bytes) -> tuple[float, bytes]:
        """Seconds from start to end of an interpreter with these words, and what it prints."""
        reader, writer = os.pipe()
        os.write(writer, payload)  # a pipe takes 64 KiB without a reader
        os.close(writer)
        with tempfile.TemporaryFile() as said:
            began = time.perf_counter()
            process = subprocess.Popen((sys.executable, *words), env=self.environment, stdin=reader, stdout=said)
            process.wait()
            took = time.perf_counter() - began
            os.close(reader)
            said.seek(0)
            return took, said.read()


def pairs(desk: Desk, words: tuple[str, ...], payload: bytes, count: int, *, asks: bool, starts: bool) -> Ratios:
    """Run `pass` and this in turn."""
    runs: list[tuple[float, float]] = []
    for number in range(count):
        desk.restore()
        with contextlib.nullcontext() if starts else desk.busy():
            bare = desk.timed(BARE, payload)[0] if number % 2 else 0.0
            took, said = desk.timed(words, payload)
            if bool(said) != asks:
                raise SystemExit(f"{words[-1]} printed {said[:200]!r}")
            if starts:
                desk.settle()
            bare = bare or desk.timed(BARE, payload)[0]
        runs.append((bare, took))
    ratios = sorted(took / bare for bare, took in runs)
    bares, hooks = (statistics.median(each) * 1e3 for each in zip(*runs, strict=True))
    return Ratios(bares, hooks, statistics.median(ratios), ratios[int(len(ratios) * 0.95)])


def show(name: str, found: Ratios) -> None:
    """A line of the table."""
    print(
        f"{name:32} {found.bare:7.1f} {found.run:7.1f} {found.median:8.2f} {found.ninety_fifth:8.2f}", flush=True
    )


def imports(desk: Desk, words: tuple[str, ...], payload: bytes) -> dict[str, int]:
    """Microseconds of each module's own import, the least of some runs."""
    least: dict[str, int] = {}
    for _ in range(7):
        desk.restore()
        command = (sys.executable, "-X", "importtime", *words)
        with desk.busy():
            done = subprocess.run(command, env=desk.environment, input=payload, capture_output=True, check=True)
        for line in done.stderr.decode().splitlines()[1:]:
            own, _, name = line.removeprefix("import time:").split("|")
            least[name.strip()] = min(int(own), least.get(name.strip(), 10**9))
    return least


def show_imports(desk: Desk, event: str, payload: bytes) -> None:
    """What a hook imports that a bare interpreter does not."""
    bare = imports(desk, BARE, payload)
    extra = {name: us for name, us in imports(desk, (HOOK, event), payload).items() if name not in bare}
    print(f"\n{event} imports {len(extra)} modules in {sum(extra.values()) / 1e3:.1f} ms (bare: {len(bare)}):")
    print(
        "  " + ", ".join(f"{name} {us}" for name, us in sorted(extra.items(), key=lambda each: -each[1])) + " us"
    )


def main() -> int:
    """Run it; exit code 1 when a bar is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100)
    count, kept = parser.parse_args().pairs, True
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(os.path.realpath(folder)))
        desk.prepare()
        payloads = {"PostToolUse": desk.edit(), "Stop": desk.payload("Stop", stop_hook_active=False)}
        print(f"{count} pairs each, {sys.version.split()[0]}; ms and their ratio")
        print(f"{'':32} {'bare':>7} {'hook':>7} {'median':>8} {'95th':>8}")
        show("nothing", pairs(desk, BARE, b"", count, asks=False, starts=False))
        for case in CASES:
            words, payload, asks = (HOOK, case.event), payloads[case.event], case.event == "Stop"
            show(f"{case.event}, starts nothing", pairs(desk, words, payload, count, asks=asks, starts=False))
            found = pairs(desk, words, payload, count, asks=asks, starts=True)
            show(f"{case.event}, starts a reconcile", found)
            kept &= found.median <= case.median and found.ninety_fifth <= (case.ninety_fifth or found.ninety_fifth)
        for case in CASES:
            show_imports(desk, case.event, payloads[case.event])
    print("\nevery bar is kept" if kept else "\nA BAR IS NOT KEPT")
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
