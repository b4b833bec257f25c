"""One step an item, one disposition a step."""

import errno
from dataclasses import dataclass

import pytest

from orgmem.errors import InputError, StoreError
from orgmem.settings import Settings
from schemas.disposition import Decision, Stage
from tasks.bench import Bench
from tasks.stage import Step, may_pass, result_of
from tests.samples import an_item


@dataclass
class Failed:
    """A failed state, as the engine hands it to a retry condition."""

    error: BaseException

    def result(self) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "worth_it"),
    [
        (OSError(errno.EIO, "input/output error"), True),
        (StoreError("commit conflict"), True),
        (OSError(errno.ENOSPC, "no space left"), False),
        (OSError(errno.EACCES, "permission denied"), False),
        (InputError("bad row"), False),
        (KeyError("a mistake of ours"), False),
    ],
)
def test_only_what_may_pass_is_tried_again(error: BaseException, worth_it: bool) -> None:
    assert may_pass(None, None, Failed(error)) is worth_it


def test_an_item_that_is_stopped_cannot_go_on() -> None:
    item = an_item()
    with pytest.raises(ValueError, match="stops an item"):
        Step(item.id, item.learning_id, Decision.DROPPED, "secrets.token", onward=(item,))


def test_a_disposition_has_the_same_id_in_every_run_and_another_for_another_reason(
    settings: Settings,
) -> None:
    item = an_item()

    def id_of(reason: str) -> str:
        step = Step(item.id, item.learning_id, Decision.PASSED, reason, onward=(item,))
        return result_of(Stage.GATE, [step], Bench(settings), "rules").dispositions[0].id

    assert id_of("safe") == id_of("safe")
    assert id_of("safe") != id_of("safe_with_caveats")


def test_every_step_leaves_one_disposition_and_only_onward_items_go_on(settings: Settings) -> None:
    stays, goes = an_item(0), an_item(1)
    steps = [
        Step(stays.id, stays.learning_id, Decision.DROPPED, "injection.override"),
        Step(goes.id, goes.learning_id, Decision.PASSED, "safe", onward=(goes,)),
    ]
    result = result_of(Stage.GATE, steps, Bench(settings), "rules")
    assert result.items == (goes,)
    assert [row.item_id for row in result.dispositions] == [stays.id, goes.id]
    assert {row.run_id for row in result.dispositions} == {
        Bench(settings, run_id=result.dispositions[0].run_id).run_id
    }


def test_a_stage_cannot_decide_what_is_another_stages_business(settings: Settings) -> None:
    item = an_item()
    step = Step(item.id, item.learning_id, Decision.DUPLICATE, "duplicate")
    with pytest.raises(ValueError, match="gate can't decide duplicate"):
        result_of(Stage.GATE, [step], Bench(settings), "rules")
