"""Writes what a round found: replicas advance, and candidates come, in one transaction a checkout."""

import sqlite3
from collections.abc import Iterable

from orgmem.capture.changes import changes_nothing, follows, joined
from orgmem.capture.gone import Gone
from orgmem.capture.rounds import Remark, Round, Step, Walked
from orgmem.capture.state import candidates, sessions
from orgmem.capture.state.candidates import Candidate, Change
from orgmem.capture.state.database import transaction
from orgmem.capture.state.replicas import (
    checkout_above,
    last_sight,
    mark_gone,
    move_replica,
    put_checkout,
    put_replica,
)


def record(this: Round, walked: Walked) -> None:
    """Take in the walk of a checkout, or nothing of it."""
    db, root = this.db, walked.checkout.root
    with transaction(db):
        put_checkout(db, walked.checkout, this.now, watched=this.watched, head=walked.head)
        _take(this, walked.steps)
        _settle(db, root, walked.unread)
        note(this, walked.remarks)


def record_gone(this: Round, each: Gone) -> None:
    """Take in a checkout that is gone."""
    with transaction(this.db):
        if last_sight(this.db, each.checkout.root) is None:
            put_checkout(this.db, each.checkout, this.now)
        mark_gone(this.db, each.checkout.root, this.now)
        _take(this, each.steps)
        note(this, each.remarks)


def note(this: Round, remarks: Iterable[Remark]) -> None:
    """Keep notices."""
    for kind, subject, detail in remarks:
        sessions.notify(this.db, kind, subject, detail, this.now)


def _take(this: Round, steps: Iterable[Step]) -> None:
    read_at = this.clock()
    for step in steps:
        if step.moved_from:
            move_replica(this.db, step.moved_from, step.replica, read_at)
        else:
            put_replica(this.db, step.replica, read_at)
        if step.change:
            _queue(this.db, step.change, arrived=step.arrived)


def _queue(db: sqlite3.Connection, change: Change, *, arrived: bool) -> None:
    latest = candidates.latest_of(db, change.real_path)
    if latest and not arrived and _goes_on(latest, change):
        whole = joined(latest.change, change)
        candidates.extend(db, latest.id, whole, empty=changes_nothing(whole))
    else:
        candidates.add(db, change, arrived=arrived)


def _goes_on(latest: Candidate, change: Change) -> bool:
    """Whether a change goes on with the file's last candidate: the same session's, and nobody has seen that."""
    last = latest.change
    return (
        latest.status == candidates.PENDING
        and latest.shown_at is None
        and (last.project, last.path, last.session) == (change.project, change.path, change.session)
        and follows(last, change)
    )


def _settle(db: sqlite3.Connection, root: str, unread: frozenset[str]) -> None:
    """Notices of files that are read again, or are no more."""
    for each in sessions.notices(db):
        if each.kind in ("skipped", "failed") and each.subject not in unread:
            owner = checkout_above(db, each.subject)
            if owner and owner.root == root:
                sessions.settle(db, each.kind, each.subject)
