"""Tests what is installed: each hook by a canary edit through the commands that the settings really hold.

The canary lives in a temporary repository and a temporary home; nothing of it reaches the person's own queue.
"""

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from orgmem.capture import jsonc
from orgmem.capture.claude_code import HOOK, TIMEOUTS
from orgmem.capture.destination import shown
from orgmem.capture.install import settings_files
from orgmem.capture.state import database
from orgmem.errors import OrgmemError
from orgmem.settings import Settings
from schemas.record import Record

PATIENCE_SECONDS = 30.0
"""How long the canary may take to be found; a busy machine needs seconds."""
ROOM = 1024 * 1024
"""Free bytes below which the database's own files may not be made any more."""
CANARY = "# Canary\n\nRun `make canary` before `make test`.\n"
INSTALL = "orgmem init --target claude-code"


class Check(Record):
    """One thing that was tested."""

    name: str
    ok: bool
    detail: str
    next: str = ""
    """The command that helps."""


def examine(settings: Settings, root: Path, home: Path) -> Iterator[Check]:
    """Every check, one after the other; the canary only where hooks are installed."""
    found: dict[str, list[str]] = {}
    for file in settings_files(root, home):
        if file.exists():
            check, commands = _settings_check(file)
            found.update(commands)
            yield check
    missing = sorted(set(TIMEOUTS) - set(found))
    yield Check(
        name="hooks",
        ok=not missing,
        detail=f"not installed: {', '.join(missing)}" if missing else f"{len(found)} events",
        next=INSTALL if missing else "",
    )
    stale = sorted({words[0] for words in found.values() if not os.access(words[0], os.X_OK)})
    if stale:
        yield Check(name="commands", ok=False, detail=f"can't be run: {', '.join(stale)}", next=INSTALL)
    elif {"SessionStart", "PostToolUse"} <= set(found):
        yield _canary_check(found)
    if (settings.capture_folder / "capture.db").exists():
        yield _database_check(settings.capture_folder)
    yield _destination_check(settings)


def _settings_check(file: Path) -> tuple[Check, dict[str, list[str]]]:
    """Whether a settings file parses and lets hooks run, and our commands in it by event."""
    name = str(file)
    try:
        text = file.read_bytes().decode("utf-8-sig")
        said = jsonc.value(text, jsonc.parse(text, name))
    except OrgmemError as error:
        return Check(name=name, ok=False, detail=error.message, next=error.hint), {}
    except (OSError, UnicodeDecodeError) as error:
        return Check(name=name, ok=False, detail=str(error), next=f"ls -l {file}"), {}
    said = said if isinstance(said, dict) else {}
    if said.get("disableAllHooks"):
        return Check(name=name, ok=False, detail="disableAllHooks is set", next=f"remove it from {file}"), {}
    return Check(name=name, ok=True, detail="can be read"), dict(_commands(said.get("hooks")))


def _commands(hooks: object) -> Iterator[tuple[str, list[str]]]:
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            for each in entry.get("hooks") or () if isinstance(entry, dict) else ():
                command = str(each.get("command", "")) if isinstance(each, dict) else ""
                if Path(command).name == HOOK:
                    yield event, [command, *map(str, each.get("args") or ())]


def _canary_check(found: dict[str, list[str]]) -> Check:
    began = time.monotonic()
    with TemporaryDirectory(prefix="orgmem-doctor-") as folder:
        repository, home = Path(folder) / "canary", Path(folder) / "home"
        repository.mkdir()
        memory = repository / "CLAUDE.md"
        memory.write_text("# Canary\n", encoding="utf-8")
        try:
            _fire(found["SessionStart"], "SessionStart", repository, home)
            _wait(home, began, "select count(*) from replicas")
            memory.write_text(CANARY, encoding="utf-8")
            _fire(found["PostToolUse"], "PostToolUse", repository, home)
            seen = _wait(home, began, "select count(*) from candidates")
        except (OSError, subprocess.SubprocessError) as error:
            return Check(name="canary", ok=False, detail=f"a hook failed: {error}", next=INSTALL)
        fault = "" if seen else _faults(home)
    seconds = time.monotonic() - began
    if seen:
        return Check(name="canary", ok=True, detail=f"an edit was captured through the hooks in {seconds:.1f} s")
    return Check(
        name="canary", ok=False, detail=f"an edit was not captured in {seconds:.0f} s{fault}", next=INSTALL
    )


