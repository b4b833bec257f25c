"""Delivers what is approved: its file into the outbox, one attempt, mark it delivered, remove the file.

A process killed anywhere does the same again, to the same names and ids, so that the other end has each learning
once. Nothing waits here: what can't be delivered now is due later, and the database says when and why.
"""

import os
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple, assert_never

from pydantic import ValidationError

from orgmem.capture import counts, outbox, spool
from orgmem.capture.destination import Arrived, Destination, Later, Outcome, Refused, open_destination
from orgmem.capture.faults import reason_of
from orgmem.capture.learning import learning_of
from orgmem.capture.outbox import Outbox
from orgmem.capture.state import candidates, deliveries, sessions
from orgmem.capture.state.candidates import APPROVED, Candidate
from orgmem.capture.state.database import transaction
from orgmem.capture.state.deliveries import Delivery
from orgmem.errors import BusyError, OrgmemError
from orgmem.identity import Clock
from orgmem.settings import Settings
from orgmem.store.rejects import in_one_line, reasons
from orgmem.store.staging import file_name, parse_learning
from schemas.learning import Learning

FIRST_WAIT, LONGEST_WAIT = 10.0, 3600.0
"""Seconds until the next attempt: doubled each time, up to the longest."""
MOST_STUMBLES = 3
"""Errors of the server in a row that may each be about one learning; then it is the server."""


class Delivered(NamedTuple):
    """What came of the deliveries that were due."""

    delivered: int
    postponed: int
    """Tried, or not even tried since the other end can't be reached; due again later."""
    failed: int
    """Refused for good."""


class _Letter(NamedTuple):
    """A learning on its way."""

    file: str
    learning: Learning


class _Gone(NamedTuple):
    """A delivery of which nothing is left to send."""


def deliver(db: sqlite3.Connection, settings: Settings, clock: Clock, *, all_due: bool = False) -> Delivered:
    """Deliver what is due, with `all_due` everything that is queued; then the session counts.

    Without `all_due` it leaves at once where another process delivers, and gives way to wakes: that one, or the
    next round, goes on.

    Raises:
        ConfigurationError: the endpoint or the token is of no use.
        BusyError: with `all_due`, another process has been delivering for half a minute.
        OSError: the outbox can't be read or written.
    """
    total = Delivered(0, 0, 0)
    everything = all_due
    while True:
        with outbox.locked(settings, outbox.WAIT_SECONDS if everything else 0.0) as mine:
            if not mine and everything:
                raise BusyError("another process has been delivering for half a minute", "orgmem status")
            if not mine:
                return total
            done, is_through = _Round(db, settings, clock, everything).run()
        total = Delivered(*(old + new for old, new in zip(total, done, strict=True)))
        everything = False
        # Another process may have approved something meanwhile, and left it to this one.
        if not is_through or not deliveries.due(db, clock().timestamp()):
            return total


