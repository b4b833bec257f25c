"""Reconciles memory files with their replicas: what differs becomes candidates, in order, each once."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial

from orgmem.capture.afterwards import afterwards
from orgmem.capture.drain import Means, drain, take_turns
from orgmem.capture.evidence import Evidence
from orgmem.capture.faults import reason_of
from orgmem.capture.gone import gone, lost_commands
from orgmem.capture.look import Occurrence
from orgmem.capture.places import leave_personal, places
from orgmem.capture.record import note, record, record_gone
from orgmem.capture.rounds import PERSONAL, Remark, Round
from orgmem.capture.state import candidates, database, sessions
from orgmem.capture.state.replicas import Checkout, checkouts
from orgmem.capture.walk import Walk
from orgmem.capture.watch import Found, Watch
from orgmem.errors import BusyError, StoreError
from orgmem.identity import Clock
from orgmem.settings import Settings, ensure_home
from schemas.record import Record

WAIT_SECONDS = 30.0
"""How long `orgmem capture sync` waits for a reconcile that is running."""


class Reconciled(Record):
    """What a reconcile found and did."""

    new: int
    """Candidates."""
    skipped: int
    """Memory files that can't be read at present."""
    lost: int
    """Places where an edit happened, and what it was is not known."""
    decided: int
    """Candidates decided by answers."""
    delivered: int


def run(
    settings: Settings,
    clock: Clock,
    *,
    full: bool = False,
    origin: str = "hook",
    here: str | None = None,
    wait: float = WAIT_SECONDS,
) -> Reconciled:
    """Work off the spool; with `full` read every file of every known checkout, and of the one `here`, too.

    Raises:
        BusyError: another reconcile keeps the lock.
        StoreError: the database can't be opened.
        OrgmemError: a setting is wrong.
    """
    ensure_home(settings)
    asked_for = settings.model_copy(update={"capture": True})
    with closing(_database(settings)) as db:
        means = Means(db, str(settings.home), lambda: asked_for, lambda: clock().timestamp())
        before, done = sum(candidates.counts(db).values()), Counter[str]()

        def work() -> bool:
            drained = drain(means)
            if full:
                reconcile(means, asked_for, (), origin=origin, thorough=True, here=here)
            done.update(decided=drained.decided)
            return not drained.stuck

        if not take_turns(means.home, work, wait=wait):
            raise BusyError(f"another reconcile has been at work for {wait:.0f} s", "orgmem capture sync")
        delivered = afterwards(means)
        return Reconciled(
            new=sum(candidates.counts(db).values()) - before,
            skipped=sum(each.kind == "skipped" for each in sessions.notices(db)),
            lost=sum(each.kind == "lost" for each in sessions.notices(db)),
            decided=done["decided"],
            delivered=delivered,
        )


def _database(settings: Settings) -> sqlite3.Connection:
    try:
        return database.connect(settings.capture_folder)
    except sqlite3.Error as error:
        raise StoreError(f"capture.db can't be opened: {error}", "orgmem capture doctor") from error


def reconcile(
    means: Means,
    settings: Settings,
    occurrences: Sequence[Occurrence],
    *,
    origin: str = "hook",
    thorough: bool = False,
    here: str | None = None,
) -> None:
    """One round: checkouts that are gone, then those in which something happened or a file differs."""
    now = means.now()
    watch, evidence = Watch(settings), Evidence(occurrences, origin, now)
    this = Round(means.db, watch, watch.digest, settings.watch_max_bytes, evidence, means.now, now, thorough)
    for each in gone(this):
        with _noting_faults(this, each.checkout.root):
            record_gone(this, each)
            means.tick("gone")
    note(this, lost_commands(this))
    for checkout in places(this, here):
        with _noting_faults(this, checkout.root):
            _walk(means, this, checkout, partial(watch.find, checkout))
    if settings.watch_personal:
        _walk_personal(means, replace(this, watched=f"{PERSONAL}{watch.digest}"))
    else:
        leave_personal(this)


def _walk_personal(means: Means, this: Round) -> None:
    """The folders of personal memory, each as a checkout."""
    for checkout in dict.fromkeys(checkout for checkout, _ in _personal(this)):
        with _noting_faults(this, checkout.root):
            _walk(means, this, checkout, partial(_personal_in, this, checkout))


def _walk(means: Means, this: Round, checkout: Checkout, find: Callable[[], tuple[Found, ...]]) -> None:
    walked = Walk(this, checkout).walked(find)
    means.tick("walked")
    record(this, walked)
    means.tick("recorded")


def _personal(this: Round) -> tuple[tuple[Checkout, Found], ...]:
    return this.watch.personal(checkouts(this.db))


def _personal_in(this: Round, checkout: Checkout) -> tuple[Found, ...]:
    return tuple(found for where, found in _personal(this) if where == checkout)


@contextmanager
def _noting_faults(this: Round, subject: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error:
        raise
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one checkout, the others are walked
        note(this, [Remark("failed", subject, reason_of(error))])