def _fire(words: list[str], event: str, repository: Path, home: Path) -> None:
    """Run a hook as the assistant does, for another home."""
    args = [word for at, word in enumerate(words) if "--home" not in words[max(0, at - 1) : at + 1]]
    tool = (
        ',"tool_name":"Bash","tool_input":{"command":"true"},"tool_response":{}' if event == "PostToolUse" else ""
    )
    payload = f'{{"session_id":"orgmem-doctor","cwd":"{repository}","hook_event_name":"{event}"{tool}}}'
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ORGMEM_")}
    subprocess.run(  # noqa: S603 - the command that the settings name, to see whether it works
        [*args, "--home", str(home)],
        input=payload.encode(),
        env={**environment, "ORGMEM_HOME": str(home)},
        capture_output=True,
        check=True,
        timeout=TIMEOUTS[event],
    )


def _wait(home: Path, began: float, question: str) -> bool:
    """Until the database says a number that is not 0."""
    while time.monotonic() - began < PATIENCE_SECONDS:
        if (home / "capture" / "capture.db").exists():
            with closing(database.connect(home / "capture")) as db:
                if db.execute(question).fetchone()[0]:
                    return True
        time.sleep(0.1)
    return False


def _faults(home: Path) -> str:
    log = home / "capture" / "hook-errors.log"
    return f": {log.read_text('utf-8', 'replace').strip()[:200]}" if log.exists() else ""


def _database_check(folder: Path) -> Check:
    """Whether what was captured can be read and there is room for more."""
    file = folder / "capture.db"
    if shutil.disk_usage(folder).free < ROOM:
        return Check(name="database", ok=False, detail=f"the disk of {file} is full", next=f"df -h {folder}")
    try:
        with closing(database.connect(folder)) as db:
            said = str(db.execute("pragma quick_check(1)").fetchone()[0])
    except (sqlite3.Error, OSError) as error:
        damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
        # Moved and not deleted: it holds the decisions that are open.
        helps = f"mv {file} {file}.damaged" if damaged else f"ls -l {file}"
        return Check(name="database", ok=False, detail=f"{file} can't be used: {error}", next=helps)
    if said != "ok":
        return Check(name="database", ok=False, detail=f"{file}: {said}", next=f"mv {file} {file}.damaged")
    return Check(name="database", ok=True, detail=f"{file} can be used")


def _destination_check(settings: Settings) -> Check:
    """Whether approved learnings can go where they are to go; nothing is sent."""
    where = settings.endpoint or str(settings.staging)
    if "://" not in where:
        folder = Path(where)
        there = next(each for each in (folder, *folder.parents) if each.exists())
        is_ours = not settings.endpoint
        ok = os.access(there, os.W_OK) and (is_ours or folder.is_dir())
        detail = f"{folder} can be written" if ok else f"{folder} can't be written"
        return Check(name="destination", ok=ok, detail=detail, next="" if ok else f"ls -ld {there}")
    import httpx

    try:
        answer = httpx.get(f"{where.rstrip('/')}/healthz", timeout=5.0)
        ok, detail = answer.status_code < 400, f"{shown(where)} answers {answer.status_code}"  # noqa: PLR2004
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        ok, detail = False, f"{shown(where)}: {error}"
    return Check(
        name="destination", ok=ok, detail=detail, next="" if ok else "set ORGMEM_ENDPOINT, or ask who runs it"
    )
