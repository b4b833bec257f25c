"""A candidate as a person or a program sees it: the lines that leave, nothing that could steer a terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from orgmem.capture.question import visible
from orgmem.capture.state.candidates import Candidate, Change
from orgmem.text.diff import line_hunks
from orgmem.text.secrets import MASK
from schemas.learning import LearningId
from schemas.record import Instant, Record

STYLES = {"@": "bold cyan", " ": "dim", "-": "red", "+": "green"}


class Line(NamedTuple):
    """A line of a change."""

    mark: Literal["@", " ", "-", "+"]
    """Headings above what follows; unchanged; goes; comes."""
    text: str
    """Visible characters only."""


class Listed(Record):
    """A candidate in a list."""

    id: LearningId
    """Made from project, path and texts: an approval by it covers exactly what was listed."""
    status: str
    """pending, approved, denied, repeated, withdrawn or arrived."""
    via: str | None
    """How it was decided."""
    decided_at: Instant | None
    project: str
    path: str
    session: str | None
    observed_at: Instant
    masked: int
    """Spans masked in the whole file, before and after."""
    rules: tuple[str, ...]
    """By which rules."""
    diff: str
    """The lines that would leave, each behind its mark."""


def listed(candidate: Candidate) -> Listed:
    """A candidate with all that would leave."""
    change = candidate.change
    return Listed(
        id=change.learning_id,
        status=candidate.status,
        via=candidate.via,
        decided_at=None if candidate.decided_at is None else moment(candidate.decided_at),
        project=change.project,
        path=change.path,
        session=change.session,
        observed_at=moment(change.observed_at),
        masked=change.masked,
        rules=change.rules,
        diff="".join(f"{mark}{text}\n" for mark, text in lines(change)),
    )


def page(candidate: Candidate, *, left: int, most: int | None = None) -> Group:
    """A candidate for a terminal: where, when, what is masked, and each line that leaves, or so many of them."""
    change = candidate.change
    fate = "" if change.before and change.after else " (deleted)" if change.before else " (new file)"
    session = f" in session {visible(change.session)[:8]}" if change.session else ""
    when = f"{moment(change.observed_at).astimezone():%Y-%m-%d %H:%M}"
    rows = list(lines(change))
    masked = ", ".join(f"{count:,} {rule}" for rule, count in masks(rows).items()) or "nothing"
    rest = max(0, len(rows) - most) if most else 0
    return Group(
        Text(visible(f"{change.path} in {change.project}{fate}"), "bold", overflow="fold"),
        Text(f"found {when}{session}; masked: {masked}; {left:,} left"),
        Padding(_table(rows[:most]), (1, 0, 1, 2), expand=False),
        *([Text(f"  not shown: {rest:,} of {len(rows):,} lines; p prints all\n")] if rest else []),
    )


def lines(change: Change) -> Iterator[Line]:
    """What leaves: each hunk below its headings, with the unchanged lines that go along."""
    for number, hunk in enumerate(line_hunks(change.before, change.after)):
        if number or hunk.heading_path:
            yield Line("@", visible(" > ".join(hunk.heading_path)))
        yield from _marked(" ", hunk.context_before)
        yield from _marked("-", hunk.before)
        yield from _marked("+", hunk.after)
        yield from _marked(" ", hunk.context_after)


def masks(rows: Iterable[Line]) -> dict[str, int]:
    """How many secrets are masked in lines, by rule."""
    found = Counter(mask for _, text in rows for mask in MASK.findall(text))
    return {mask.removeprefix("[masked:").removesuffix("]"): count for mask, count in sorted(found.items())}


def _table(rows: Sequence[Line]) -> Table:
    """Lines with their marks in a column of their own, which no text of a line can reach."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=1)
    table.add_column(overflow="fold")
    for mark, text in rows:
        table.add_row(Text(mark, STYLES[mark]), Text(text, STYLES[mark]))
    return table


def moment(seconds: float) -> datetime:
    """Seconds since 1970 as a moment in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def _marked(mark: Literal[" ", "-", "+"], text: str) -> Iterator[Line]:
    rows = text.split("\n")
    return (Line(mark, visible(row)) for row in (rows if rows[-1] else rows[:-1]))
