"""Enrich a learning: the curator's drafts become items with ids, or a reason why there are none.

Input: a learning and a curator. Output: EnrichedLearning, RejectedLearning or FailedLearning. Promise: one
bad learning never stops a batch; the same learning gives the same items with the same ids.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from orgmem.identity import memory_id
from orgmem.models.curator import Curator, Enriched, Nothing
from schemas.batch import Item
from schemas.disposition import Decision, Stage
from schemas.learning import Learning
from schemas.memory import Draft
from tasks.bench import Bench
from tasks.stage import Step, result_of, retryable


@dataclass(frozen=True)
class EnrichedLearning:
    """At least one item, ordinals from 0."""

    items: tuple[Item, ...]


@dataclass(frozen=True)
class RejectedLearning:
    """The curator found nothing reusable: one of its reasons."""

    reason: str


@dataclass(frozen=True)
class FailedLearning:
    """The curator broke on it: the exception's type, never its text, which may quote the learning."""

    reason: str


EnrichOutcome = EnrichedLearning | RejectedLearning | FailedLearning


def enrich_learning(learning: Learning, curator: Curator) -> EnrichOutcome:
    """What becomes of one learning at enrich."""
    try:
        enrichment = curator.enrich(learning)
    except Exception as error:  # noqa: BLE001 - the one place that turns a curator's failure into an outcome
        return FailedLearning(type(error).__name__)
    match enrichment:
        case Enriched(drafts):
            return EnrichedLearning(tuple(_items(learning, distinct(drafts))))
        case Nothing(reason):
            return RejectedLearning(reason)
        case _:
            assert_never(enrichment)


def distinct(drafts: Iterable[Draft]) -> tuple[Draft, ...]:
    """Drafts in order, those with the same answer and example merged into the first, caveats united."""
    kept: dict[tuple[str, str], Draft] = {}
    for draft in drafts:
        key = (_normal(draft.answer), _normal(draft.example or ""))
        first = kept.get(key)
        kept[key] = draft if first is None else _united(first, draft)
    return tuple(kept.values())


def _united(first: Draft, second: Draft) -> Draft:
    caveats = {_normal(caveat): caveat for caveat in (*second.caveats, *first.caveats)}
    ordered = sorted(caveats.values(), key=[*first.caveats, *second.caveats].index)
    return first.model_copy(update={"caveats": tuple(ordered)})


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


def _items(learning: Learning, drafts: Iterable[Draft]) -> Iterable[Item]:
    for ordinal, draft in enumerate(drafts):
        yield Item(id=memory_id(learning.id, ordinal), learning_id=learning.id, ordinal=ordinal, draft=draft)


def step_of(learning: Learning, outcome: EnrichOutcome) -> Step:
    """The outcome as this stage's step about the learning."""
    match outcome:
        case EnrichedLearning(items):
            return Step(learning.id, learning.id, Decision.ENRICHED, "enriched", onward=items)
        case RejectedLearning(reason):
            return Step(learning.id, learning.id, Decision.REJECTED, reason)
        case FailedLearning(reason):
            return Step(learning.id, learning.id, Decision.FAILED, reason)
        case _:
            assert_never(outcome)


def enrich_fit(learning: Learning, curator: Curator, unfit: Mapping[str, str]) -> EnrichOutcome:
    """What becomes of a learning that a checkpoint may have found unfit."""
    reason = unfit.get(learning.id)
    return FailedLearning(reason) if reason else enrich_learning(learning, curator)


@retryable("enrich")
def enrich(bench: Bench, batch_id: str, unfit: Mapping[str, str]) -> None:
    """Enrich a batch; `unfit` names the expectation that a learning's row has failed."""
    learnings = bench.journal.claim(batch_id).learnings
    steps = [step_of(each, enrich_fit(each, bench.curator, unfit)) for each in learnings]
    bench.journal.write(batch_id, Stage.ENRICH, result_of(Stage.ENRICH, steps, bench, bench.curator.prompt_hash))
