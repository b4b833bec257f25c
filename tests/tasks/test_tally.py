"""The tally adds up, whatever the stages decide."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.identity import memory_id
from schemas.disposition import DECISIONS, GOES_ON, Decision, Disposition, Outcome, Stage
from tasks.tally import end_of, outcome_of, tally
from tests.histories import ALL_THE_WAY, history, learning_number

GATE_TO_PERSIST = list(Stage)[1:]
DROPPED = (Decision.DROPPED,)
QUARANTINED = (Decision.QUARANTINED,)
FAILED = (Decision.PASSED, Decision.FAILED)
DUPLICATE = (Decision.PASSED, Decision.SCORED, Decision.TAGGED, Decision.DUPLICATE)
HALF_WAY = (Decision.PASSED, Decision.SCORED)


@st.composite
def memories(draw: st.DrawFn) -> tuple[Decision, ...]:
    """Decisions about one memory: until one stops it, the store has it, or the run is interrupted."""
    decisions: list[Decision] = []
    for stage in GATE_TO_PERSIST:
        if draw(st.integers(0, 19)) == 0:
            break
        decisions.append(draw(st.sampled_from(sorted(DECISIONS[stage]))))
        if decisions[-1] not in GOES_ON:
            break
    return tuple(decisions)


@st.composite
def populations(draw: st.DrawFn) -> tuple[list[str], list[Disposition]]:
    """Ids of learnings, and the dispositions about them in any order."""
    count = draw(st.integers(0, 12))
    words: list[Disposition] = []
    for number in range(count):
        enrich = draw(st.sampled_from([None, *sorted(DECISIONS[Stage.ENRICH])]))
        made = draw(st.lists(memories(), max_size=3)) if enrich is Decision.ENRICHED else []
        words.extend(history(number, enrich, made))
    return [learning_number(number) for number in range(count)], draw(st.permutations(words))


@given(populations())
def test_captured_is_the_sum_of_the_five_outcomes(population: tuple[list[str], list[Disposition]]) -> None:
    counts = tally(*population).learnings
    assert counts.captured == len(population[0])
    assert counts.captured == (
        counts.productive + counts.rejected + counts.quarantined + counts.failed + counts.pending
    )


@given(populations())
def test_each_stage_hands_on_what_it_does_not_stop(population: tuple[list[str], list[Disposition]]) -> None:
    counted = tally(*population)
    assert list(counted.stages) == list(Stage)
    for stage in counted.stages.values():
        assert stage.in_ == stage.out + sum(stage.reasons.values())
    for before, after in itertools.pairwise(counted.stages.values()):
        assert after.in_ == before.out
    assert counted.stages[Stage.ENRICH].in_ == counted.learnings.captured - counted.learnings.pending
    assert counted.stages[Stage.PERSIST].out == counted.learnings.productive


@given(populations())
def test_the_funnel_is_what_counting_learnings_at_each_stage_gives(
    population: tuple[list[str], list[Disposition]],
) -> None:
    ids, words = population
    decided = {one for one in ids if outcome_of([w for w in words if w.learning_id == one]) is not Outcome.PENDING}
    for stage, counted in tally(ids, words).stages.items():
        here = [word for word in words if word.stage is stage and word.learning_id in decided]
        assert counted.in_ == len({word.learning_id for word in here})
        assert counted.out == len({word.learning_id for word in here if word.decision in GOES_ON})


@given(populations())
def test_created_memories_are_those_persisted_and_include_the_rewritten(
    population: tuple[list[str], list[Disposition]],
) -> None:
    counts = tally(*population).memories
    assert counts.created == sum(word.decision is Decision.PERSISTED for word in population[1])
    assert max(counts.rewritten, counts.clarified) <= counts.created


@given(populations())
def test_dispositions_about_other_learnings_do_not_count(
    population: tuple[list[str], list[Disposition]],
) -> None:
    ids, words = population
    strangers = list(history(999, Decision.ENRICHED, [ALL_THE_WAY, DROPPED]))
    assert tally(ids, [*strangers, *words]) == tally(ids, words)


@pytest.mark.parametrize(
    ("enrich", "made", "outcome"),
    [
        (None, [], Outcome.PENDING),
        (Decision.ENRICHED, [], Outcome.PENDING),
        (Decision.REJECTED, [], Outcome.REJECTED),
        (Decision.FAILED, [], Outcome.FAILED),
        (Decision.ENRICHED, [DUPLICATE], Outcome.REJECTED),
        (Decision.ENRICHED, [DROPPED, DUPLICATE], Outcome.REJECTED),
        (Decision.ENRICHED, [DROPPED, FAILED], Outcome.FAILED),
        (Decision.ENRICHED, [FAILED, QUARANTINED], Outcome.QUARANTINED),
        (Decision.ENRICHED, [QUARANTINED, HALF_WAY], Outcome.PENDING),
        (Decision.ENRICHED, [HALF_WAY, QUARANTINED, ALL_THE_WAY], Outcome.PRODUCTIVE),
    ],
)
def test_the_outcome_is_the_first_that_holds(
    enrich: Decision | None, made: Sequence[tuple[Decision, ...]], outcome: Outcome
) -> None:
    assert outcome_of(list(history(1, enrich, made))) is outcome


def test_the_last_stage_that_stopped_a_memory_is_where_the_learning_stopped() -> None:
    end = end_of(list(history(1, Decision.ENRICHED, [QUARANTINED, DUPLICATE, DROPPED])))
    assert end.outcome is Outcome.QUARANTINED
    assert end.stop is not None
    assert (end.stop.stage, end.stop.decision) == (Stage.COLLIDE, Decision.DUPLICATE)


def test_of_several_stops_at_one_stage_the_one_that_needs_a_person_gives_the_reason() -> None:
    end = end_of(list(history(1, Decision.ENRICHED, [DROPPED, QUARANTINED, DROPPED])))
    assert end.stop is not None
    assert end.stop.reason == "quarantined_for_a_test"


def test_memories_are_counted_by_what_was_decided_about_them() -> None:
    rewritten = (Decision.REWRITTEN, *ALL_THE_WAY[1:])
    clarified = (*ALL_THE_WAY[:3], Decision.CLARIFIED, Decision.PERSISTED)
    superseding = (*ALL_THE_WAY[:3], Decision.SUPERSEDES, Decision.PERSISTED)
    superseding_in_vain = (*ALL_THE_WAY[:3], Decision.SUPERSEDES, Decision.FAILED)
    rewritten_in_vain = (Decision.REWRITTEN, *DUPLICATE[1:])
    made = [ALL_THE_WAY, rewritten, clarified, superseding, superseding_in_vain, rewritten_in_vain, DROPPED]
    counts = tally([learning_number(1)], history(1, Decision.ENRICHED, made)).memories
    assert counts.model_dump() == {
        "created": 4,
        "rewritten": 1,
        "dropped": 1,
        "clarified": 1,
        "duplicate": 1,
        "superseded": 1,
    }


def test_the_json_of_a_tally_is_what_scripts_rely_on() -> None:
    words = [*history(1, Decision.ENRICHED, [ALL_THE_WAY]), *history(2, Decision.REJECTED)]
    data = tally([learning_number(1), learning_number(2)], words).model_dump(mode="json", by_alias=True)
    assert list(data) == ["learnings", "memories", "stages"]
    assert list(data["stages"]) == ["enrich", "gate", "trust", "tag", "collide", "persist"]
    assert data["stages"]["enrich"] == {"in": 2, "out": 1, "reasons": {"rejected_for_a_test": 1}}
    assert data["stages"]["persist"] == {"in": 1, "out": 1, "reasons": {}}
    assert memory_id(learning_number(1), 0) not in str(data)
