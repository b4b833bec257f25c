"""The gate's figures laid out: one object for JSON, and Markdown for evals/gate.md."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from orgmem.evaluate.gate import Agreement, Figures, Judged, by_category, figures, outcomes
from orgmem.evaluate.intervals import Rate

TUNED = frozenset("01234567")
"""First hex digits of the ids of the half that rules may be written against."""
Part = tuple[str, Callable[[Judged], bool]]


def parts(doubted: frozenset[str], *, split: bool) -> tuple[Part, ...]:
    """The parts of a category's rows that have figures of their own, by name."""
    every: list[Part] = [
        ("all", lambda _: True),
        ("high confidence", lambda one: one.row.conf == "high" or one.row.label == "benign"),
        ("without doubted labels", lambda one: one.row.id not in doubted),
        (
            "high, without doubted",
            lambda one: (one.row.conf == "high" or one.row.label == "benign") and one.row.id not in doubted,
        ),
        ("the engine's own tests", lambda one: one.row.is_engines_own),
        ("all but those", lambda one: not one.row.is_engines_own),
    ]
    if split:
        every += [
            ("tuned on (ids 0-7)", lambda one: one.row.id[:1] in TUNED),
            ("held out (ids 8-f)", lambda one: one.row.id[:1] not in TUNED),
            (
                "held out, high",
                lambda one: one.row.id[:1] not in TUNED and (one.row.conf == "high" or one.row.label == "benign"),
            ),
        ]
    return tuple(every)


def summary(
    judgements: Sequence[Judged], agreed: Agreement | None, doubted: frozenset[str], ruleset: str, *, split: bool
) -> dict[str, Any]:
    """Every figure, rates as per cent: `{rows, ruleset, outcomes, categories: {<category>: {<part>: ...}}}`."""
    categories = {
        kind: {
            name: _of_figures(figures(some))
            for name, belongs in parts(doubted, split=split)
            if (some := [one for one in group if belongs(one)])
        }
        for kind, group in by_category(judgements).items()
    }
    found: dict[str, Any] = {
        "rows": len(judgements),
        "ruleset": ruleset,
        "outcomes": {name.value: count for name, count in outcomes(judgements).items()},
        "outcomes_by_category": {
            kind: {name.value: count for name, count in outcomes(group).items()}
            for kind, group in by_category(judgements).items()
        },
        "categories": categories,
    }
    if agreed:
        found["agreement"] = {"actions": _of_rate(agreed.actions), "outcomes": _of_rate(agreed.outcomes)}
    return found


def missed(judgements: Iterable[Judged]) -> Iterator[dict[str, str]]:
    """Rows where the gate was wrong: a risk without a finding of its kind, a harmless text with one."""
    for one in judgements:
        if one.flagged != (one.row.label == "risk"):
            row = one.row
            yield {
                "id": row.id,
                "category": row.category,
                "label": row.label,
                "sub": row.sub,
                "action": one.action,
            }


def markdown(found: dict[str, Any], source: str) -> str:
    """The figures as a page, at most 100 columns."""
    lines = [
        "# The gate, evaluated",
        "",
        f"`orgmem eval gate {source}`: {found['rows']:,} texts, rule set `{found['ruleset']}`.",
        "Written by that command. Per cent, with 95 % intervals after Wilson. A risk counts as found when a",
        "finding of its own category is on it; a harmless text as flagged likewise, a control by any category.",
        "",
        "| outcome | texts |",
        "|---|---:|",
        *(f"| {name} | {count:,} |" for name, count in found["outcomes"].items()),
        "",
        "| category | part | risks found | macro | harmless flagged |",
        "|---|---|---:|---:|---:|",
        *(
            f"| {kind if not number else ''} | {name} | {_cell(one['recall'])} | {_number(one['macro_recall'])} |"
            f" {_cell(one['false_positives'])} |"
            for kind, some in found["categories"].items()
            for number, (name, one) in enumerate(some.items())
        ),
    ]
    if agreed := found.get("agreement"):
        lines += ["", f"Runs agree on {agreed['actions']['rate']} % of actions and"]
        lines += [f"{agreed['outcomes']['rate']} % of outcomes."]
    return "\n".join((*lines, ""))


def table(found: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """One line a category for a terminal: name, risks found, high-confidence ones, macro, harmless flagged."""
    return [
        (
            kind,
            _cell(some["all"]["recall"]),
            _number(some.get("high, without doubted", some["all"])["recall"]["rate"]),
            _number(some["all"]["macro_recall"]),
            _cell(some["all"]["false_positives"]),
        )
        for kind, some in found["categories"].items()
    ]


def _of_figures(found: Figures) -> dict[str, Any]:
    return {
        "recall": _of_rate(found.recall),
        "macro_recall": None if found.macro_recall is None else round(100 * found.macro_recall, 1),
        "false_positives": _of_rate(found.false_positives),
    }


def _of_rate(rate: Rate) -> dict[str, Any]:
    interval = rate.interval
    return {
        "hits": rate.hits,
        "of": rate.total,
        "rate": None if rate.share is None else round(100 * rate.share, 1),
        "interval": None if interval is None else [round(100 * end, 1) for end in interval],
    }


def _cell(rate: dict[str, Any]) -> str:
    if rate["rate"] is None:
        return "-"
    low, high = rate["interval"]
    return f"{rate['rate']} ({low}-{high}) of {rate['of']:,}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value}"
