"""Settling: what is persisted goes to the lake, what is under way stays where it is."""

from orgmem.settings import Settings
from orgmem.store.lake import Lake
from schemas.batch import Claim, StageResult
from schemas.disposition import Decision, Stage
from tasks.bench import Bench
from tasks.settle import settle
from tasks.stage import Step, result_of
from tests.samples import a_learning


def a_decision(bench: Bench, stage: Stage, decision: Decision) -> StageResult:
    learning = a_learning("Run `make seed` first.\n")
    return result_of(stage, [Step(learning.id, learning.id, decision, decision.value)], bench, "test/1")


def test_a_batch_under_way_is_not_settled_before_it_is_persisted(settings: Settings) -> None:
    bench = Bench(settings)
    for batch_id in ("000001", "000002"):
        who = {"curator": "", "prompt_hash": ""}
        bench.journal.open(Claim(batch_id=batch_id, run_id="", learnings=(), **who))
        bench.journal.write(batch_id, Stage.ENRICH, a_decision(bench, Stage.ENRICH, Decision.ENRICHED))
    bench.journal.write("000001", Stage.PERSIST, a_decision(bench, Stage.PERSIST, Decision.PERSISTED))
    assert settle.fn(bench) == 1
    assert bench.journal.batches() == ("000002",)
    assert {word.stage for word in Lake(settings).dispositions()} == {Stage.ENRICH, Stage.PERSIST}
