"""A memory states only what its learning shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.verdict import Status
from tasks.gate.claims import dropped_negations, misplaced_commands, misplaced_numbers
from tasks.gate.grounding import check_grounding
from tasks.gate.parts import parts
from tests.samples import a_draft, a_learning


def test_a_draft_made_of_its_learning_is_grounded() -> None:
    assert check_grounding(parts(a_draft()), a_learning()).status is Status.SAFE


def test_project_path_and_headings_count_as_source() -> None:
    draft = a_draft(answer="In `acme/payments`, `CLAUDE.md` has the rule under `Testing`.")
    assert check_grounding(parts(draft), a_learning()).status is Status.SAFE


@pytest.mark.parametrize(
    ("changes", "rule", "field"),
    [
        ({"answer": "Run `tox`."}, "grounding.command", "answer"),
        ({"example": "pytest --cov"}, "grounding.flag", "example"),
        ({"caveats": ("Port 8080 must be free.",)}, "grounding.number", "caveats"),
        ({"question": "What does conftest.py do?"}, "grounding.path", "question"),
        ({"answer": "See https://docs.pytest.org."}, "grounding.url", "answer"),
        ({"heading_path": ("run_tests",)}, "grounding.identifier", "heading_path"),
        ({"example": "tox"}, "grounding.command", "example"),
    ],
)
def test_an_invented_fact_is_named_by_kind_and_field(changes: dict[str, object], rule: str, field: str) -> None:
    verdict = check_grounding(parts(a_draft(**changes)), a_learning())
    assert verdict.status is Status.UNSAFE
    assert [(finding.rule, finding.field) for finding in verdict.findings] == [(rule, field)]


SOURCE = (
    "Run `pnpm test` before a push; it takes 30 seconds. The broker listens on port 7070.\n"
    "Install with `npm install`.\n\n- Never push to main.\n"
    "- Use tabs, not spaces.\n- The check can not be skipped.\n"
)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"answer": "The broker listens on port 30."}, "misplaced-number"),
        ({"answer": "Run `npm test` before a push."}, "misplaced-command"),
        ({"example": "npm test"}, "misplaced-command"),
        ({"answer": "Push to main."}, "dropped-negation"),
        ({"caveats": ("Use tabs, spaces.",)}, "dropped-negation"),
        ({"answer": "The check can be skipped."}, "dropped-negation"),
    ],
)  # fmt: skip
def test_the_learnings_own_words_put_together_otherwise_are_found(changes: dict[str, object], rule: str) -> None:
    draft = a_draft(**{"question": "What?", "answer": "So.", "example": None, "heading_path": (), **changes})
    verdict = check_grounding(parts(draft), a_learning(SOURCE))
    assert [finding.rule for finding in verdict.findings] == [f"grounding.{rule}"]


@pytest.mark.parametrize(
    "changes",
    [
        {"answer": "`pnpm test` takes 30 seconds."},
        {"answer": "It listens on port 7070, the broker."},
        {"answer": "Do not push to main, and use tabs, not spaces."},
        {"answer": "Nobody may skip the check."},
        {"question": "How do I push to main?"},
        {"example": "npm install  # once"},
    ],
)
def test_the_learning_in_other_words_is_grounded(changes: dict[str, object]) -> None:
    draft = a_draft(**{"question": "What?", "answer": "So.", "example": None, "heading_path": (), **changes})
    assert check_grounding(parts(draft), a_learning(SOURCE)).findings == ()


@given(st.text(max_size=200))
def test_a_learning_grounds_its_own_text(text: str) -> None:
    assert misplaced_numbers(text, text) == misplaced_commands(text, text) == dropped_negations(text, text) == ()
