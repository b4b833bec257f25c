"""The snapshot and maintain flows on a real Prefect server."""

import numpy as np

from flows.maintain import maintain
from flows.snapshot import snapshot
from orgmem.settings import Settings
from orgmem.store.memories import MemoryStore
from tests.samples import a_memory


async def test_the_snapshot_flow_gives_figures_and_leaves_the_file(
    prefect_server: str, settings: Settings
) -> None:
    figures = await snapshot(str(settings.home), settings.tenant)
    assert figures.contributed_learnings == 0
    assert settings.snapshot_file.exists()


async def test_the_maintain_flow_leaves_the_same_memories(prefect_server: str, settings: Settings) -> None:
    store, vectors = MemoryStore(settings), np.eye(1, 384, dtype=np.float32)
    for ordinal in range(3):
        store.apply([a_memory(ordinal)], vectors, vectors)
    before = store.rows("memories")
    assert await maintain(str(settings.home), settings.tenant) == 3
    assert MemoryStore(settings).rows("memories").equals(before)
