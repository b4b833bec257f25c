"""A scripted day: hundreds of edits by every way there is, with hooks and reconciles killed at random moments.

Two sessions, two worktrees and some that come and go, the Edit tool, commands, an editor that no hook sees. Real
hooks and real detached processes run, on a home of their own. In the end one sync, and then the law: the
candidates of each file, applied in order to its first text, give its last one; nothing is offered twice; counts
add up. benchmarks/day.py lives through a long one.
"""

import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orgmem.capture import spool
from orgmem.capture.changes import masked
from orgmem.capture.drain import LOCK
from orgmem.capture.memory_file import essence
from orgmem.capture.state import candidates, database, sessions

FILES = ("CLAUDE.md", "AGENTS.md", "docs/CLAUDE.md", ".claude/rules/api.md", ".cursorrules")
TOKEN = "ghp_Zq7R" + "vK2mXw9LbTf4HsYc8NdGj3PaUe6tBoQi"  # made up
SYNC = (
    "from orgmem.capture.reconcile import run\n"
    "from orgmem.identity import now\n"
    "from orgmem.settings import Settings\n"
    "print(run(Settings.load(), now, full=True, origin='sync').model_dump_json())"
)
HOOK_SECONDS, RECONCILE_SECONDS = 0.05, 0.6
"""Up to these times after its start a process is killed."""


