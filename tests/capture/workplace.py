"""A home, repositories and the events of assistants that work in them, for tests."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orgmem.capture import drain, reconcile
from orgmem.capture.changes import masked
from orgmem.capture.look import Occurrence, can_have_changed
from orgmem.capture.memory_file import essence
from orgmem.capture.spool import Wake
from orgmem.capture.state import candidates, database, replicas, sessions
from orgmem.capture.state.candidates import Candidate
from orgmem.settings import Settings

GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
OLD_SECONDS = 100.0


def git(folder: Path, *words: str, ago: float = OLD_SECONDS) -> str:
    """Run git in a folder, as a person whose commits were made so many seconds ago."""
    moment = f"@{int(time.time() - ago)} +0000"
    environment = {**os.environ, **GIT, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    told = ["-c", "user.name=Ada", "-c", "user.email=ada@acme.example", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *told, *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def written(path: Path, content: str | bytes, *, ago: float = 0.0) -> Path:
    """A file with this content, last changed so many seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if ago:
        os.utime(path, (time.time() - ago,) * 2)
    return path


def nothing(_: str) -> None:
    """No end between two steps."""


class Workplace:
    """A home with its database, and what waits to be reconciled."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.settings = Settings(home=folder / "home", **settings)
        self.db = database.connect(self.settings.capture_folder)
        self.waiting: list[Wake] = []
        self.now: Callable[[], float] = time.time

    def repository(self, name: str = "shop", files: dict[str, str] | None = None) -> Path:
        """A repository with a remote, whose files were committed a while ago."""
        root = self.folder / name
        root.mkdir()
        git(root, "init", "-q", "-b", "main")
        git(root, "remote", "add", "origin", f"git@github.com:acme/{name}.git")
        git(root, "config", "user.email", "ada@acme.example")
        for path, text in (files if files is not None else {"CLAUDE.md": "# Shop\n"}).items():
            written(root / path, text, ago=OLD_SECONDS)
        git(root, "add", "--all")
        git(root, "commit", "-q", "--allow-empty", "-m", "first")
        return root

    def worktree(self, root: Path, name: str) -> Path:
        """A linked worktree of a repository on a branch of its own."""
        git(root, "worktree", "add", "-q", "-b", name, str(self.folder / name))
        return self.folder / name

    def wake(self, event: str, cwd: Path | str, session: str | None = "s1", **payload: Any) -> None:
        """An event, as an assistant would tell it to the hook."""
        given = {"hook_event_name": event, "cwd": str(cwd), **payload}
        if session:
            given["session_id"] = session
        data = json.dumps(given).encode()
        number = f"{len(self.waiting):06}"
        self.waiting.append(Wake(number, event, str(cwd), str(cwd), "cli", self.now(), data, True))

    def start(self, cwd: Path, session: str | None = "s1") -> None:
        """A session begins, and is reconciled."""
        self.wake("SessionStart", cwd, session, source="startup")
        self.reconcile()

    def edit(self, path: Path, after: str, session: str | None = "s1", cwd: Path | None = None) -> None:
        """The Edit tool, or Write where there is no file; with its payload."""
        before = path.read_text() if path.exists() else None
        written(path, after)
        self.tell_edit(path, before, after, session, cwd)

    def tell_edit(
        self, path: Path, before: str | None, after: str, session: str | None = "s1", cwd: Path | None = None
    ) -> None:
        """The payload of an edit alone."""
        tool = "Edit" if before is not None else "Write"
        given = {"file_path": str(path), "content": after}
        response: dict[str, Any] = {
            "filePath": str(path),
            "type": "create",
            "content": after,
            "originalFile": None,
        }
        if before is not None:
            given = {"file_path": str(path), "old_string": before, "new_string": after}
            response = {"filePath": str(path), "oldString": before, "newString": after, "originalFile": before}
        self.wake(
            "PostToolUse",
            cwd or path.parent,
            session,
            tool_name=tool,
            tool_input=given,
            tool_response={**response, "structuredPatch": [], "userModified": False},
        )

    def shell(self, cwd: Path, session: str | None = "s1", command: str = "make") -> None:
        """The Bash tool has run."""
        given = {"command": command}
        self.wake("PostToolUse", cwd, session, tool_name="Bash", tool_input=given, tool_response={"stdout": ""})

    def stop(self, cwd: Path, session: str | None = "s1") -> None:
        """A turn ends, and is reconciled."""
        self.wake("Stop", cwd, session, stop_hook_active=False)
        self.reconcile()

    def means(self, tick: Callable[[str], None] = nothing) -> drain.Means:
        return drain.Means(self.db, str(self.settings.home), lambda: self.settings, self.now, tick)

    def occurrences(self) -> tuple[Occurrence, ...]:
        """What waits, parsed and taken."""
        seen = tuple(drain.occurrence_of(wake) for wake in self.waiting)
        self.waiting = []
        return seen

    def reconcile(self) -> bool:
        """Work off what waits; whether the quick look wanted it."""
        seen = self.occurrences()
        wanted = can_have_changed(self.db, seen, self.now())
        if wanted:
            reconcile.reconcile(self.means(), self.settings, seen)
        return wanted

    def sync(self, here: Path | None = None) -> None:
        """What `orgmem capture sync` does to files."""
        reconcile.reconcile(
            self.means(), self.settings, (), origin="sync", thorough=True, here=str(here) if here else None
        )

    def all(self, *, status: str | None = None) -> tuple[Candidate, ...]:
        """Every candidate, in order, or those of one status."""
        return tuple(each for each in candidates.in_order(self.db) if status in (None, each.status))

    def edits(self, *, status: str | None = None) -> list[tuple[str, str]]:
        """Before and after of candidates, in order."""
        return [(each.change.before, each.change.after) for each in self.all(status=status)]

    def notices(self) -> list[tuple[str, str]]:
        """Kind and subject of every notice."""
        return [(each.kind, each.subject) for each in sessions.notices(self.db)]

    def check_chain(self, path: Path, first: str) -> None:
        """The file's candidates, applied in order to its first text, give its last one; each is there once."""
        state = masked(first.encode()).text
        chain = [each for each in self.all() if each.change.real_path == os.path.realpath(path)]
        for each in chain:
            if each.status != candidates.WITHDRAWN:
                assert essence(each.change.before) == essence(state)
                state = each.change.after
        last = path.read_bytes() if path.exists() else None
        assert essence(state) == essence(masked(last).text)
        known = replicas.get_replica(self.db, os.path.realpath(path))
        assert known is None or known.content == last
        offered = [
            each.change.learning_id for each in self.all() if each.status in ("pending", "approved", "denied")
        ]
        assert len(offered) == len(set(offered))
