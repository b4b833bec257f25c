"""A row that fails an expectation carries its name; the others go on."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from orgmem.settings import Settings
from orgmem.store.journal import Journal
from schemas.batch import Item, StageResult
from schemas.disposition import Stage
from schemas.memory import Tags
from schemas.verdict import Action, GateVerdict, Status
from tasks.bench import Bench
from tasks.checkpoint import check_items, check_learnings, unfit_items, unfit_learnings
from tests.samples import OBSERVED, a_claim, a_draft, a_learning, an_item


def a_checked_item(ordinal: int = 0, *, action: Action = Action.PERSIST, **changes: Any) -> Item:
    """An item as tag leaves it."""
    given: dict[str, Any] = {
        "verdict": GateVerdict(status=Status.SAFE, action=action, categories={}, ruleset="rules"),
        "tags": Tags(tools=("pytest",), types=("command", "api-behaviour")),
    }
    return an_item(ordinal, **{**given, **changes})


def test_sound_learnings_pass() -> None:
    assert unfit_learnings([a_learning(), a_learning(path="b.md")], OBSERVED) == {}


def test_sound_items_pass() -> None:
    assert unfit_items([a_checked_item(0), a_checked_item(1, action=Action.REWRITE)]) == {}


def test_nothing_passes_without_a_run_of_the_library() -> None:
    assert (unfit_learnings([], OBSERVED), unfit_items([])) == ({}, {})


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"id": "lrn_x"}, "id_is_well_formed"),
        ({"id": None}, "id_is_given"),
        ({"project": " "}, "project_is_given"),
        ({"path": " "}, "path_is_given"),
        ({"hunks": ()}, "hunks_are_bounded"),
        ({"patch": "\n"}, "patch_is_bounded"),
        ({"observed_at": OBSERVED + timedelta(days=2)}, "observed_at_is_not_ahead"),
    ],
)
def test_an_unfit_learning_carries_the_expectations_name(changes: dict[str, Any], name: str) -> None:
    unfit = a_learning(path="b.md").model_copy(update=changes)
    assert unfit_learnings([a_learning(), unfit], OBSERVED) == {unfit.id: f"expectation:{name}"}


def test_a_clock_that_is_a_little_ahead_is_allowed() -> None:
    assert unfit_learnings([a_learning(observed_at=OBSERVED + timedelta(hours=23))], OBSERVED) == {}


def test_an_id_that_is_there_twice_is_unfit() -> None:
    learning = a_learning()
    assert unfit_learnings([learning, learning], OBSERVED) == {learning.id: "expectation:id_is_unique"}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"id": "mem_x"}, "id_is_well_formed"),
        ({"verdict": None}, "verdict_lets_pass"),
        ({"draft": a_draft(question="Tests.")}, "question_asks"),
        ({"draft": a_draft(question="Why " * 300 + "?")}, "question_is_bounded"),
        ({"draft": a_draft(question="What is [masked:github-pat] for?")}, "question_is_unmasked"),
        ({"draft": a_draft(answer=" ")}, "answer_is_bounded"),
        ({"draft": a_draft(answer="long " * 5000)}, "answer_is_bounded"),
        ({"draft": a_draft(example="printf '\x1b[2J'")}, "text_is_printable"),
        ({"tags": Tags(tools=("pytest",), types=())}, "types_are_registered"),
        ({"tags": Tags(tools=("pytest",), types=("command", "poem"))}, "types_are_registered"),
        ({"tags": Tags(tools=(), types=("command",))}, "tools_are_given"),
    ],
)
def test_an_unfit_item_carries_the_expectations_name(changes: dict[str, Any], name: str) -> None:
    unfit = a_checked_item(1).model_copy(update=changes)
    assert unfit_items([a_checked_item(0), unfit]) == {unfit.id: f"expectation:{name}"}


@pytest.mark.parametrize("action", [Action.DROP, Action.QUARANTINE])
def test_an_item_that_the_gate_stopped_is_unfit(action: Action) -> None:
    assert list(unfit_items([a_checked_item(action=action)]).values()) == ["expectation:verdict_lets_pass"]


def test_a_short_question_with_a_mark_and_a_long_one_without_both_ask() -> None:
    questions = ("Why?", "How to run the tests behind a proxy")
    assert unfit_items([a_checked_item(n, draft=a_draft(question=q)) for n, q in enumerate(questions)]) == {}


def test_of_several_failures_the_first_in_order_is_named() -> None:
    unfit = a_checked_item(draft=a_draft(question="\x07"), tags=None)
    assert unfit_items([unfit]) == {unfit.id: "expectation:question_asks"}


def test_checkpoints_at_once_do_not_mix(capfd: pytest.CaptureFixture[str]) -> None:
    def batch(number: int) -> Sequence[Item]:
        bad = [a_checked_item(n).model_copy(update={"tags": None}) for n in range(number)]
        return [*bad, *(a_checked_item(n) for n in range(number, 6))]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda number: len(unfit_items(batch(number))), range(6)))
    assert found == list(range(6))
    assert capfd.readouterr().out == ""


def test_the_tasks_read_the_batch_from_the_journal(settings: Settings) -> None:
    journal, bench = Journal(settings), Bench(settings, clock=lambda: OBSERVED)
    ahead = a_learning(observed_at=OBSERVED + timedelta(days=9))
    journal.open(a_claim(ahead))
    journal.write("000001", Stage.TAG, StageResult(items=(a_checked_item(action=Action.DROP),), dispositions=()))
    assert check_learnings.fn(bench, "000001") == {ahead.id: "expectation:observed_at_is_not_ahead"}
    assert list(check_items.fn(bench, "000001").values()) == ["expectation:verdict_lets_pass"]
