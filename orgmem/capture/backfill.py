"""Backfill: the history of a repository's memory files as learnings, approved all at once.

Input: a git repository. Output: learnings in the staging folder or the outbox, all or none. Promise: the same
commits are the same learnings, so that a second run adds nothing; an edit that a hook noticed, too, is the same.

A learning is observed when its author made the commit: a rebase or a cherry-pick leaves that date alone, while the
committer's would make old edits new. An author's date after the commit itself comes from a clock that was wrong;
then the commit's is taken.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import datetime
from itertools import chain
from pathlib import Path

from orgmem.capture import outbox
from orgmem.capture.backfill_edits import Edits
from orgmem.capture.backfill_history import Repository, open_repository
from orgmem.capture.destination import shown
from orgmem.capture.state import database, deliveries
from orgmem.errors import StoreError
from orgmem.identity import Clock
from orgmem.settings import Settings
from orgmem.store.lake import Lake
from orgmem.store.staging import Batch, Staging
from orgmem.text.secrets import MASK
from schemas.learning import ApprovedVia, Learning
from schemas.record import Record


class Count(Record):
    """How often something occurs."""

    name: str
    count: int


class Plan(Record):
    """What would leave the machine, and where it would go."""

    repository: str
    """Its folder."""
    project: str
    head: str
    """Commit up to which the history was read."""
    shallow: bool
    """The clone lacks older commits: what its oldest ones hold is not known to be new."""
    commits: int
    """Read on the way; merges are not among them."""
    learnings: int
    """Different ones."""
    new: int
    """Edits that have not been handed over before."""
    first: datetime | None
    last: datetime | None
    files: tuple[Count, ...]
    """Edits of each memory file, most first."""
    masked: tuple[Count, ...]
    """Masks by rule in what would leave."""
    bytes: int
    destination: str
    left_out: tuple[Count, ...]
    """Edits that would not leave, by reason."""
    edits: tuple[Learning, ...]
    """In time order, a parent's commit before its child's; the same learning can occur more than once."""


def plan(
    place: Path,
    settings: Settings,
    clock: Clock,
    *,
    since: datetime | None = None,
    limit: int | None = None,
    note: Callable[[int], None] = lambda _: None,
) -> Plan:
    """What a backfill of a repository would hand over; writes nothing.

    Edits before `since` are passed over, of the others the last `limit` are taken. `note` is told how many
    commits have been read.

    Raises:
        NotFoundError: there is no such folder, it is in no repository, or git is not installed.
        InputError: the repository has no commit, or git can't read it.
        ConfigurationError: a glob of the user is none.
        StoreError: a store of the destination, or capture.db, can't be read.
    """
    repository = open_repository(place)
    read = Edits(repository, settings, now=clock(), since=since)
    edits = tuple(read.read(note))
    return _summed_up(repository, read, edits[-limit:] if limit else edits, settings)


def _summed_up(repository: Repository, read: Edits, edits: tuple[Learning, ...], settings: Settings) -> Plan:
    moments = [each.observed_at for each in edits]
    with Staging(settings).batch(dry_run=True) as batch:
        new = _new(batch, edits, settings)
    return Plan(
        repository=repository.root,
        project=repository.project,
        head=repository.head,
        shallow=bool(repository.boundary),
        commits=read.commits,
        learnings=len({each.id for each in edits}),
        new=new,
        first=min(moments, default=None),
        last=max(moments, default=None),
        files=_counts(Counter(each.path for each in edits)),
        masked=_counts(Counter(chain.from_iterable(map(_masks, edits)))),
        bytes=sum(len(each.model_dump_json().encode()) for each in edits),
        destination=shown(settings.endpoint) or str(settings.staging),
        left_out=_counts(read.left_out),
        edits=edits,
    )


def hand_over(plan: Plan, settings: Settings, *, via: ApprovedVia, at: datetime) -> int:
    """Put the edits of an approved plan on their way, all or none; how many were not on it before.

    They go to this home's staging folder; for another one, or a server, to the outbox, to be delivered from there.

    Raises:
        OSError: the disk is full or the folder can't be written; nothing of it is left there.
        BusyError: a delivery keeps the outbox.
        StoreError: capture.db can't be written.
    """
    approved = [each.model_copy(update={"approved_via": via, "approved_at": at}) for each in plan.edits]
    if not settings.endpoint:
        with Staging(settings).batch() as batch:
            new = _new(batch, approved, settings)
            batch.publish(Lake(settings).known("sightings", batch.ids()))
        return new
    try:
        return outbox.put(settings, approved)
    except sqlite3.Error as error:
        raise StoreError(f"capture.db can't be written: {error}", "orgmem capture doctor") from error


def _masks(learning: Learning) -> list[str]:
    """The rule of each mask in a learning's hunks."""
    texts = chain.from_iterable(
        (each.before, each.after, each.context_before, each.context_after) for each in learning.hunks
    )
    return [mask.removeprefix("[masked:").removesuffix("]") for text in texts for mask in MASK.findall(text)]


def _counts(counter: Counter[str]) -> tuple[Count, ...]:
    return tuple(Count(name=name, count=count) for name, count in counter.most_common())


def _new(batch: Batch, edits: Iterable[Learning], settings: Settings) -> int:
    """How many of these edits, which the batch takes up, have not been handed over before."""
    for each in edits:
        batch.add(each)
    if settings.endpoint:
        return len(batch.names.keys() - _queued(settings))
    staging, known = Staging(settings).names(), Lake(settings).known("sightings", batch.ids())
    return sum(name not in staging and not known.issuperset(ids) for name, ids in batch.names.items())


def _queued(settings: Settings) -> frozenset[str]:
    """File names of the edits that an earlier backfill has put into the outbox, delivered ones too."""
    if not (settings.capture_folder / "capture.db").exists():
        return frozenset()
    try:
        with closing(database.connect(settings.capture_folder)) as db:
            return frozenset(each.file for each in deliveries.backfilled(db))
    except sqlite3.Error as error:
        raise StoreError(f"capture.db can't be read: {error}", "orgmem capture doctor") from error
