"""Dispositions of whole learnings, for tests that count them."""

from collections.abc import Iterator, Sequence

from orgmem.identity import memory_id
from schemas.disposition import Decision, Disposition, Stage
from tests.samples import a_disposition, a_learning

ALL_THE_WAY = (Decision.PASSED, Decision.SCORED, Decision.TAGGED, Decision.ACCEPTED, Decision.PERSISTED)
"""The decisions about a memory from gate to persist that nothing stops."""


def learning_number(number: int) -> str:
    return a_learning(f"Learning number {number}.\n").id


def history(
    number: int, enrich: Decision | None, memories: Sequence[tuple[Decision, ...]] = ()
) -> Iterator[Disposition]:
    """Dispositions of the nth learning: enrich's decision, then those about each memory from gate on."""
    learning = learning_number(number)
    if enrich is None:
        return
    yield of(Stage.ENRICH, enrich, learning, learning)
    for ordinal, decisions in enumerate(memories):
        for stage, decision in zip(list(Stage)[1:], decisions, strict=False):
            yield of(stage, decision, learning, memory_id(learning, ordinal))


def of(stage: Stage, decision: Decision, learning: str, item: str) -> Disposition:
    """A disposition with a reason that names the decision."""
    return a_disposition(
        stage,
        decision,
        id=f"dsp_{stage}_{item}",
        item_id=item,
        learning_id=learning,
        reason=f"{decision}_for_a_test",
        related=(memory_id(item, 99),) if decision is Decision.SUPERSEDES else (),
    )
