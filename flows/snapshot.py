"""Snapshot: lake and memory store to a DuckDB file that analysts read."""

from prefect import flow

from schemas.snapshot import Snapshot
from tasks import snapshot as stage
from tasks.bench import open_bench


@flow(name="snapshot")
async def snapshot(home: str | None = None, tenant: str | None = None) -> Snapshot:
    """Write the snapshot; its figures are the result."""
    figures: Snapshot = stage.snapshot(open_bench(home, tenant))
    return figures
