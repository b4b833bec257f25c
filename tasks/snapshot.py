"""Snapshot: the deployment's figures at a moment, as DuckDB tables.

Input: the lake and the memory store. Output: the snapshot file, and its figures. Promise: the file is the old
one or the new one, never a part; the same stores give the same tables.
"""

from collections.abc import Iterable, Mapping

import pyarrow as pa

from orgmem.store.lake import Lake
from orgmem.store.memories import MemoryStore
from orgmem.store.staging import Staging
from orgmem.store.warehouse import Sources, preview_snapshot, write_snapshot
from schemas.learning import LearningId
from schemas.session_count import SessionCount
from schemas.snapshot import Snapshot
from tasks.bench import Bench
from tasks.stage import retryable
from tasks.tally import End, ends

_TEXT, _COUNT = pa.string(), pa.int64()
_ENDS: dict[str, pa.DataType] = {
    "learning_id": _TEXT,
    "outcome": _TEXT,
    "memories": _COUNT,
    "stage": _TEXT,
    "decision": _TEXT,
    "reason": _TEXT,
}


def end_rows(by_learning: Mapping[LearningId, End]) -> pa.Table:
    """One row a learning: its outcome, how many memories it has, and what stopped it."""
    rows = [
        {
            "learning_id": learning_id,
            "outcome": end.outcome,
            "memories": end.memories,
            "stage": end.stop and end.stop.stage,
            "decision": end.stop and end.stop.decision,
            "reason": end.stop and end.stop.reason,
        }
        for learning_id, end in by_learning.items()
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(_ENDS))


def count_rows(counts: Iterable[SessionCount]) -> pa.Table:
    """One row a session."""
    names: dict[str, pa.DataType] = {
        "with_edit": pa.bool_(),
        "candidates": _COUNT,
        "denied": _COUNT,
        "prompts_shown": _COUNT,
    }
    return pa.Table.from_pylist(
        [count.model_dump(include=set(names)) for count in counts], schema=pa.schema(names)
    )


def gather(lake: Lake, memories: MemoryStore, staging: Staging) -> Sources:
    """Everything that a snapshot is made from."""
    learnings = lake.rows("learnings")
    return Sources(
        learnings=learnings,
        hunks=lake.rows("hunks"),
        sightings=lake.rows("sightings"),
        rejects=lake.rows("rejects"),
        dispositions=lake.rows("dispositions"),
        memories=memories.rows("memories"),
        links=memories.rows("links"),
        ends=end_rows(ends(map(str, learnings["id"].to_pylist()), lake.dispositions())),
        counts=count_rows(staging.session_counts()),
    )


def take(bench: Bench) -> Snapshot:
    """Write the snapshot file."""
    return write_snapshot(bench.settings, gather(bench.lake, bench.memories, bench.staging), bench.clock())


def preview(bench: Bench) -> Snapshot:
    """The figures alone; nothing is written."""
    return preview_snapshot(bench.settings, gather(bench.lake, bench.memories, bench.staging), bench.clock())


@retryable("snapshot")
def snapshot(bench: Bench) -> Snapshot:
    """Write the snapshot file.

    Returns:
        Its figures: counts only.
    """
    return take(bench)
