"""The snapshot task over real stores: lake by dlt, memories in LanceDB."""

from datetime import UTC, datetime

import numpy as np
import pytest

from orgmem.settings import Settings
from orgmem.store.warehouse import ask
from schemas.disposition import Decision
from schemas.learning import Reject
from schemas.memory import Link, LinkKind
from schemas.snapshot import TABLES
from tasks.bench import Bench
from tasks.snapshot import preview, take
from tests.histories import ALL_THE_WAY, history
from tests.samples import OBSERVED, a_learning, a_memory

TAKEN = datetime(2026, 11, 30, 5, tzinfo=UTC)


@pytest.fixture
def bench(settings: Settings) -> Bench:
    """Two learnings, one with two memories, one rejected; one reject."""
    bench = Bench(settings, clock=lambda: TAKEN)
    learnings = [a_learning(f"Learning number {number}.\n") for number in range(2)]
    words = [*history(0, Decision.ENRICHED, [ALL_THE_WAY, ALL_THE_WAY]), *history(1, Decision.REJECTED)]
    reject = Reject(
        id="rej_1", source="x.jsonl", line=3, reason="path", raw="{", size=1, sha256="0", rejected_at=OBSERVED
    )
    bench.lake.append(learnings=learnings, dispositions=words, rejects=[reject])
    memories = [a_memory(ordinal, learnings[0]) for ordinal in range(2)]
    vectors = np.eye(2, 384, dtype=np.float32)
    link = Link(source=memories[1].id, target=memories[0].id, kind=LinkKind.RELATED, score=0.5)
    bench.memories.apply(memories, vectors, vectors, [link])
    return bench


def tables(bench: Bench) -> dict[str, tuple[tuple[object, ...], ...]]:
    return {name: ask(bench.settings, f"FROM {name} ORDER BY ALL", 100).rows for name in TABLES}


def test_the_snapshot_counts_what_the_stores_hold(bench: Bench) -> None:
    figures = take(bench)
    assert figures == preview(bench)
    assert (figures.contributed_learnings, figures.productive_learnings, figures.no_yield_learnings) == (
        2,
        1,
        1,
    )
    assert (figures.live_memories, figures.memories_with_links, figures.semantic_links) == (2, 2, 1)
    assert figures.memories_per_productive_learning == 2
    sizes = {name: len(rows) for name, rows in tables(bench).items()}
    assert sizes == {
        "learnings": 2,
        "hunks": 2,
        "dispositions": 12,
        "rejects": 1,
        "memories": 2,
        "links": 1,
        "votes": 0,
        "snapshots": 1,
    }


def test_the_same_stores_give_the_same_tables(bench: Bench) -> None:
    take(bench)
    first = tables(bench)
    take(bench)
    again = tables(bench)
    assert again.pop("snapshots") == first["snapshots"] * 2
    del first["snapshots"]
    assert again == first
