"""Ingest: staging to the lake, group by group."""

from prefect import flow

from tasks.bench import open_bench
from tasks.ingest import Ingested, discard, list_staged, load


@flow(name="ingest")
async def ingest(home: str | None = None, tenant: str | None = None) -> Ingested:
    """Load everything that is staged; what arrives meanwhile waits for the next run."""
    bench = open_bench(home, tenant)
    total = Ingested()
    for names in list_staged(bench):
        done = load(bench, names)
        discard(bench, done.files)
        total += done
    return total