class _Round:
    """One pass over what is due, under the outbox' lock."""

    def __init__(self, db: sqlite3.Connection, settings: Settings, clock: Clock, everything: bool) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._everything = everything
        self._box = Outbox(settings)

    def run(self) -> tuple[Delivered, bool]:
        """What came of it, and whether it got through all that was due."""
        db, now = self._db, self._now()
        self._box.sweep(db, now)
        found = sorted(deliveries.queued(db) if self._everything else deliveries.due(db, now), key=_turn)
        figures = counts.due(db, self._settings, now, all_due=self._everything)
        if not found and not figures:
            return Delivered(0, 0, 0), True
        with open_destination(self._settings, self._clock) as destination:
            done, is_through = self._deliver(destination, found)
            if is_through:
                counts.send(db, figures, destination, now)
        return done, is_through

    def _deliver(self, destination: Destination, found: Sequence[Delivery]) -> tuple[Delivered, bool]:
        delivered = postponed = failed = stumbles = 0
        for number, each in enumerate(found):
            if number and not self._everything and _has_wakes(self._settings):
                return Delivered(delivered, postponed, failed), False
            match self._attempt(destination, each):
                case Arrived():
                    delivered, stumbles = delivered + 1, 0
                case Refused():
                    failed, stumbles = failed + 1, 0
                case Later(alone=True) as later if stumbles < MOST_STUMBLES - 1:
                    postponed, stumbles = postponed + 1, stumbles + 1
                    until = self._now() + _wait(later, each.attempts, each.learning_id)
                    deliveries.postponed(self._db, each.candidate, later.reason, until)
                case Later() as later:
                    rest = found[number:]
                    until = self._now() + _wait(later, deliveries.most_attempts(self._db), each.learning_id)
                    deliveries.hold(self._db, [one.candidate for one in rest], later.reason, until)
                    return Delivered(delivered, postponed + len(rest), failed), False
                case _Gone():
                    pass
                case never:
                    assert_never(never)
        return Delivered(delivered, postponed, failed), True

    def _attempt(self, destination: Destination, delivery: Delivery) -> Outcome | _Gone:
        """Send one and remember what is final."""
        letter = self._letter(delivery)
        if not isinstance(letter, _Letter):
            if isinstance(letter, Refused):
                deliveries.failed(self._db, delivery.candidate, letter.reason)
            return letter
        outcome = destination.send(letter.learning)
        if isinstance(outcome, Arrived):
            self._mark_delivered(delivery, letter.learning)
            self._box.drop(letter.file)
        elif isinstance(outcome, Refused):
            deliveries.failed(self._db, delivery.candidate, outcome.reason)
            self._box.fail(letter.file, outcome.reason)
        return outcome

    def _letter(self, delivery: Delivery) -> "_Letter | Refused | Later | _Gone":
        """What is to be sent, in the outbox; taken back meanwhile, it is gone."""
        current = deliveries.find(self._db, delivery.candidate)
        if current is None or current.state != deliveries.QUEUED:
            return _Gone()
        return self._of_backfill(delivery) if delivery.candidate < 0 else self._of_candidate(delivery)

    def _of_candidate(self, delivery: Delivery) -> "_Letter | Refused | Later":
        learning = _approved(candidates.get(self._db, delivery.candidate))
        if isinstance(learning, Refused):
            return learning
        data = learning.model_dump_json().encode()
        if len(data) > self._settings.max_row_bytes:
            return Refused(f"larger than {self._settings.max_row_bytes:,} bytes")
        if isinstance(problems := parse_learning(data), tuple):
            return Refused(in_one_line(problems))
        try:
            self._box.write(file_name(learning), data)
        except OSError as error:
            return Later(f"{self._box.folder}: {reason_of(error)}")
        return _Letter(file_name(learning), learning)

    def _of_backfill(self, delivery: Delivery) -> "_Letter | Refused | _Gone":
        approved = deliveries.find_backfilled(self._db, delivery.candidate)
        data = self._box.read(approved.file) if approved else None
        if approved is None or data is None or outbox.digest_of(data) != approved.sha256:
            deliveries.drop_backfilled(self._db, delivery.candidate)
            detail = "its file in the outbox is not what was approved; orgmem backfill brings it again"
            sessions.notify(self._db, "lost", delivery.learning_id, detail, self._now())
            return _Gone()
        found = parse_learning(data)
        return _Letter(approved.file, found) if isinstance(found, Learning) else Refused(in_one_line(found))

    def _mark_delivered(self, delivery: Delivery, learning: Learning) -> None:
        with transaction(self._db):
            if delivery.candidate > 0 and deliveries.find(self._db, delivery.candidate) is None:
                # Taken back while it was on its way: what has left has left.
                at = learning.approved_at.timestamp()
                candidates.decide(self._db, delivery.candidate, yes=True, via=learning.approved_via, now=at)
            deliveries.delivered(self._db, delivery.candidate, self._now())

    def _now(self) -> float:
        return self._clock().timestamp()


def _approved(candidate: Candidate | None) -> Learning | Refused:
    if candidate is None or candidate.status != APPROVED or candidate.decided_at is None:
        return Refused("nobody has approved it")
    try:
        return learning_of(candidate, approved_at=candidate.decided_at)
    except ValidationError as error:
        return Refused(in_one_line(reasons(error)))
    except (OrgmemError, ValueError, OverflowError) as error:
        return Refused(reason_of(error))


def _turn(delivery: Delivery) -> tuple[int, bool, int]:
    """What was tried least comes first, so that one at which the server stumbles keeps no other back."""
    return delivery.attempts, delivery.candidate < 0, delivery.candidate


def _wait(later: Later, attempts: int, learning_id: str) -> float:
    """Seconds until the next attempt, less up to a fifth by the id, so that not all clients come at once."""
    if later.wait is not None:
        return max(later.wait, 1.0)
    wait = min(FIRST_WAIT * 2.0 ** min(attempts, 20), LONGEST_WAIT)
    return wait * (1 - 0.2 * int(learning_id[-4:], 16) / 0xFFFF)


def _has_wakes(settings: Settings) -> bool:
    try:
        with os.scandir(spool.folder(str(settings.home))) as entries:
            return any(entry.is_file(follow_symlinks=False) for entry in entries)
    except FileNotFoundError:
        return False
