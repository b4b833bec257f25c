"""A session of Claude Code with a person at it: edits that wait, turns that end, questions and answers."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from orgmem.capture.changes import Place, Source, change_of
from orgmem.capture.payloads import parse
from orgmem.capture.question import stop_output, take_answer
from orgmem.capture.review import ASSISTANTS
from orgmem.capture.state import candidates, database, deliveries, replicas, sessions
from orgmem.capture.state.candidates import Change
from orgmem.capture.state.replicas import Checkout

START = 1_700_000_000.0
PROJECT, ROOT = "github.com/acme/shop", "/srv/shop"
TRANSCRIPT = "/home/ada/.claude/projects/-srv-shop/s1.jsonl"


def no_assistant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test run as in a person's own terminal, whoever runs the tests."""
    for variable in ASSISTANTS:
        monkeypatch.delenv(variable, raising=False)


def an_edit(before: str, after: str, path: str = "CLAUDE.md", session: str | None = "s1") -> Change:
    """An edit of a memory file of the shop."""
    place = Place(PROJECT, path, ROOT, f"{ROOT}/{path}")
    made = change_of(place, before.encode(), after.encode(), Source("hook", session, START))
    assert made
    return made


def answered(question: str, label: object, **changes: Any) -> dict[str, Any]:
    """The payload of PostToolUse for the question tool; its shape is that of the SDK's types, not of a capture."""
    asked = [{"question": question, "header": "orgmem", "options": [], "multiSelect": False}]
    return {
        "session_id": "s1",
        "transcript_path": TRANSCRIPT,
        "cwd": ROOT,
        "permission_mode": "default",
        "hook_event_name": "PostToolUse",
        "tool_name": "AskUserQuestion",
        "tool_input": {"questions": asked},
        "tool_response": {"questions": asked, "answers": {question: label}},
        "tool_use_id": "toolu_01",
        **changes,
    }


class Asking:
    """The session, its database and its clock."""

    def __init__(self, folder: Path | None = None, *, interactive: bool | None = True) -> None:
        """In memory where no folder is given."""
        if folder:
            self.db = database.connect(folder)
        else:
            self.db = sqlite3.connect(":memory:", isolation_level=None)
            self.db.executescript(f"{database.TABLES}pragma user_version={database.SCHEMA}")
        self.now = START
        sessions.touch(self.db, "s1", "claude-code", START, interactive=interactive)
        replicas.put_checkout(self.db, Checkout(ROOT, PROJECT, f"{ROOT}/.git"), START)

    def edit(self, before: str, after: str, path: str = "CLAUDE.md", session: str | None = "s1") -> int:
        """An edit that waits; its candidate's id."""
        return candidates.add(self.db, an_edit(before, after, path, session))

    def stop(self, **changes: Any) -> dict[str, Any] | None:
        """A turn ends: the input for the question tool that the assistant is told to use."""
        output = self.output(**changes)
        if output is None:
            return None
        context = json.loads(output)["hookSpecificOutput"]["additionalContext"]
        asked: dict[str, Any] = json.loads(context[context.index("\n\n") :])
        return asked

    def output(self, **changes: Any) -> str | None:
        """What the Stop hook prints."""
        given = {"session_id": "s1", "transcript_path": TRANSCRIPT, "cwd": ROOT, "hook_event_name": "Stop"}
        payload = json.dumps({**given, "stop_hook_active": False, **changes}).encode()
        return stop_output(self.db, parse("Stop", payload), self.now)

    def ask(self) -> str:
        """A turn ends, and the assistant asks: the question's text."""
        asked = self.stop()
        assert asked
        return str(asked["questions"][0]["question"])

    def answer(self, question: str, label: object, **changes: Any) -> tuple[int, ...]:
        """The question tool has an answer: what it decides."""
        return self.tell(answered(question, label, **changes))

    def tell(self, payload: object, event: str = "PostToolUse") -> tuple[int, ...]:
        """A hook gets this payload."""
        return take_answer(self.db, parse(event, json.dumps(payload).encode()), self.now)

    def statuses(self) -> list[str]:
        """Of all candidates, in order."""
        return [each.status for each in candidates.in_order(self.db)]

    def queued(self) -> list[int]:
        """Candidates on their way out."""
        return [each.candidate for each in deliveries.every(self.db)]

    def close(self) -> None:
        self.db.close()


def asking(folder: Path | None = None, *, interactive: bool | None = True) -> "closing[Asking]":
    """A session to use in a `with`."""
    return closing(Asking(folder, interactive=interactive))
