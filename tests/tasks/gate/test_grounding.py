"""A memory states only what its learning shows."""

import pytest

from schemas.verdict import Status
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
    ],
)
def test_an_invented_fact_is_named_by_kind_and_field(changes: dict[str, object], rule: str, field: str) -> None:
    verdict = check_grounding(parts(a_draft(**changes)), a_learning())
    assert verdict.status is Status.UNSAFE
    assert [(finding.rule, finding.field) for finding in verdict.findings] == [(rule, field)]
