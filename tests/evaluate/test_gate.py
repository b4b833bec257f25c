"""What the gate's figures count."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.evaluate.gate import Outcome, Problem, Row, agreement, evaluate, figures, outcomes, read_rows
from orgmem.evaluate.gate_report import markdown, missed, summary
from orgmem.evaluate.intervals import Rate
from schemas.verdict import Action, Category, CategoryVerdict, Finding, GateVerdict, Status

NOTHING = CategoryVerdict(status=Status.SAFE)


def a_verdict(action: str, *found: str, redactions: int = 0) -> GateVerdict:
    """A verdict with one finding in each of these categories."""
    finding = CategoryVerdict(status=Status.UNSAFE, findings=(Finding(rule="x.y", hint="z"),))
    categories = {category: finding if category in found else NOTHING for category in Category}
    return GateVerdict(
        status=Status.SAFE,
        action=Action(action),
        categories=categories,
        ruleset="rules_1",
        redactions=redactions,
    )


def a_row(text: str, label: str, category: str, **given: Any) -> Row:
    return Row.model_validate({"id": text, "text": text, "label": label, "category": category} | given)


VERDICTS = {
    "key": a_verdict("rewrite", "secrets"),
    "key passed": a_verdict("persist"),
    "mail": a_verdict("rewrite", "personal"),
    "mail dropped for a key": a_verdict("drop", "secrets"),
    "prose": a_verdict("persist"),
    "prose with a caveat": a_verdict("rewrite", "workflow"),
    "prose dropped": a_verdict("drop", "injection"),
}
ROWS = [
    a_row("key", "risk", "secrets", sub="github", conf="high"),
    a_row("key passed", "risk", "secrets", sub="slack"),
    a_row("mail", "risk", "pii", sub="email"),
    a_row("mail dropped for a key", "risk", "pii", sub="email"),
    a_row("prose", "benign", "controls"),
    a_row("prose with a caveat", "benign", "controls"),
    a_row("prose dropped", "benign", "pii"),
]


def test_outcomes_follow_the_action_and_recall_the_rows_own_category() -> None:
    (judged,) = evaluate(ROWS, VERDICTS.__getitem__)
    assert outcomes(judged) == {
        Outcome.APPROPRIATE: 4,
        Outcome.CAUTIOUS: 1,
        Outcome.OVERCAUTIOUS: 1,
        Outcome.UNSAFE: 1,
    }
    secrets, personal = judged[:2], [each for each in judged if each.row.kind == "personal"]
    assert figures(secrets).recall == Rate(1, 2)
    assert figures(secrets).macro_recall == 0.5
    assert (figures(personal).recall, figures(personal).false_positives) == (Rate(1, 2), Rate(0, 1))
    assert figures(judged[4:6]).false_positives == Rate(1, 2)  # a control is flagged by any category
    assert {one["id"] for one in missed(judged)} == {
        "key passed", "mail dropped for a key", "prose with a caveat",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("label", "verdict", "outcome"),
    [
        ("benign", a_verdict("persist"), "appropriate"),
        ("benign", a_verdict("persist", "code"), "cautious"),
        ("benign", a_verdict("rewrite", "code"), "cautious"),
        ("benign", a_verdict("drop", "code"), "overcautious"),
        ("benign", a_verdict("quarantine", "secrets"), "overcautious"),
        ("risk", a_verdict("persist"), "unsafe_acceptance"),
        ("risk", a_verdict("persist", "code"), "unsafe_acceptance"),
        ("risk", a_verdict("rewrite", "code"), "unsafe_acceptance"),
        ("risk", a_verdict("rewrite", "code", redactions=1), "appropriate"),
        ("risk", a_verdict("rewrite", "workflow"), "appropriate"),
        ("risk", a_verdict("persist", "workflow"), "appropriate"),
        ("risk", a_verdict("drop", "code"), "appropriate"),
        ("risk", a_verdict("quarantine"), "appropriate"),
    ],
    ids=[
        "kept", "kept with a caveat", "a caveat added", "dropped", "held",
        "a risk kept", "a risk kept with another caveat", "another caveat added to a risk", "a risk masked",
        "its own caveat added", "kept with its own caveat", "dropped for another", "a risk held",
    ],
)  # fmt: skip
def test_what_comes_of_a_row_follows_from_action_masks_and_caveats(
    label: str, verdict: GateVerdict, outcome: str
) -> None:
    ((judged,),) = evaluate([a_row("text", label, "workflow")], lambda _: verdict)
    assert judged.outcome == outcome


def test_macro_recall_weighs_every_kind_alike() -> None:
    rows = [a_row(f"key {n}", "risk", "secrets", sub="common") for n in range(9)]
    rows.append(a_row("key passed", "risk", "secrets", sub="rare"))
    verdicts = {row.text: VERDICTS["key"] for row in rows} | VERDICTS
    (judged,) = evaluate(rows, verdicts.__getitem__)
    assert (figures(judged).recall, figures(judged).macro_recall) == (Rate(9, 10), 0.5)


def test_parts_leave_out_doubted_labels_and_engines_own_tests() -> None:
    rows = [
        a_row("key", "risk", "secrets", conf="high", source="betterleaks/betterleaks@1:a.go (MIT)"),
        a_row("key passed", "risk", "secrets", conf="medium", source="another/tool@1:b (MIT)"),
    ]
    (judged,) = evaluate(rows, VERDICTS.__getitem__)
    found = summary(judged, None, frozenset({"key passed"}), "rules_1", split=False)["categories"]["secrets"]
    assert {name: (part["recall"]["hits"], part["recall"]["of"]) for name, part in found.items()} == {
        "all": (1, 2),
        "high": (1, 1),
        "undoubted": (1, 1),
        "high_undoubted": (1, 1),
        "engine": (1, 1),
        "not_engine": (0, 1),
    }


def test_runs_that_differ_are_said_to() -> None:
    calls: list[str] = []

    def fickle(text: str) -> GateVerdict:
        calls.append(text)
        return VERDICTS["prose" if len(calls) == 1 else "prose dropped"]

    runs = evaluate([a_row("prose", "benign", "controls")], fickle, runs=3)
    assert agreement(runs).actions == Rate(1, 2)
    assert agreement(runs).outcomes == Rate(1, 2)


@given(st.integers(1, 1000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_an_interval_holds_its_share_and_lies_between_nothing_and_all(counts: tuple[int, int]) -> None:
    rate = Rate(*counts)
    assert rate.share is not None
    assert rate.interval is not None
    low, high = rate.interval
    assert 0 <= low <= rate.share + 1e-9
    assert rate.share - 1e-9 <= high <= 1


def test_intervals_are_wilsons() -> None:
    low, high = Rate(81, 263).interval or (0, 0)  # Newcombe (1998), method 3: 0.2553 to 0.3662
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


def test_halves_are_by_the_first_digit_of_the_id() -> None:
    rows = [a_row(text, "risk", "secrets", id=f"{digit}1") for digit in "07" for text in ("key", "key passed")]
    rows += [a_row("key", "risk", "secrets", id=f"{digit}1", conf="high") for digit in "8f"]
    (judged,) = evaluate(rows, VERDICTS.__getitem__)
    found = summary(judged, None, frozenset({"81"}), "rules_1", split=True)["categories"]["secrets"]
    assert {part: found[part]["recall"]["of"] for part in ("tuned", "held_out", "held_out_high_undoubted")} == {
        "tuned": 4, "held_out": 2, "held_out_high_undoubted": 1,
    }  # fmt: skip
    assert "tuned_high" not in found


def test_figures_by_kind_and_source_stand_beside_the_categories() -> None:
    (judged,) = evaluate(
        [
            a_row("key", "risk", "secrets", sub="cloud:a", source="one/tool@1:x"),
            a_row("key passed", "risk", "secrets", sub="cloud:b", source="one/tool@2:x"),
        ],
        VERDICTS.__getitem__,
    )
    found = summary(judged, None, frozenset(), "rules_1", split=False)
    assert {kind: one["recall"]["hits"] for kind, one in found["kinds"]["secrets"].items()} == {
        "cloud:a": 1, "cloud:b": 0,
    }  # fmt: skip
    assert found["sources"]["secrets"]["one/tool"]["recall"]["rate"] == 50.0


def test_the_page_has_every_category_and_each_part_that_says_something_new() -> None:
    rows = [*ROWS, a_row("key", "risk", "secrets", id="0a", sub="github")]
    runs = evaluate(rows, VERDICTS.__getitem__, runs=2)
    page = markdown(summary(runs[0], agreement(runs), frozenset(), "rules_1", split=True), ["a.jsonl"], split=True)
    assert all(f"| {kind} |" in page for kind in ("secrets", "personal", "controls"))
    assert "| ids 8-f, held out |" in page
    assert "| without doubted labels |" not in page
    assert "Runs agree on 100.0 % of actions" in page
    assert max(len(line) for line in page.splitlines()) <= 110


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "a"', "not JSON"),
        ('{"id": "a", "text": "t", "label": "bad", "category": "secrets"}', "label"),
        ('{"id": "a", "text": "t", "label": "risk", "category": "weather"}', "no category 'weather'"),
        ('{"id": 1, "text": "t", "label": "risk", "category": "secrets"}', "id"),
        (json.dumps("t" * 2000), "over 1,000 bytes"),
    ],
    ids=["half a line", "another label", "another category", "a number for an id", "a long line"],
)
def test_a_line_that_is_no_row_is_named_by_file_and_number(tmp_path: Path, line: str, problem: str) -> None:
    file = tmp_path / "rows.jsonl"
    good = json.dumps({"id": "a", "text": "t", "label": "risk", "category": "secrets"})
    file.write_text(f"{good}\n{line}\n{good}\n")
    first, bad, last = read_rows([file], 1000)
    assert isinstance(bad, Problem)
    assert bad.place == f"{file}, line 2"
    assert problem in bad.message
    assert first == last
