"""The gate's task: a verdict on every item of a batch.

Input: the items that enrich handed on. Output: those that pass, with their verdict and, where something was
masked, the rewritten draft. Promise: an item whose check breaks is stopped, never let through.
"""

from typing import assert_never

from schemas.batch import Item
from schemas.disposition import Decision, Stage
from schemas.learning import Learning
from schemas.verdict import GateVerdict, Status
from tasks.bench import Bench
from tasks.gate.policy import Policy, policy_of
from tasks.gate.verdict import RULESET, Drop, Judgement, Persist, Quarantine, Rewrite, judge
from tasks.stage import Step, result_of, retryable


def step_of(item: Item, judgement: Judgement) -> Step:
    """The judgement as this stage's step; a stop's reason is the first rule of the gravest category."""
    verdict = judgement.verdict
    match judgement:
        case Persist():
            passed = item.model_copy(update={"verdict": verdict})
            return Step(item.id, item.learning_id, Decision.PASSED, verdict.status, onward=(passed,))
        case Rewrite(draft=draft):
            rewritten = item.model_copy(update={"verdict": verdict, "draft": draft})
            return Step(item.id, item.learning_id, Decision.REWRITTEN, gravest(verdict), onward=(rewritten,))
        case Drop():
            return Step(item.id, item.learning_id, Decision.DROPPED, gravest(verdict))
        case Quarantine():
            return Step(item.id, item.learning_id, Decision.QUARANTINED, gravest(verdict))
        case _:
            assert_never(judgement)


def gravest(verdict: GateVerdict) -> str:
    """The rule that weighs most: of the first category with the verdict's status."""
    rules = [
        finding.rule
        for status in Status
        for category in verdict.categories.values()
        if category.status is status
        for finding in category.findings
    ]
    return rules[0] if rules else verdict.status


def gate_item(item: Item, learning: Learning, policy: Policy) -> Step:
    """Judge one item; whatever breaks in a check stops this item and no other."""
    try:
        return step_of(item, judge(item.draft, learning, policy))
    except Exception as error:  # noqa: BLE001 - an unchecked item must not pass, and must not stop the batch
        return Step(item.id, item.learning_id, Decision.FAILED, type(error).__name__)


@retryable("gate")
def gate(bench: Bench, batch_id: str) -> None:
    """Judge a batch."""
    learnings = bench.journal.claim(batch_id).by_id
    items = bench.journal.read(batch_id, Stage.ENRICH).items
    policy, _ = policy_of(bench.settings, bench.clock().date())
    steps = [gate_item(item, learnings[item.learning_id], policy) for item in items]
    bench.journal.write(batch_id, Stage.GATE, result_of(Stage.GATE, steps, bench, policy.ruleset(RULESET)))
