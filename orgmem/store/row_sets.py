"""When two stores are equal: the same rows in every table, but for what a run stamps on them."""

import json
from collections import Counter
from typing import Final

from orgmem.settings import Settings

CLOCK_COLUMNS: frozenset[str] = frozenset({"approved_at", "created_at", "decided_at", "rejected_at", "run_id"})
"""Readings of a run's own clock, and its random id. `observed_at` is not among them: it comes with the data."""

LAKE_TABLES: Final = ("learnings", "hunks", "sightings", "rejects", "dispositions")
MEMORY_TABLES: Final = ("memories", "links", "tags")


def row_sets(settings: Settings) -> dict[str, Counter[str]]:
    """Every table of lake and memory store as a multiset of rows in JSON, clock columns dropped."""
    from orgmem.store.lake import Lake
    from orgmem.store.memories import MemoryStore

    lake, memories = Lake(settings), MemoryStore(settings)
    tables = {name: lake.rows(name) for name in LAKE_TABLES} | {
        name: memories.rows(name) for name in MEMORY_TABLES
    }
    return {
        name: Counter(
            json.dumps({key: row[key] for key in sorted(row.keys() - CLOCK_COLUMNS)}, default=str)
            for row in table.to_pylist()
        )
        for name, table in tables.items()
    }
