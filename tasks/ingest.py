"""Ingest: staged files become rows of the lake.

Input: staging. Output: learnings, sightings and rejects in the lake, an empty staging folder. Promise: a
file is removed only after its rows are in a completed load; a file that is no learning becomes a reject and
is kept in `rejected/`; killed anywhere and run again, the lake reads the same.
"""

from collections.abc import Iterator
from typing import assert_never

from orgmem.errors import StoreError
from orgmem.identity import Clock
from orgmem.store.lake import Lake
from orgmem.store.rejects import in_one_line, reject
from orgmem.store.staging import Gone, Invalid, Staging, sightings_of
from schemas.learning import Learning, Reject
from schemas.record import Record
from tasks.bench import Bench
from tasks.stage import retryable

MOST_FILES = 2_000
MOST_BYTES = 64 * 1024 * 1024
"""A load ends at either: a load has a fixed cost, and its rows are held in memory."""


class Ingested(Record):
    """What one ingest brought to the lake."""

    files: int = 0
    learnings: int = 0
    """Sightings of learnings; the lake shows a learning once, however often it was met."""
    rejects: int = 0

    def __add__(self, other: "Ingested") -> "Ingested":
        return Ingested(
            files=self.files + other.files,
            learnings=self.learnings + other.learnings,
            rejects=self.rejects + other.rejects,
        )


def grouped(staging: Staging) -> Iterator[tuple[str, ...]]:
    """Names of the staged files, in groups for one load each."""
    group: list[str] = []
    room = MOST_BYTES
    for name in staging.names():
        size = staging.size(name)
        if group and (size > room or len(group) == MOST_FILES):
            yield tuple(group)
            group, room = [], MOST_BYTES
        group.append(name)
        room -= size
    if group:
        yield tuple(group)


def sorted_out(staging: Staging, names: tuple[str, ...], clock: Clock) -> tuple[str, ...]:
    """Names of files that can be loaded: the valid ones, and the rejects that took an invalid one's place."""
    fit: list[str] = []
    for name in names:
        found = staging.read(name)
        match found:
            case Learning() | Reject():
                fit.append(name)
            case Invalid(problems, data, size, sha256):
                reason = in_one_line(problems)
                bad = reject(name, None, reason, data, size=size, sha256=sha256, rejected_at=clock())
                fit.append(staging.set_aside(name, bad))
            case Gone():
                pass
            case _:
                assert_never(found)
    return tuple(fit)


def loaded(staging: Staging, lake: Lake, names: tuple[str, ...]) -> Ingested:
    """Append the rows of these files to the lake, in one load.

    Raises:
        StoreError: a file has changed since it was validated; nothing is loaded, the next run sees to it.
    """
    rows = [staging.read(name) for name in names]
    if any(isinstance(row, Invalid) for row in rows):
        raise StoreError(f"a file changed under the load: {staging.folder}", "run the same command again")
    learnings = [row for row in rows if isinstance(row, Learning)]
    rejects = [row for row in rows if isinstance(row, Reject)]
    sightings = [sighting for learning in learnings for sighting in sightings_of(learning)]
    lake.append(learnings=learnings, sightings=sightings, rejects=rejects)
    return Ingested(files=len(names), learnings=len(learnings), rejects=len(rejects))


@retryable("list-staged")
def list_staged(bench: Bench) -> tuple[tuple[str, ...], ...]:
    """Names of the staged files, in groups for one load each."""
    return tuple(grouped(bench.staging))


@retryable("validate")
def validate(bench: Bench, names: tuple[str, ...]) -> tuple[str, ...]:
    """Put invalid files aside; names of the files to load."""
    return sorted_out(bench.staging, names, bench.clock)


@retryable("load")
def load(bench: Bench, names: tuple[str, ...]) -> Ingested:
    """Bring files to the lake."""
    return loaded(bench.staging, bench.lake, names)


@retryable("discard")
def discard(bench: Bench, names: tuple[str, ...]) -> None:
    """Remove files that are in the lake."""
    bench.staging.discard(names)
