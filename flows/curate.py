"""Curate: staging to memories. Ingest, finish what a killed run left, then batch by batch through the stages."""

from prefect import flow

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

SETTLE_EVERY = 25
"""Batches between two loads of dispositions: bounds the journal's size and the number of small files."""


@flow(name="curate")
async def curate(home: str | None = None, tenant: str | None = None, limit: int | None = None) -> Tally:
    """Curate everything that is pending, at most `limit` learnings; the tally covers the whole store."""
    bench = open_bench(home, tenant)
    with bench.alone("curate"):
        await ingest(home, tenant)
        for batch_id in recover(bench):
            persist(bench, batch_id)
        settle(bench)
        for number, (batch_id, learning_ids) in enumerate(plan(bench, limit), 1):
            claim(bench, batch_id, learning_ids)
            through_the_stages(bench, batch_id)
            if number % SETTLE_EVERY == 0:
                settle(bench)
        settle(bench)
        index(bench)
        counts: Tally = report(bench)
    return counts


def through_the_stages(bench: Bench, batch_id: str) -> None:
    """The six stages over one batch, with a checkpoint before the first and one before collide."""
    unfit_learnings = check_learnings(bench, batch_id)
    enrich(bench, batch_id, unfit_learnings)
    gate(bench, batch_id)
    trust(bench, batch_id)
    tag(bench, batch_id)
    unfit_items = check_items(bench, batch_id)
    embed(bench, batch_id)
    collide(bench, batch_id, unfit_items)
    persist(bench, batch_id)
