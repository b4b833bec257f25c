"""The curate flow: staged learnings become memories, once, with every decision on record."""

import json
from pathlib import Path

import pytest

from flows.curate import curate
from orgmem.identity import now
from orgmem.settings import Settings
from orgmem.store.journal import Journal
from orgmem.store.lake import Lake
from orgmem.store.memories import MemoryStore
from orgmem.store.row_sets import row_sets
from orgmem.store.staging import Staging
from schemas.disposition import Stage
from tasks.bench import Bench
from tasks.tally import tally
from tests.samples import a_learning

pytestmark = pytest.mark.usefixtures("prefect_server")

RULES = (
    "Run `make seed` before `pytest tests/integration`; without it every test fails with a 404.\n",
    "Never commit files under `gen/`; they come from `make proto`.\n",
    "The gateway listens on port 8443 in staging and on 443 in production.\n",
)


def stage(settings: Settings, *texts: str) -> None:
    staging = Staging(settings)
    for text in texts:
        staging.write(a_learning(text))


async def run(settings: Settings, limit: int | None = None):  # type: ignore[no-untyped-def] # noqa: ANN201 - the flow's own type
    return await curate(str(settings.home), settings.tenant, limit)


async def test_what_is_staged_is_found_in_the_tables_with_a_disposition_a_stage(settings: Settings) -> None:
    stage(settings, *RULES)
    counts = await run(settings)
    assert counts.learnings.captured == len(RULES)
    assert counts.learnings.pending == 0
    assert MemoryStore(settings).count() == counts.memories.created > 0
    stages = {word.stage for word in Lake(settings).dispositions()}
    assert stages == set(Stage)
    assert Staging(settings).count() == 0
    assert Journal(settings).batches() == ()


async def test_curating_again_changes_no_table(settings: Settings) -> None:
    stage(settings, *RULES)
    first = await run(settings)
    before = row_sets(settings)
    assert await run(settings) == first
    stage(settings, *RULES)
    assert await run(settings) == first
    assert row_sets(settings) == before


async def test_batch_boundaries_do_not_show_in_the_tables(settings: Settings, tmp_path: Path) -> None:
    other = Settings(home=tmp_path / "other")
    for each in (settings, other):
        stage(each, *RULES)
    await run(settings)
    for _ in RULES:
        await run(other, limit=1)
    assert row_sets(other) == row_sets(settings)


async def test_a_limit_leaves_the_rest_pending(settings: Settings) -> None:
    stage(settings, *RULES)
    counts = await run(settings, limit=1)
    assert counts.learnings.pending == len(RULES) - 1
    assert len(Lake(settings).pending_ids(None)) == len(RULES) - 1


async def test_an_empty_store_is_curated_in_peace(settings: Settings) -> None:
    counts = await run(settings)
    assert counts.learnings.captured == 0


async def test_a_decided_batch_of_a_killed_run_is_persisted_by_the_next(
    settings: Settings, tmp_path: Path
) -> None:
    stage(settings, *RULES)
    await run(settings)
    wanted = row_sets(settings)

    killed = Settings(home=tmp_path / "killed")
    stage(killed, *RULES)
    await run(killed, limit=1)
    bench = Bench(killed, clock=now)
    left_undone(bench)
    assert Journal(killed).decided("000001")
    await run(killed)
    assert row_sets(killed) == wanted


def left_undone(bench: Bench) -> None:
    """Take the next learning through the stages up to collide, and no further: what a kill leaves."""
    from tasks.claim import claim, plan
    from tasks.collide import collide
    from tasks.embed import embed
    from tasks.enrich import enrich
    from tasks.gate.judge import gate
    from tasks.tag import tag
    from tasks.trust import trust

    ((batch_id, ids),) = plan.fn(bench, 1)
    claim.fn(bench, batch_id, ids)
    enrich.fn(bench, batch_id, {})
    for step in (gate, trust, tag, embed):
        step.fn(bench, batch_id)
    collide.fn(bench, batch_id, {})


async def test_the_runs_artifact_shows_the_funnel(settings: Settings) -> None:
    from prefect.client.orchestration import get_client

    stage(settings, *RULES)
    await run(settings)
    async with get_client() as client:
        artifacts = [one for one in await client.read_artifacts() if one.key == "funnel"]
    rows = json.loads(str(artifacts[-1].data))
    assert [row["stage"] for row in rows] == list(Stage)
    assert all(row["in"] >= row["out"] for row in rows)


async def test_the_tally_is_that_of_the_lake(settings: Settings) -> None:
    stage(settings, *RULES)
    counts = await run(settings)
    lake = Lake(settings)
    assert counts == tally(lake.ids(), lake.dispositions())
