"""Evidence for trust."""

from tasks.trust import trust_of
from tests.samples import OBSERVED, a_draft, a_learning


def test_the_evidence_is_what_the_draft_has_and_when_the_edit_was_made() -> None:
    evidence = trust_of(a_draft(caveats=("Never in production.",)), a_learning())
    assert (evidence.has_example, evidence.has_caveats, evidence.observed_at) == (True, True, OBSERVED)


def test_what_is_missing_is_no_evidence_and_there_are_no_votes_yet() -> None:
    evidence = trust_of(a_draft(example=None, caveats=()), a_learning())
    assert not evidence.has_example
    assert not evidence.has_caveats
    assert evidence.confirmed_at is None
    assert (evidence.agent_up, evidence.agent_down, evidence.human_up, evidence.human_down) == (0, 0, 0, 0)
