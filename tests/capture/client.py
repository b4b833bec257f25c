"""A home whose candidates are approved and delivered at moments that the test sets."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from orgmem.capture import deliver
from orgmem.capture.changes import Place, Source, change_of
from orgmem.capture.deliver import Delivered
from orgmem.capture.learning import learning_of
from orgmem.capture.state import candidates, database, deliveries, sessions
from orgmem.capture.state.candidates import APPROVED, Candidate, Change
from orgmem.settings import Settings
from orgmem.store.staging import Staging, parse_learning
from schemas.learning import Learning
from tests.capture.hub import TOKEN, Hub

START = 1_700_000_000.0


def a_change(number: int, **changes: Any) -> Change:
    """An edit of a memory file, another one for each number."""
    place = Place("github.com/acme/shop", "CLAUDE.md", "/shop", "/shop/CLAUDE.md")
    made = change_of(place, b"# Shop\n", f"# Shop\n- rule {number}\n".encode(), Source("hook", "s1", START))
    assert made
    return made._replace(**changes)


def a_learning(number: int, **changes: Any) -> Learning:
    """A learning as a backfill hands it over."""
    change = a_change(number, origin="backfill", session=None, **{"commit_id": "c" * 40, **changes})
    return learning_of(Candidate(0, change, APPROVED, "terminal", START), approved_at=START)


class Client:
    """A home, its database and its clock."""

    def __init__(self, folder: Path, hub: Hub | None = None, **settings: Any) -> None:
        if hub:
            settings = {"endpoint": hub.url, "token": SecretStr(TOKEN), **settings}
        self.settings = Settings(home=folder / "home", **settings)
        self.db: sqlite3.Connection = database.connect(self.settings.capture_folder)
        self.now = START

    def approve(self, *numbers: int, via: str = "terminal") -> list[str]:
        """Find and approve these edits; their learning ids."""
        changes = [a_change(number) for number in numbers]
        for change in changes:
            assert candidates.decide(self.db, candidates.add(self.db, change), yes=True, via=via, now=self.now)
        return [change.learning_id for change in changes]

    def clock(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)

    def deliver(self, *, after: float = 0.0, all_due: bool = False) -> Delivered:
        """One call, so many seconds later."""
        self.now += after
        return deliver.deliver(self.db, self.settings, self.clock, all_due=all_due)

    def states(self) -> dict[str, int]:
        return deliveries.counts(self.db)

    def errors(self) -> list[str]:
        """Why deliveries wait or failed."""
        return [each.error or "" for each in deliveries.every(self.db) if each.state != deliveries.DELIVERED]

    def notices(self) -> list[tuple[str, str]]:
        return [(each.kind, each.subject) for each in sessions.notices(self.db)]

    def outbox(self) -> list[str]:
        """Names of the files in the outbox."""
        return names(self.settings.capture_folder / "outbox")

    def staged(self) -> list[str]:
        """Learning ids of what is staged at the endpoint, each file checked."""
        folder = Path(self.settings.endpoint) if self.settings.endpoint else Staging(self.settings).folder
        return staged_in(folder)


def staged_in(folder: Path) -> list[str]:
    """Ids of the learnings in a staging folder, one a file."""
    found = [parse_learning(file.read_bytes()) for file in sorted(folder.glob("lrn_*.json"))]
    assert all(isinstance(each, Learning) for each in found), found
    return [each.id for each in found if isinstance(each, Learning)]


def names(folder: Path) -> list[str]:
    """What lies in a folder; nothing if it is missing."""
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
