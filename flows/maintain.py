"""Maintain: what keeps the memory tables small and fast. Safe at any time, also beside a curate run."""

from prefect import flow

from tasks.bench import open_bench
from tasks.optimise import optimise


@flow(name="maintain")
async def maintain(home: str | None = None, tenant: str | None = None) -> int:
    """Compact the memory tables and refresh their indices; the result is the number of memories."""
    memories: int = optimise(open_bench(home, tenant))
    return memories
