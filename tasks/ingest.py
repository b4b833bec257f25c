"""Ingest: staged files become rows of the lake.

Input: staging. Output: learnings, sightings and rejects in the lake, an empty staging folder. Promise: a
file is removed only after its rows are in a completed load; a file that is no learning becomes a reject and
is kept in `rejected/`; killed anywhere and run again, the lake reads the same.
"""

from collections.abc import Iterator
from typing import assert_never

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

    files: tuple[str, ...] = ()
    """Names of the staged files whose rows are in the lake."""
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


def rows_of(staging: Staging, names: tuple[str, ...], clock: Clock) -> dict[str, Learning | Reject]:
    """The rows of these files by file name; a reject takes the place of a file that is no learning."""
    rows: dict[str, Learning | Reject] = {}
    for name in names:
        found = staging.read(name)
        match found:
            case Learning() | Reject():
                rows[name] = found
            case Invalid(problems, data, size, sha256):
                reason = in_one_line(problems)
                bad = reject(name, None, reason, data, size=size, sha256=sha256, rejected_at=clock())
                rows[staging.set_aside(name, bad)] = bad
            case Gone():
                pass
            case _:
                assert_never(found)
    return rows


def loaded(staging: Staging, lake: Lake, names: tuple[str, ...], clock: Clock) -> Ingested:
    """Append the rows of these files to the lake, in one load; each file is read once."""
    rows = rows_of(staging, names, clock)
    learnings = [row for row in rows.values() if isinstance(row, Learning)]
    rejects = [row for row in rows.values() if isinstance(row, Reject)]
    sightings = [sighting for learning in learnings for sighting in sightings_of(learning)]
    lake.append(learnings=learnings, sightings=sightings, rejects=rejects)
    return Ingested(files=tuple(rows), learnings=len(learnings), rejects=len(rejects))


@retryable("list-staged")
def list_staged(bench: Bench) -> tuple[tuple[str, ...], ...]:
    """Names of the staged files, in groups for one load each."""
    return tuple(grouped(bench.staging))


@retryable("load")
def load(bench: Bench, names: tuple[str, ...]) -> Ingested:
    """Bring files to the lake; invalid ones are put aside and loaded as rejects."""
    return loaded(bench.staging, bench.lake, names, bench.clock)


@retryable("discard")
def discard(bench: Bench, names: tuple[str, ...]) -> None:
    """Remove files that are in the lake."""
    bench.staging.discard(names)
