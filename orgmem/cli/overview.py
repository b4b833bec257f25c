"""`orgmem status` in lines of at most 80 characters."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from textwrap import wrap
from typing import TYPE_CHECKING

from orgmem.cli.console import printable

if TYPE_CHECKING:
    from orgmem.capture.status import Status

WIDTH, INDENT = 80, 11
MOST = 8
"""Lines of a list that are printed; `--json` has them all."""


def overview(found: "Status") -> Iterator[str]:
    """What was captured, where it stands, what is watched; then problems, each with the next command."""
    for name, value in _figures(found):
        yield from _entry(name, value)
    for name, lines in _lists(found):
        yield ""
        yield from _entry(name, lines[0])
        for line in lines[1 : MOST + 1]:
            yield from _entry("", line)
        if rest := lines[MOST + 1 :]:
            yield from _entry("", f"and {len(rest):,} more: orgmem status --json")
    for each in found.problems:
        yield ""
        yield from _entry("!", each.message)
        yield from _entry("", f"next: {each.next}")


def _figures(found: "Status") -> Iterator[tuple[str, str]]:
    others = ", ".join(f"{name} {getattr(found, name):,}" for name in ("repeated", "withdrawn", "arrived"))
    yield "captured", _many(found.captured, "edit")
    yield "", f"pending {found.pending:,}, approved {found.approved:,}, denied {found.denied:,}, {others}"
    yield "approved", f"queued {found.queued:,}, delivered {found.delivered:,}, failed {found.failed:,}"
    way = found.backfill
    if way.queued or way.delivered or way.failed:
        yield "backfill", f"queued {way.queued:,}, delivered {way.delivered:,}, failed {way.failed:,}"
    yield "goes to", found.endpoint
    attempt = f", next attempt {_when(found.next_attempt)}" if found.next_attempt else ""
    yield "delivered", f"last {_when(found.last_success)}{attempt}"
    yield "hooks", f"{_many(found.sessions, 'session')}, last event {_when(found.last_event)}, {_wakes(found)}"


def _wakes(found: "Status") -> str:
    running = "a reconcile is running" if found.reconciling else "no reconcile is running"
    waiting = f"{_many(found.wakes, 'event')} not looked at since {_when(found.oldest_wake)}, "
    return f"{waiting if found.wakes else ''}{running}"


def _lists(found: "Status") -> Iterator[tuple[str, Sequence[str]]]:
    """Name and lines of each list that has any; the first line says how many."""
    places = [f"{each.root} ({each.project}): {', '.join(each.files)}" for each in found.watched if each.files]
    files, checkouts = _many(found.watched_files, "file"), _many(len(found.watched), "checkout")
    yield "watched", (f"{files} in {checkouts}", *places)
    if found.rules:
        rules = [f"{each.verdict} {each.project} {each.path}".rstrip() for each in found.rules]
        yield "rules", (f"{len(rules):,} by which you are not asked", *rules)
    told = [f"{_when(each.at)} {each.kind} {each.subject}: {each.detail}" for each in found.notices]
    if told:
        yield "notices", (f"{len(told):,}", *reversed(told))


def _entry(name: str, value: str) -> list[str]:
    """A name and what it says, over as many lines as that takes."""
    text = printable(value).replace("\n", " ")
    return wrap(f"{name:{INDENT}}{text}", WIDTH, subsequent_indent=" " * INDENT, break_on_hyphens=False) or [""]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _when(moment: datetime | None) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M") if moment else "never"
