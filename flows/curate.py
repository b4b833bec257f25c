"""Curate: staging to memories. Ingest, finish what a killed run left, then batch by batch through the stages.

While a batch is being embedded the next one is read: embedding takes most of a run, and no stage before it
asks what earlier batches have become. Collide and persist follow the order of the batches.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from prefect import flow
from prefect.context import SyncClientContext
from prefect.futures import PrefectFuture

from flows.ingest import ingest
from schemas.tally import Tally
from tasks.bench import Bench, open_bench
from tasks.checkpoint import check_items, check_learnings
from tasks.claim import claim, plan, recover
from tasks.collide import collide
from tasks.embed import embed
from tasks.enrich import enrich
from tasks.gate.judge import gate
from tasks.index import index
from tasks.persist import persist
from tasks.report import report
from tasks.settle import settle
from tasks.tag import tag
from tasks.trust import trust

SETTLE_EVERY = 10
"""Batches between two loads of dispositions: bounds the journal's size and the number of small files."""


@dataclass(frozen=True)
class Underway:
    """A batch that has been read and is being embedded."""

    batch_id: str
    unfit: Mapping[str, str]
    """Items that failed an expectation, with its name."""
    embedding: PrefectFuture[int]


@flow(name="curate")
async def curate(home: str | None = None, tenant: str | None = None, limit: int | None = None) -> Tally:
    """Curate everything that is pending, at most `limit` learnings; the tally covers the whole store."""
    bench = open_bench(home, tenant)
    # One client for all tasks: each would make its own, with a TLS context of its own.
    with bench.alone("curate"), SyncClientContext.get_or_create():
        await ingest(home, tenant)
        for batch_id in recover(bench):
            persist(bench, batch_id)
        settle(bench)
        before: Underway | None = None
        for number, (batch_id, learning_ids) in enumerate(plan(bench, limit), 1):
            batch = read(bench, batch_id, learning_ids)
            if before:
                decide(bench, before)
            if number % SETTLE_EVERY == 0:
                settle(bench)
            before = batch
        if before:
            decide(bench, before)
        settle(bench)
        index(bench)
        counts: Tally = report(bench)
    return counts


def read(bench: Bench, batch_id: str, learning_ids: tuple[str, ...]) -> Underway:
    """The stages that look at one batch alone, with a checkpoint before the first and one after the last."""
    claim(bench, batch_id, learning_ids)
    unfit_learnings = check_learnings(bench, batch_id)
    enrich(bench, batch_id, unfit_learnings)
    gate(bench, batch_id)
    trust(bench, batch_id)
    tag(bench, batch_id)
    unfit_items = check_items(bench, batch_id)
    return Underway(batch_id, unfit_items, embed.submit(bench, batch_id))


def decide(bench: Bench, batch: Underway) -> None:
    """The stages that compare a batch with what is stored already, and store it."""
    batch.embedding.result()
    collide(bench, batch.batch_id, batch.unfit)
    persist(bench, batch.batch_id)
