"""The arithmetic of trust."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.text.trust import trust_score
from schemas.memory import TrustEvidence

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def evidence(**facts: object) -> TrustEvidence:
    return TrustEvidence.model_validate({"has_example": True, "has_caveats": True, "observed_at": NOW} | facts)


def test_a_new_memory_with_example_and_caveats_scores_seven() -> None:
    assert trust_score(evidence(), NOW) == (7.0, 2.0, 1.0, 1.0, 2.0, 1.0)


def test_three_agents_and_one_person_in_favour_make_771() -> None:
    assert round(trust_score(evidence(agent_up=3, human_up=1), NOW).score, 2) == 7.71


@pytest.mark.parametrize(("days", "recency"), [(0, 1.0), (30, 1.0), (380, 0.5), (730, 0.0), (4000, 0.0)])
def test_recency_is_full_for_thirty_days_then_falls_to_nothing(days: int, recency: float) -> None:
    assert trust_score(evidence(), NOW + timedelta(days=days)).recency == recency


def test_recency_counts_from_the_last_confirmation() -> None:
    later = NOW + timedelta(days=700)
    assert trust_score(evidence(confirmed_at=later), later).recency == 1.0


COUNTS = st.integers(0, 10_000)


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.booleans(), st.booleans(), st.integers(-10, 3000))
def test_the_score_is_the_sum_of_its_parts_between_0_and_10(
    up: int, down: int, human_up: int, human_down: int, example: bool, caveats: bool, days: int
) -> None:
    facts = evidence(
        agent_up=up, agent_down=down, human_up=human_up, human_down=human_down,
        has_example=example, has_caveats=caveats,
    )  # fmt: skip
    score = trust_score(facts, NOW + timedelta(days=days))
    assert score.score == pytest.approx(sum(score[1:]))
    assert 0 <= score.score <= 10


@given(COUNTS, COUNTS)
def test_a_vote_in_favour_never_lowers_the_score(up: int, down: int) -> None:
    one, more = (trust_score(evidence(agent_up=votes, agent_down=down), NOW).score for votes in (up, up + 1))
    assert more >= one
