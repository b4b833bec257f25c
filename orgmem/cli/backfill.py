"""`orgmem backfill`: what a repository's history holds, shown as a whole and approved as a whole."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console

from orgmem.cli.console import Json, emit_json, load_settings, number_of, printable, remark, stderr
from orgmem.errors import UsageError
from orgmem.settings import ensure_home

if TYPE_CHECKING:
    from orgmem.capture.backfill import Plan
    from schemas.learning import ApprovedVia, Learning

MOST_FILES = 10
"""Files that are listed one by one."""
MOST_LINES = 12
"""Lines of a sample."""
WIDTH = 80
STEP = 500
"""Commits between two signs of life."""
QUESTION = "Hand over {:,} edits? [y]es, [N]o, [s]how all: "
YES, SHOW = ("y", "yes"), ("s", "show")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("backfill")(backfill)


def backfill(
    repo: Annotated[Path, typer.Argument(help="A git repository, or a folder in one.")] = Path(),
    since: Annotated[str | None, typer.Option(help="Leave out edits before this day: 2026-01-31.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the last so many edits.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve unasked, as a script.")] = False,
    no_input: Annotated[bool, typer.Option("--no-input", help="Never ask: show, and stop.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would leave.")] = False,
    as_json: Json = False,
) -> None:
    """Turn a repository's history of memory files into learnings.

    Shows what would leave this machine, then asks once. Running it twice adds nothing. With --json all of it
    is printed and nobody is asked: without --yes nothing leaves.
    """
    from orgmem.capture.backfill import hand_over, plan
    from orgmem.identity import now

    start = _moment(since)
    settings = load_settings()
    with stderr.status("reading the history") as status:
        found = plan(repo, settings, now, since=start, limit=limit, note=_telling(status.update))
    if not as_json:
        print("\n".join(overview(found)))
    looks_only = dry_run or not found.new or (as_json and not yes)
    via = None if looks_only else _approval(found, yes=yes, may_ask=not no_input)
    staged = 0
    if via:
        ensure_home(settings)
        staged = hand_over(found, settings, via=via, at=now())
    if as_json:
        emit_json({**found.model_dump(mode="json"), "approved_via": via, "staged": staged})
    elif found.edits and not found.new:
        print("nothing new to hand over")
    elif via:
        print(f"handed over {number_of(staged, 'edit')}")
        remark("next: orgmem capture sync" if settings.endpoint else "next: orgmem curate")


def _moment(day: str | None) -> datetime | None:
    if day is None:
        return None
    try:
        moment = datetime.fromisoformat(day)
    except ValueError:
        raise UsageError(f"--since {day!r} is no date", "orgmem backfill --since 2026-01-31") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _telling(update: Callable[[str], None]) -> Callable[[int], None]:
    def tell(commits: int) -> None:
        if commits % STEP == 0:
            update(f"reading the history: {commits:,} commits")

    return tell


def _approval(found: "Plan", *, yes: bool, may_ask: bool) -> "ApprovedVia | None":
    """By which act the plan may leave; none: a person said no.

    Raises:
        UsageError: nobody who may approve could be asked.
    """
    from orgmem.capture.backfill_approval import ask_person
    from orgmem.capture.review import refuse_assistants
    from schemas.learning import ApprovedVia

    refuse_assistants("handed over", "orgmem backfill")
    if yes:
        return ApprovedVia.SCRIPT
    answer = ask_person(QUESTION.format(found.new)) if may_ask else None
    while answer is not None and answer.lower() in SHOW:
        _show_all(found)
        answer = ask_person(QUESTION.format(found.new))
    if answer is None:
        raise UsageError(
            "nothing was handed over, since nobody could be asked", "look at it with --dry-run, then add --yes"
        )
    if answer.lower() in YES:
        return ApprovedVia.TERMINAL
    remark("nothing was handed over")
    return None


def _show_all(found: "Plan") -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    with console.pager():
        for each in found.edits:
            console.print("\n".join(whole(each)))


def overview(found: "Plan") -> Iterator[str]:
    """What would leave, in lines of at most 80 characters."""
    if not found.edits:
        yield f"{found.project}: no edit of a memory file in {number_of(found.commits, 'commit')}"
    else:
        yield from _figures(found)
        yield ""
        yield from _files(found)
        yield ""
        yield from _samples(found)
    for each in found.left_out:
        yield f"left out  {each.count:,}: {each.name}"
    if found.shallow:
        yield "left out  what is older than this shallow clone; git fetch --unshallow brings it"


def _figures(found: "Plan") -> Iterator[str]:
    masks = ", ".join(f"{each.count:,} {each.name}" for each in found.masked)
    known = len(found.edits) - found.new
    figures = {
        "project": found.project,
        "edits": f"{len(found.edits):,} in {number_of(found.commits, 'commit')}, up to {found.head[:12]}",
        "known": f"{known:,} of them are there already" if known else "",
        "learnings": f"{found.learnings:,}",
        "dates": f"{found.first:%Y-%m-%d} to {found.last:%Y-%m-%d}",
        "masked": masks or "nothing: no secret was found",
        "size": f"{found.bytes / 1024:,.0f} KiB",
        "goes to": found.destination,
    }
    for name, value in figures.items():
        if value:
            yield from wrap(
                f"{name:10}{value}",
                WIDTH,
                subsequent_indent=" " * 10,
                break_long_words=False,
                break_on_hyphens=False,
            )


def _files(found: "Plan") -> Iterator[str]:
    yield "   edits  file"
    for each in found.files[:MOST_FILES]:
        yield f"{each.count:8,}  {_short(each.name, WIDTH - 10)}"
    if rest := found.files[MOST_FILES:]:
        yield f"{sum(each.count for each in rest):8,}  in {len(rest):,} other files"


def _samples(found: "Plan") -> Iterator[str]:
    """The first, the middle and the last edit."""
    chosen = sorted({0, len(found.edits) // 2, len(found.edits) - 1})
    for index in chosen:
        yield f"sample {index + 1:,} of {len(found.edits):,}"
        lines = list(whole(found.edits[index]))
        yield from (_short(line, WIDTH) for line in lines[:MOST_LINES])
        if len(lines) > MOST_LINES:
            yield f"  ... {len(lines) - MOST_LINES:,} more lines"


def whole(learning: "Learning") -> Iterator[str]:
    """A learning's changed lines, below their headings."""
    commit = (learning.commit or "")[:12]
    yield f"  {learning.observed_at:%Y-%m-%d} {commit} {learning.path}"
    for hunk in learning.hunks:
        if hunk.heading_path:
            yield f"  # {' > '.join(hunk.heading_path)}"
        for sign, text in (("-", hunk.before), ("+", hunk.after)):
            yield from (f"  {sign} {line}" for line in printable(text).splitlines())


def _short(line: str, width: int) -> str:
    line = line.expandtabs(4)
    return line if cell_len(line) <= width else set_cell_size(line, width - 3) + "..."
