"""Evaluates the gate on labelled texts: what it makes of risks and of harmless texts.

A row is `{id, text, label: risk|benign, category, sub?, conf?, source?}`. Category `pii` is personal, and
`controls` is ordinary documentation: harmless whatever the category.
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

from orgmem.errors import InputError
from orgmem.evaluate.intervals import Rate
from orgmem.store.jsonl import read_lines
from schemas.verdict import Action, Category, GateVerdict

CONTROLS = "controls"
SAME = {"pii": Category.PERSONAL.value}
ENGINES = {
    "secrets": ("betterleaks/", "gitleaks/"),
    "personal": ("microsoft/presidio@",),
    "code": ("PyCQA/bandit@",),
    "dependency": ("DataDog/guarddog@",),
}
"""Repositories whose own test rows tell more of the engine than of the gate, by category."""
ROWS = 'rows like {"id": "a", "text": "...", "label": "risk", "category": "secrets"}'


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


class Outcome(StrEnum):
    """What the gate's action means for a row, from best to worst."""

    APPROPRIATE = "appropriate"
    """A harmless text persisted unchanged, or a risk rewritten, dropped or held."""
    CAUTIOUS = "cautious"
    """A harmless text rewritten or given a caveat."""
    OVERCAUTIOUS = "overcautious"
    """A harmless text dropped or held."""
    UNSAFE = "unsafe_acceptance"
    """A risk persisted unchanged."""


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


class Agreement(NamedTuple):
    """Over all pairs of consecutive runs, in other orders of rows."""

    actions: Rate
    outcomes: Rate


def read_rows(paths: Iterable[Path], longest: int) -> Iterator[Row]:
    """The rows of files, JSON Lines, plain or gzipped.

    Raises:
        InputError: a line is none, or of a category that the gate has not; named by file and number.
    """
    known = {*Category, CONTROLS}
    for path in paths:
        for line in read_lines(path, longest):
            try:
                row = Row.model_validate_json(line.data)
            except ValidationError as error:
                first = error.errors(include_input=False, include_context=False, include_url=False)[0]
                where = ".".join(str(part) for part in first["loc"])
                raise InputError(f"{path}, line {line.number}: {where or 'row'}: {first['msg']}", ROWS) from error
            if row.kind not in known:
                raise InputError(f"{path}, line {line.number}: no category {row.category!r}", ROWS)
            yield row


def judged(row: Row, verdict: GateVerdict) -> Judged:
    """What the verdict means for the row."""
    found = {category for category, one in verdict.categories.items() if one.findings}
    flagged = bool(found) if row.kind == CONTROLS else row.kind in found
    return Judged(row, verdict.action, _outcome(row, verdict.action), flagged)


def evaluate(rows: Sequence[Row], judge: Callable[[str], GateVerdict], runs: int = 1) -> list[list[Judged]]:
    """Judge every row in each of the runs, after the first in another order; results in the rows' order."""
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
    subs: dict[str, list[bool]] = defaultdict(list)
    for each in risks:
        subs[each.row.sub].append(each.flagged)
    macro = mean(mean(hits) for hits in subs.values()) if subs else None
    return Figures(_rate(risks), _rate(harmless), macro)


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


def _outcome(row: Row, action: Action) -> Outcome:
    if row.label == "risk":
        return Outcome.UNSAFE if action is Action.PERSIST else Outcome.APPROPRIATE
    match action:
        case Action.PERSIST:
            return Outcome.APPROPRIATE
        case Action.REWRITE:
            return Outcome.CAUTIOUS
        case Action.DROP | Action.QUARANTINE:
            return Outcome.OVERCAUTIOUS


def _rate(judgements: Sequence[Judged]) -> Rate:
    return Rate(sum(each.flagged for each in judgements), len(judgements))
