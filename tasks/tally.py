"""Tally: what became of each learning, and the funnel over all of them.

Input: ids of learnings and the dispositions about them. Output: an end a learning, a tally over all. Promise:
captured is the sum of the five outcomes; each stage's `in` is its `out` plus its reasons and the `out` of
the stage before; learnings are the unit of the funnel, so that it ends in the productive ones.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from schemas.disposition import GOES_ON, Decision, Disposition, Outcome, Stage
from schemas.learning import LearningId
from schemas.tally import LearningCounts, MemoryCounts, StageCount, Tally

POSITION = {stage: position for position, stage in enumerate(Stage)}
_WEIGHT = {Decision.QUARANTINED: 2, Decision.FAILED: 1}
"""Which of several stops of one learning at one stage gives the reason: the one that needs a person first."""


class End(NamedTuple):
    """What became of one learning; `stop` is the decision that ended its way, if it yielded nothing."""

    outcome: Outcome
    memories: int = 0
    """How many were persisted."""
    stop: Disposition | None = None


def outcome_of(dispositions: Sequence[Disposition]) -> Outcome:
    """Outcome of the learning that these dispositions, of itself and of its memories, are about."""
    return end_of(dispositions).outcome


def end_of(dispositions: Sequence[Disposition]) -> End:
    """The first outcome that holds: productive, pending, quarantined, failed, rejected."""
    last = _last_words(dispositions)
    persisted = sum(word.decision is Decision.PERSISTED for word in last)
    if persisted:
        return End(Outcome.PRODUCTIVE, persisted)
    if not last or any(word.decision in GOES_ON for word in last):
        return End(Outcome.PENDING)
    decisions = {word.decision for word in last}
    stop = max(last, key=lambda word: (POSITION[word.stage], _WEIGHT.get(word.decision, 0), word.item_id))
    if Decision.QUARANTINED in decisions:
        return End(Outcome.QUARANTINED, stop=stop)
    if Decision.FAILED in decisions:
        return End(Outcome.FAILED, stop=stop)
    return End(Outcome.REJECTED, stop=stop)


def _last_words(dispositions: Sequence[Disposition]) -> list[Disposition]:
    """The latest stage's word on each item; on the learning itself only where no memory came of it."""
    last: dict[str, Disposition] = {}
    for word in dispositions:
        known = last.get(word.item_id)
        if known is None or POSITION[word.stage] >= POSITION[known.stage]:
            last[word.item_id] = word
    memories = [word for word in last.values() if word.item == "memory"]
    return memories or list(last.values())


def ends(learning_ids: Iterable[LearningId], dispositions: Iterable[Disposition]) -> dict[LearningId, End]:
    """The end of each learning, in the order given; dispositions of others are passed over."""
    about: dict[LearningId, list[Disposition]] = {learning_id: [] for learning_id in learning_ids}
    for word in dispositions:
        if word.learning_id in about:
            about[word.learning_id].append(word)
    return {learning_id: end_of(words) for learning_id, words in about.items()}


def tally(learning_ids: Iterable[LearningId], dispositions: Iterable[Disposition]) -> Tally:
    """Learnings by outcome, memories by decision, and the funnel. Other learnings don't count."""
    wanted = set(learning_ids)
    words = [word for word in dispositions if word.learning_id in wanted]
    by_learning = ends(wanted, words)
    return Tally(
        learnings=_learning_counts(by_learning),
        memories=_memory_counts(words),
        stages=_stage_counts(by_learning),
    )


def _learning_counts(by_learning: Mapping[LearningId, End]) -> LearningCounts:
    outcomes = Counter(end.outcome for end in by_learning.values())
    return LearningCounts(captured=len(by_learning), **{outcome.value: outcomes[outcome] for outcome in Outcome})


def _memory_counts(words: Iterable[Disposition]) -> MemoryCounts:
    items: dict[Decision, set[str]] = {decision: set() for decision in Decision}
    retired: dict[str, tuple[str, ...]] = {}
    for word in words:
        items[word.decision].add(word.item_id)
        if word.decision is Decision.SUPERSEDES:
            retired[word.item_id] = word.related
    created = items[Decision.PERSISTED]
    return MemoryCounts(
        created=len(created),
        rewritten=len(items[Decision.REWRITTEN] & created),
        dropped=len(items[Decision.DROPPED]),
        clarified=len(items[Decision.CLARIFIED] & created),
        duplicate=len(items[Decision.DUPLICATE]),
        superseded=len({old for item, olds in retired.items() if item in created for old in olds}),
    )


def _stage_counts(by_learning: Mapping[LearningId, End]) -> dict[Stage, StageCount]:
    stops: dict[Stage, Counter[str]] = {stage: Counter() for stage in Stage}
    for end in by_learning.values():
        if end.stop:
            stops[end.stop.stage][end.stop.reason] += 1
    reached = sum(end.outcome is not Outcome.PENDING for end in by_learning.values())
    counts: dict[Stage, StageCount] = {}
    for stage, reasons in stops.items():
        out = reached - reasons.total()
        counts[stage] = StageCount(in_=reached, out=out, reasons=dict(sorted(reasons.items())))
        reached = out
    return counts
