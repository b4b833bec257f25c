"""The gate's figures laid out: one object for JSON, and Markdown for evals/gate.md."""

import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from orgmem.evaluate.gate import Agreement, Figures, Judged, by_category, figures, outcomes
from orgmem.evaluate.intervals import Rate

TUNED = frozenset("01234567")
"""First hex digits of the ids of the half that rules may be written against."""
FEW_OF_A_KIND, FEW_OF_A_SOURCE = 10, 20
"""Those with fewer texts have no line of their own on the page."""


class Part(NamedTuple):
    """Some of a category's rows, with figures of their own."""

    key: str
    """In JSON."""
    name: str
    """On the page."""
    has: Callable[[Judged], bool]


def parts(doubted: frozenset[str], *, split: bool) -> tuple[Part, ...]:
    """The parts of a category's rows. Harmless texts are in each but the halves and the engine's own tests."""

    def is_sure(one: Judged) -> bool:
        return one.row.conf == "high" or one.row.label == "benign"

    def is_clear(one: Judged) -> bool:
        return one.row.id not in doubted

    def is_tuned(one: Judged) -> bool:
        return one.row.id[:1] in TUNED

    every = (
        Part("all", "all", lambda _: True),
        Part("high", "high confidence", is_sure),
        Part("undoubted", "without doubted labels", is_clear),
        Part("high_undoubted", "high, without doubted", lambda one: is_sure(one) and is_clear(one)),
        Part("engine", "the engine's own tests", lambda one: one.row.is_engines_own),
        Part("not_engine", "all but those", lambda one: not one.row.is_engines_own),
    )
    halves = (
        Part("tuned", "ids 0-7, tuned on", is_tuned),
        Part("held_out", "ids 8-f, held out", lambda one: not is_tuned(one)),
        Part("tuned_high", "0-7, high", lambda one: is_tuned(one) and is_sure(one)),
        Part("held_out_high", "8-f, high", lambda one: not is_tuned(one) and is_sure(one)),
        Part(
            "held_out_high_undoubted",
            "8-f, high, without doubted",
            lambda one: not is_tuned(one) and is_sure(one) and is_clear(one),
        ),
    )
    return every + halves if split else every