@dataclass
class Day:
    """One day in a folder of its own."""

    folder: Path
    hook: Path
    seed: int
    done: Counter[str] = field(default_factory=Counter)
    """What was done, how often."""
    first: dict[Path, str] = field(default_factory=dict)
    """Each file's text when it was first seen."""
    gone: dict[Path, str] = field(default_factory=dict)
    """Files of removed worktrees, with the last text that a payload told of."""
    moved: list[tuple[int, Path, Path]] = field(default_factory=list)
    """Renames: the last candidate before, old and new path."""
    lost: set[Path] = field(default_factory=set)
    """Removed worktrees in which a command was the last thing that happened."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.home, self.shop, self.tree = (self.folder / name for name in ("home", "shop", "feature"))
        self.running: list[subprocess.Popen[bytes]] = []
        self.kills_left = self.edits_left = 0
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("ORGMEM_", "CLAUDE"))}
        self.environment = {
            **clean,
            "CLAUDE_CODE_ENTRYPOINT": "cli",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": str(self.folder / "user"),
            "ORGMEM_HOME": str(self.home),
        }

    def run(self, edits: int, kills: int) -> None:
        """Live through it, and sync in the end."""
        self._begin()
        self.kills_left, self.edits_left = kills, edits
        while self.edits_left > 0:
            root, session = self.random.choice(((self.shop, "s1"), (self.tree, "s2")))
            self._something(root, session)
        for process in self.running:
            process.wait()
        self._settled()
        self._python("-c", SYNC).check_returncode()

    def _begin(self) -> None:
        for each in (self.folder / "user", self.home / "capture", self.shop):
            each.mkdir(parents=True)
        self._git(self.shop, "init", "-q", "-b", "main")
        self._git(self.shop, "config", "user.email", "ada@acme.example")
        self._git(self.shop, "remote", "add", "origin", "https://github.com/acme/shop.git")
        for name in FILES[:4]:
            self._write(self.shop / name, f"# {name}\n\nFirst line.\nSecond line.\n")
        self._commit(self.shop, "s1")
        self._git(self.shop, "worktree", "add", "-q", "-b", "feature", str(self.tree))
        for root, session in ((self.shop, "s1"), (self.tree, "s2")):
            self._see(root)
            self._tell("SessionStart", root, session, source="startup")
            self._tell("UserPromptSubmit", root, session, prompt="go on")
        self._settled()
        self._python("-m", "orgmem.capture").check_returncode()

    def _something(self, root: Path, session: str) -> None:
        ways = {
            self._edit_by_tool: 30, self._edit_by_command: 25, self._edit_by_editor: 15, self._remove: 3,
            self._rename: 2, self._copy_across: 4, self._commit: 4, self._restore: 2, self._end_turn: 8,
            self._worktree_that_goes: 2, self._flip_line_ends: 3, self._edit_twice: 4,
        }  # fmt: skip
        way = self.random.choices(list(ways), list(ways.values()))[0]
        way(root, session)

    def _edit_by_tool(self, root: Path, session: str) -> None:
        path = root / self.random.choice(FILES)
        before, after = self._text(path) if path.exists() else None, self._edited(path)
        self._write(path, after)
        self._count("tool")
        self._tell_edit(path, before, after, root, session)

    def _edit_by_command(self, root: Path, session: str) -> None:
        path = root / self.random.choice(FILES)
        self._write(path, self._edited(path))
        self._count("command")
        self._tell("PostToolUse", root, session, tool_name="Bash", tool_input={"command": "sed -i ..."})

    def _edit_by_editor(self, root: Path, session: str) -> None:
        path = root / self.random.choice(FILES)
        aside = path.with_name(f"{path.name}.swp")
        self._write(aside, self._edited(path))
        aside.replace(path)
        self._count("editor")

    def _edit_twice(self, root: Path, session: str) -> None:
        """Two sessions edit the same file within a moment."""
        path = root / FILES[0]
        for each in (session, "s3"):
            before, after = self._text(path) if path.exists() else None, self._edited(path)
            self._write(path, after)
            self._count("parallel")
            self._tell_edit(path, before, after, root, each)

    def _remove(self, root: Path, session: str) -> None:
        path = root / self.random.choice(FILES[1:])
        if path.exists():
            path.unlink()
            self._count("removal")
            self._tell("PostToolUse", root, session, tool_name="Bash", tool_input={"command": "rm ..."})

    def _rename(self, root: Path, session: str) -> None:
        """There, and back the next time; what was edited before is reconciled first, or it would be no rename."""
        here, there = root / FILES[1], root / "docs" / "AGENTS.md"
        old, new = (here, there) if here.exists() else (there, here)
        if not old.exists() or new.exists() or not self._text(old).strip():
            return
        self._python("-c", SYNC).check_returncode()
        with self._quiet():
            self.moved.append((self._last_candidate(), old, new))
            old.rename(new)
        self.done["rename"] += 1
        self._python("-c", SYNC).check_returncode()

    def _copy_across(self, root: Path, session: str) -> None:
        other = self.tree if root == self.shop else self.shop
        name = self.random.choice(FILES)
        if (other / name).exists():
            self._write(root / name, self._text(other / name))
            self._count("copy")
            self._tell("PostToolUse", root, session, tool_name="Bash", tool_input={"command": "cp ..."})

    def _restore(self, root: Path, session: str) -> None:
        self._git(root, "checkout", "-q", "--", ".")
        self._count("restore")
        self._tell("PostToolUse", root, session, tool_name="Bash", tool_input={"command": "git checkout -- ."})

    def _commit(self, root: Path, session: str) -> None:
        self._git(root, "add", "--all")
        self._git(root, "commit", "-q", "--allow-empty", "-m", "some work")
        self.done["commit"] += 1

    def _flip_line_ends(self, root: Path, session: str) -> None:
        path = root / self.random.choice(FILES)
        if path.exists():
            path.write_bytes(b"\xef\xbb\xbf" + self._text(path).replace("\n", "\r\n").encode())
            self.done["line ends"] += 1
            self._tell("PostToolUse", root, session, tool_name="Bash", tool_input={"command": "unix2dos ..."})

    def _end_turn(self, root: Path, session: str) -> None:
        self._tell("Stop", root, session, stop_hook_active=False)
        self._tell("UserPromptSubmit", root, session, prompt="go on")
        self.done["turn"] += 1

    def _worktree_that_goes(self, root: Path, session: str) -> None:
        """A worktree is made, edited and removed before anything is reconciled."""
        name = f"short{self.done['worktree']}"
        tree = root / ".claude" / "worktrees" / name if self.random.random() < 0.5 else self.folder / name
        with self._quiet():
            self._git(root, "worktree", "add", "-q", "-b", name, str(tree))
            for path in [tree / each for each in FILES if (tree / each).exists()][:2]:
                self.first[path] = before = self._text(path)
                after = self._edited(path)
                self._write(path, after)
                self._count("short-lived")
                self._hook("PostToolUse", self._payload_of_edit(path, before, after, tree, session), tree)
                self.gone[path] = after
            if self.random.random() < 0.5:
                self._write(tree / FILES[0], "by a command\n")
                self._hook("PostToolUse", self._payload("PostToolUse", tree, session, tool_name="Bash"), tree)
                self.lost.add(tree)
            self._git(root, "worktree", "remove", "--force", str(tree))
        self.done["worktree"] += 1

    def _edited(self, path: Path) -> str:
        """The file's text with a change that is unlike all others."""
        lines = self._text(path).replace("\r\n", "\n").removeprefix("\ufeff").splitlines(keepends=True) or [
            "# New\n"
        ]
        at = self.random.randrange(len(lines) + 1)
        end = self.random.choice(("", f" {TOKEN}", " 漢"))
        line = f"- lesson {self.done.total()}: use `--n={self.random.randrange(10**6)}`{end}\n"
        if self.random.random() < 0.3:
            lines[at:][:2] = []
        return "".join((*lines[:at], line, *lines[at:]))

    def _text(self, path: Path) -> str:
        return path.read_bytes().decode("utf-8-sig") if path.exists() else ""

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def _count(self, way: str) -> None:
        self.done[way] += 1
        self.edits_left -= 1

    def _see(self, root: Path) -> None:
        self.first |= {root / name: self._text(root / name) for name in FILES}

    def _payload(self, event: str, root: Path, session: str, **more: Any) -> bytes:
        given = {"hook_event_name": event, "session_id": session, "cwd": str(root), **more}
        return json.dumps(given).encode()

    def _payload_of_edit(self, path: Path, before: str | None, after: str, root: Path, session: str) -> bytes:
        change = {"old_string": before, "new_string": after} if before is not None else {"content": after}
        response: dict[str, Any] = {
            "filePath": str(path),
            "originalFile": before,
            "structuredPatch": [],
            "userModified": False,
        }
        if before is None:
            response |= {"type": "create", "content": after}
        else:
            response |= {"oldString": before, "newString": after, "replaceAll": False}
        tool = "Write" if before is None else "Edit"
        given = {"file_path": str(path), **change}
        return self._payload(
            "PostToolUse", root, session, tool_name=tool, tool_input=given, tool_response=response
        )

    def _tell_edit(self, path: Path, before: str | None, after: str, root: Path, session: str) -> None:
        self._told("PostToolUse", self._payload_of_edit(path, before, after, root, session), root)

    def _tell(self, event: str, root: Path, session: str, **more: Any) -> None:
        self._told(event, self._payload(event, root, session, **more), root)

    def _told(self, event: str, payload: bytes, root: Path) -> None:
        """Run the hook, and often the reconcile that it would start; kill one of them where it is time to."""
        is_time = self.random.random() < self.kills_left / max(1, self.edits_left)
        kills_hook = is_time and self.random.random() < 0.5
        if not is_time and self.random.random() < 0.3:
            self._hook(event, payload, root)  # which starts its own reconcile
            return
        with self._quiet():  # while the lock is held, the hook starts none
            self._hook(event, payload, root, self.random.uniform(0, HOOK_SECONDS) if kills_hook else None)
        if is_time and not kills_hook:
            self._reconcile(self.random.uniform(0, RECONCILE_SECONDS))
        elif self.random.random() < 0.4:
            self.running.append(self._start("-m", "orgmem.capture"))  # the day goes on meanwhile

    def _hook(self, event: str, payload: bytes, root: Path, dies_after: float | None = None) -> None:
        environment = {**self.environment, "CLAUDE_PROJECT_DIR": str(self.shop)}
        process = subprocess.Popen(
            [sys.executable, str(self.hook), event],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if dies_after is None:
            out, error = process.communicate(payload)
            assert (process.returncode, error) == (0, b""), error
            assert not out or json.loads(out)
            return
        assert process.stdin
        process.stdin.write(payload)
        process.stdin.close()
        self._kill(process, dies_after, "hook")

    def _reconcile(self, dies_after: float) -> None:
        self._kill(self._start("-m", "orgmem.capture"), dies_after, "reconcile")

    def _kill(self, process: "subprocess.Popen[bytes]", after: float, what: str) -> None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(after)
        process.kill()
        process.wait()
        is_killed = process.returncode == -signal.SIGKILL
        self.kills_left -= is_killed
        self.done[f"{what} killed" if is_killed else f"{what} too quick to kill"] += 1
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Hold the lock: nothing reconciles meanwhile, and hooks start nothing."""
        with (self.home / "capture" / LOCK).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _settled(self) -> None:
        """Wait until every wake is worked off."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            self._python("-m", "orgmem.capture").check_returncode()
            with self._quiet():
                if not spool.wakes(spool.folder(str(self.home))):
                    return
        raise TimeoutError("the spool does not become empty")

    def _start(self, *words: str) -> "subprocess.Popen[bytes]":
        nowhere = subprocess.DEVNULL
        command = [sys.executable, "-P", *words]
        environment = {**self.environment, "ORGMEM_CAPTURE": "0"}
        return subprocess.Popen(command, env=environment, stdin=nowhere, stdout=nowhere, stderr=nowhere)

    def _python(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [sys.executable, "-P", *words], env=self.environment, check=False, stdout=subprocess.PIPE
        )

    def _git(self, root: Path, *words: str) -> None:
        told = ["-c", "user.name=Ada", "-c", "user.email=ada@acme.example", "-c", "core.autocrlf=false"]
        subprocess.run(["git", *told, *words], cwd=root, env=self.environment, check=True, stdout=subprocess.PIPE)

    def _last_candidate(self) -> int:
        db = database.connect(self.home / "capture")
        try:
            return max((each.id for each in candidates.in_order(db)), default=0)
        finally:
            db.close()


def check(day: Day) -> dict[str, int]:
    """The law; how many candidates there are of each status."""
    db = database.connect(day.home / "capture")
    try:
        states = {path: masked(text.encode()).text for path, text in day.first.items()}
        moved = list(day.moved)
        rows = candidates.in_order(db)
        for each in rows:
            while moved and moved[0][0] < each.id:
                _move(states, moved.pop(0))
            _apply(states, each)
        for rename in moved:
            _move(states, rename)
        for path, state in states.items():
            last = day.gone[path].encode() if path in day.gone else path.read_bytes() if path.exists() else None
            assert essence(state) == essence(masked(last).text), f"{path}: not what it should be"
        offered = Counter(
            each.change.learning_id for each in rows if each.status in ("pending", "approved", "denied")
        )
        assert not [learning for learning, times in offered.items() if times > 1]
        counts = candidates.counts(db)
        assert sum(counts.values()) == len(rows)
        notices = sessions.notices(db)
        assert {Path(each.subject) for each in notices if each.kind == "lost"} == day.lost
        faults = [each for each in notices if each.kind != "lost"]
        assert not faults, faults
        return counts
    finally:
        db.close()


def _apply(states: dict[Path, str], each: candidates.Candidate) -> None:
    if each.status == candidates.WITHDRAWN:
        return
    path = Path(each.change.real_path)
    state = states.get(path, "")
    assert essence(each.change.before) == essence(state), f"{path}: candidate {each.id} begins elsewhere"
    assert essence(each.change.after) != essence(state), f"{path}: candidate {each.id} is there twice"
    states[path] = each.change.after


def _move(states: dict[Path, str], rename: tuple[int, Path, Path]) -> None:
    states[rename[2]] = states.pop(rename[1], "")
