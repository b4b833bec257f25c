"""What every stage shares: one step an item, one disposition a step, and how a stage's task is declared."""

import errno
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE

from orgmem.errors import StoreError
from orgmem.identity import digest
from schemas.batch import Item, StageResult
from schemas.disposition import DECISIONS, GOES_ON, Decision, Disposition, Stage
from tasks.bench import Bench

P = ParamSpec("P")
R = TypeVar("R")

FOR_GOOD = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS})
"""Failures of the machine that trying again at once does not mend."""


@dataclass(frozen=True)
class Step:
    """What a stage decided about one item: the items that go on (none, one, or at enrich many) and why."""

    item_id: str
    learning_id: str
    decision: Decision
    reason: str
    onward: tuple[Item, ...] = ()
    related: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.onward and self.decision not in GOES_ON:
            raise ValueError(f"{self.decision} stops an item, yet {len(self.onward)} go on")


def result_of(stage: Stage, steps: Iterable[Step], bench: Bench, ruleset: str) -> StageResult:
    """The items that go on and a disposition for each step."""
    steps = tuple(steps)
    foreign = {step.decision for step in steps} - DECISIONS[stage]
    if foreign:
        raise ValueError(f"{stage} can't decide {', '.join(sorted(foreign))}")
    return StageResult(
        items=tuple(item for step in steps for item in step.onward),
        dispositions=tuple(_disposition(stage, step, bench, ruleset) for step in steps),
    )


def _disposition(stage: Stage, step: Step, bench: Bench, ruleset: str) -> Disposition:
    item: Literal["learning", "memory"] = "learning" if stage is Stage.ENRICH else "memory"
    parts = (stage, item, step.item_id, step.learning_id, step.decision, step.reason, *step.related)
    return Disposition(
        id=f"dsp_{digest(*parts, bench.curator.name, ruleset)}",
        stage=stage,
        item=item,
        item_id=step.item_id,
        learning_id=step.learning_id,
        decision=step.decision,
        reason=step.reason,
        related=step.related,
        curator=bench.curator.name,
        ruleset=ruleset,
        run_id=bench.run_id,
        decided_at=bench.clock(),
    )


def may_pass(_task: Any, _run: Any, state: Any) -> bool:
    """Whether a failed task is worth another try: a store or a disk that was busy, not one that is full."""
    try:
        state.result()
    except OSError as error:
        return error.errno not in FOR_GOOD
    except StoreError:
        return True
    except BaseException:  # noqa: BLE001 - asked only whether to try again; the failure itself stays in the state
        return False
    return False


def retryable(name: str) -> Callable[[Callable[P, R]], Any]:
    """Declare a task: named as its stage, tried three times where that can help, nothing cached or kept."""
    return task(
        name=name,
        retries=2,
        retry_delay_seconds=[1, 5],
        retry_condition_fn=may_pass,
        cache_policy=NO_CACHE,
        persist_result=False,
    )