def summary(
    judgements: Sequence[Judged], agreed: Agreement | None, doubted: frozenset[str], ruleset: str, *, split: bool
) -> dict[str, Any]:
    """Every figure, rates as per cent: `{rows, ruleset, outcomes, categories: {<category>: {<part>: ...}}}`."""
    groups = by_category(judgements)
    found: dict[str, Any] = {
        "rows": len(judgements),
        "ruleset": ruleset,
        "doubted": sum(one.row.id in doubted for one in judgements),
        "outcomes": _outcomes(judgements),
        "outcomes_by_category": {kind: _outcomes(group) for kind, group in groups.items()},
        "categories": {kind: _by_part(group, parts(doubted, split=split)) for kind, group in groups.items()},
        "kinds": {kind: _by_name(group, lambda one: one.row.sub) for kind, group in groups.items()},
        "sources": {
            kind: _by_name(group, lambda one: one.row.source.partition("@")[0]) for kind, group in groups.items()
        },
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


def markdown(found: dict[str, Any], names: Sequence[str], *, split: bool) -> str:
    """The figures as a page, wrapped at 100 columns but for tables."""
    labels = {part.key: part.name for part in parts(frozenset(), split=split)}
    about = (
        f"`orgmem eval gate` over {', '.join(names)}: {found['rows']:,} texts, {found['doubted']:,} of them with a"
        f" doubted label; rule set `{found['ruleset']}`. Written by that command. Per cent, in brackets 95 %"
        " intervals after Wilson. A risk counts as found when a finding of its own category is on it, a harmless"
        " text as flagged likewise, a control by any category; macro is the mean over the kinds of text."
    )
    lines = ["# The gate, evaluated", "", *textwrap.wrap(about, 100, break_on_hyphens=False), ""]
    lines += [
        "| category | appropriate | cautious | overcautious | unsafe acceptance |",
        "|---|---:|---:|---:|---:|",
    ]
    for kind, counts in (*found["outcomes_by_category"].items(), ("all", found["outcomes"])):
        lines.append(f"| {kind} | {' | '.join(f'{count:,}' for count in counts.values())} |")
    if agreed := found.get("agreement"):
        lines += ["", f"Runs agree on {agreed['actions']['rate']} % of actions,"]
        lines += [f"{agreed['outcomes']['rate']} % of outcomes."]
    lines += ["", "## By part", "", "| category | part | risks found | macro | harmless flagged | macro |"]
    lines += ["|---|---|---:|---:|---:|---:|"]
    lines += _lines({kind: _named(some, labels) for kind, some in found["categories"].items()}, macro=True)
    for by, few in (("kind", FEW_OF_A_KIND), ("source", FEW_OF_A_SOURCE)):
        lines += [
            "",
            f"## By {by}",
            "",
            f"| category | {by} | risks found | harmless flagged |",
            "|---|---|---:|---:|",
        ]
        lines += _lines({kind: _gathered(some, few) for kind, some in found[f"{by}s"].items()}, macro=False)
    return "\n".join((*lines, ""))


def table(found: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """One line a category for a terminal: name, risks found, sure ones, macro, harmless flagged."""
    return [
        (
            kind,
            _cell(some["all"]["recall"]),
            _number(some.get("high_undoubted", some["all"])["recall"]["rate"]),
            _number(some["all"]["macro_recall"]),
            _cell(some["all"]["false_positives"]),
        )
        for kind, some in found["categories"].items()
    ]


def _outcomes(judgements: Iterable[Judged]) -> dict[str, int]:
    return {name.value: count for name, count in outcomes(judgements).items()}


def _by_part(group: Sequence[Judged], every: Iterable[Part]) -> dict[str, Any]:
    some = {part.key: [one for one in group if part.has(one)] for part in every}
    return {key: _of_figures(figures(ones)) for key, ones in some.items() if ones}


def _by_name(group: Iterable[Judged], name_of: Callable[[Judged], str]) -> dict[str, Any]:
    named: dict[str, list[Judged]] = defaultdict(list)
    for one in group:
        named[name_of(one)].append(one)
    return {name: _of_figures(figures(named[name])) for name in sorted(named)}


def _named(some: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    """Parts under their names on the page; one that says what an earlier one says is left out."""
    distinct: dict[str, Any] = {}
    for key, one in some.items():
        if one not in distinct.values():
            distinct[labels[key]] = one
    return distinct


def _gathered(named: dict[str, Any], least: int) -> dict[str, Any]:
    """Figures by the part of their names before a colon; those of fewer texts than `least` together."""
    sums: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, one in named.items():
        sums[name.partition(":")[0]].append(one)
    few = [name for name, ones in sums.items() if sum(_texts(one) for one in ones) < least]
    if len(few) > 1:
        sums[f"{len(few)} of fewer than {least} texts"] = [one for name in few for one in sums.pop(name)]
    return {name: _added(ones) for name, ones in sums.items()}


def _texts(one: dict[str, Any]) -> int:
    return int(one["recall"]["of"] + one["false_positives"]["of"])


def _added(ones: Iterable[dict[str, Any]]) -> dict[str, Any]:
    every = list(ones)

    def added(key: str) -> dict[str, Any]:
        return _of_rate(Rate(sum(one[key]["hits"] for one in every), sum(one[key]["of"] for one in every)))

    return {"recall": added("recall"), "false_positives": added("false_positives")}


def _lines(categories: dict[str, Any], *, macro: bool) -> Iterator[str]:
    """Rows of a table: each category's figures by name."""
    for kind, some in categories.items():
        for number, (name, one) in enumerate(some.items()):
            cells = ["" if number else kind, name.replace("|", "/") or "-"]
            for rate in ("recall", "false_positives"):
                cells += [_cell(one[rate]), *([_number(one[f"macro_{rate}"])] if macro else [])]
            yield f"| {' | '.join(cells)} |"


def _of_figures(found: Figures) -> dict[str, Any]:
    return {
        "recall": _of_rate(found.recall),
        "macro_recall": _per_cent(found.macro_recall),
        "false_positives": _of_rate(found.false_positives),
        "macro_false_positives": _per_cent(found.macro_false_positives),
    }


def _of_rate(rate: Rate) -> dict[str, Any]:
    interval = rate.interval
    return {
        "hits": rate.hits,
        "of": rate.total,
        "rate": _per_cent(rate.share),
        "interval": None if interval is None else [_per_cent(end) for end in interval],
    }


def _per_cent(share: float | None) -> float | None:
    return None if share is None else round(100.0 * share, 1)


def _cell(rate: dict[str, Any]) -> str:
    if rate["rate"] is None:
        return "-"
    low, high = rate["interval"]
    return f"{rate['rate']} ({low}-{high}) of {rate['of']:,}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value}"
