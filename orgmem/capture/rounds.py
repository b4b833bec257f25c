"""A round of reconcile and what it finds: the types that its parts hand to each other."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from orgmem.capture.evidence import Evidence
from orgmem.capture.state.candidates import Change
from orgmem.capture.state.replicas import Checkout, Replica
from orgmem.capture.watch import Watch

PERSONAL = "personal "
"""How `watched` begins for folders of personal memory, which are no projects."""


@dataclass(frozen=True)
class Round:
    """One pass: what woke it, and what it needs."""

    db: sqlite3.Connection
    watch: Watch
    watched: str
    """Digest of the watch list."""
    longest: int
    """Bytes of the largest file that is read."""
    evidence: Evidence
    clock: Callable[[], float]
    now: float
    """When it began, by that clock: seconds since 1970."""
    thorough: bool = False
    """Every file is read, whatever its stamp says."""


class Step(NamedTuple):
    """What a file's replica becomes, and what that means."""

    replica: Replica
    change: Change | None = None
    arrived: bool = False
    """Git brought the change."""
    moved_from: str | None = None
    """Former real path of a renamed file."""


class Remark(NamedTuple):
    """A notice about a file or a folder."""

    kind: Literal["lost", "skipped", "failed"]
    subject: str
    detail: str


class Walked(NamedTuple):
    """What the walk of a checkout found."""

    checkout: Checkout
    head: str | None
    """Commit of HEAD."""
    steps: tuple[Step, ...]
    unread: frozenset[str]
    """Files that can't be read at present, by the subject of their notices."""
    remarks: tuple[Remark, ...]
