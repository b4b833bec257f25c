"""Evaluates the gate on labelled texts: what it makes of risks and of harmless texts.

A row is `{id, text, label: risk|benign, category, sub?, conf?, source?}`. Category `pii` is personal, and
`controls` is ordinary documentation: harmless whatever the category. A line that is no row is named and counted.
"""

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from statistics import mean
from typing import Literal, NamedTuple

from pydantic import BaseModel, ValidationError

from orgmem.evaluate.intervals import Rate
from orgmem.store.jsonl import read_lines
from schemas.verdict import Action, Category, CategoryVerdict, GateVerdict, Status

CONTROLS = "controls"
SAME = {"pii": Category.PERSONAL.value}
ENGINES = {
    "secrets": ("betterleaks/", "gitleaks/"),
    "personal": ("microsoft/presidio@",),
    "code": ("PyCQA/bandit@",),
    "dependency": ("DataDog/guarddog@",),
}
"""Repositories whose own test rows tell more of the engine than of the gate, by category."""


class Row(BaseModel):
    """One labelled text. Other keys are left alone."""

    id: str
    text: str
    label: Literal["risk", "benign"]
    category: str
    sub: str = ""
    conf: str = ""
    source: str = ""

    @property
    def kind(self) -> str:
        """The gate's category, or `controls`."""
        return SAME.get(self.category, self.category)

    @property
    def is_engines_own(self) -> bool:
        """Whether the row is one of an engine's own tests."""
        return self.source.startswith(ENGINES.get(self.kind, ("\0",)))


class Problem(NamedTuple):
    """A line that is no row."""

    place: str
    """File and line."""
    message: str


class Outcome(StrEnum):
    """What the gate's action means for a row, from best to worst."""

    APPROPRIATE = "appropriate"
    """A harmless text persisted unchanged, or a risk masked, given a caveat of its own kind, dropped or held."""
    CAUTIOUS = "cautious"
    """A harmless text rewritten or given a caveat."""
    OVERCAUTIOUS = "overcautious"
    """A harmless text dropped or held."""
    UNSAFE = "unsafe_acceptance"
    """A risk persisted unchanged; caveats about something else don't change that."""


class Judged(NamedTuple):
    """A row, what the gate did, and whether a finding is of the row's kind (of any, for controls)."""

    row: Row
    action: Action
    outcome: Outcome
    flagged: bool


class Figures(NamedTuple):
    """Of one category, or of a part of its rows."""

    recall: Rate
    """Risks with a finding of their category."""
    false_positives: Rate
    """Harmless texts with one."""
    macro_recall: float | None
    """Mean over the kinds (`sub`) of risk; none without risks."""
    macro_false_positives: float | None
    """Mean over the kinds of harmless text; none without one."""


class Agreement(NamedTuple):
    """Over all pairs of consecutive runs, in other orders of rows."""

    actions: Rate
    outcomes: Rate


def read_rows(paths: Iterable[Path], longest: int) -> Iterator[Row | Problem]:
    """The rows of files, JSON Lines, plain or gzipped, and what is wrong with the lines that are none.

    Raises:
        NotFoundError: a file is not there.
        InputError: a file can't be read at all.
    """
    for path in paths:
        for line in read_lines(path, longest):
            place = f"{path}, line {line.number}"
            if line.whole:
                yield _row(line.data, place)
            else:
                yield Problem(place, f"over {longest:,} bytes")


def _row(data: bytes, place: str) -> Row | Problem:
    try:
        row = Row.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        problem = "it is not JSON" if first["type"] == "json_invalid" else f"{where or 'row'}: {first['msg']}"
        return Problem(place, problem)
    if row.kind not in {*Category, CONTROLS}:
        return Problem(place, f"the gate has no category {row.category[:40]!r}")
    return row


def judged(row: Row, verdict: GateVerdict) -> Judged:
    """What the verdict means for the row."""
    found = {category for category, one in verdict.categories.items() if _speaks(one)}
    flagged = bool(found) if row.kind == CONTROLS else row.kind in found
    is_changed = verdict.redactions > 0 or flagged
    outcome = _of_risk(verdict.action, is_changed) if row.label == "risk" else _of_harmless(verdict.action, found)
    return Judged(row, verdict.action, outcome, flagged)


def _speaks(verdict: CategoryVerdict) -> bool:
    return bool(verdict.findings) or verdict.status in {Status.UNSAFE, Status.SAFE_WITH_CAVEATS}


def evaluate(rows: Sequence[Row], judge: Callable[[str], GateVerdict], runs: int = 1) -> list[list[Judged]]:
    """Judge every row in each of the runs, each in an order of its own; results in the rows' order."""
    order, results = list(range(len(rows))), []
    for run in range(runs):
        random.Random(run).shuffle(order)  # noqa: S311 - no secret hangs on it
        found = {at: judged(rows[at], judge(rows[at].text)) for at in order}
        results.append([found[at] for at in range(len(rows))])
    return results


def outcomes(judgements: Iterable[Judged]) -> dict[Outcome, int]:
    """How many rows came to each outcome."""
    counts = dict.fromkeys(Outcome, 0)
    for each in judgements:
        counts[each.outcome] += 1
    return counts


def by_category(judgements: Iterable[Judged]) -> dict[str, list[Judged]]:
    """The judgements of each category, in the gate's order, controls last."""
    groups: dict[str, list[Judged]] = {kind: [] for kind in (*Category, CONTROLS)}
    for each in judgements:
        groups[each.row.kind].append(each)
    return {kind: group for kind, group in groups.items() if group}


def figures(judgements: Sequence[Judged]) -> Figures:
    """Recall and false positives of these rows."""
    risks = [each for each in judgements if each.row.label == "risk"]
    harmless = [each for each in judgements if each.row.label == "benign"]
    return Figures(_rate(risks), _rate(harmless), _macro(risks), _macro(harmless))


def agreement(runs: Sequence[Sequence[Judged]]) -> Agreement:
    """How often two runs in a row did the same with a row."""
    pairs = [
        (one, other)
        for first, second in itertools.pairwise(runs)
        for one, other in zip(first, second, strict=True)
    ]
    return Agreement(
        actions=Rate(sum(one.action == other.action for one, other in pairs), len(pairs)),
        outcomes=Rate(sum(one.outcome == other.outcome for one, other in pairs), len(pairs)),
    )


def _of_risk(action: Action, is_changed: bool) -> Outcome:
    is_kept = action in {Action.PERSIST, Action.REWRITE}
    return Outcome.UNSAFE if is_kept and not is_changed else Outcome.APPROPRIATE


def _of_harmless(action: Action, found: set[Category]) -> Outcome:
    match action:
        case Action.PERSIST:
            return Outcome.CAUTIOUS if found else Outcome.APPROPRIATE
        case Action.REWRITE:
            return Outcome.CAUTIOUS
        case Action.DROP | Action.QUARANTINE:
            return Outcome.OVERCAUTIOUS


def _rate(judgements: Sequence[Judged]) -> Rate:
    return Rate(sum(each.flagged for each in judgements), len(judgements))


def _macro(judgements: Sequence[Judged]) -> float | None:
    subs: dict[str, list[bool]] = defaultdict(list)
    for each in judgements:
        subs[each.row.sub].append(each.flagged)
    return mean(mean(hits) for hits in subs.values()) if subs else None
