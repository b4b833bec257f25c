"""`orgmem review`: decide on the edits that wait, one by one in a terminal, or by name in a script."""

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer
from rich.console import Console

from orgmem.cli.client import client_database
from orgmem.cli.console import Json, emit_json, load_settings, printable, remark, stderr
from orgmem.errors import InputError, NotFoundError, UsageError
from orgmem.settings import Settings

if TYPE_CHECKING:
    from orgmem.capture.deliver import Delivered
    from orgmem.capture.review import Review, Terminal
    from orgmem.capture.state.candidates import Candidate

PROMPT = "[y]es [n]o [e]dit [a]lways ne[v]er [s]kip [u]ndo [q]uit [?] "
LAST = "nothing is left to decide: [u]ndo, or Enter to end "
HELP = """\
  y  yes: it leaves
  n  no: it never leaves, and you are not asked about it again
  e  edit: word it otherwise in $VISUAL or $EDITOR, then decide on that
  a  always for this file: yes, now and in future, unasked; A: for the project
  v  never for this file: no, now and in future, unasked; V: for the project
  s  skip: decide another time
  p  print all lines; a yes to an edit that was cut does so first
  u  undo the last step
  q  quit, and hand over what you approved
"""
WORDS = {
    "yes": "y", "no": "n", "edit": "e", "always": "a", "never": "v", "skip": "s", "print": "p", "undo": "u",
    "quit": "q", "help": "?", "h": "?",
}  # fmt: skip
"""What may be typed instead of a letter."""
MOST_LINES = 60
"""Lines of an edit that are shown at first."""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("review")(review)


def review(  # noqa: PLR0913, PLR0917 - one parameter an option
    approve: Annotated[list[str] | None, typer.Option(metavar="ID", help="Approve this edit; with --yes.")] = None,
    deny: Annotated[list[str] | None, typer.Option(metavar="ID", help="Deny this edit.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve unasked, as a script: all that waits.")] = False,
    no_input: Annotated[bool, typer.Option("--no-input", help="Never ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what waits, or would be decided.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help="List decided edits, too.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List what is decided unasked.")] = False,
    forget: Annotated[str | None, typer.Option(metavar="RULE", help="PROJECT or PROJECT:PATH.")] = None,
    as_json: Json = False,
) -> None:
    """Decide which edits of memory files may leave this machine.

    In a terminal each edit is shown as it would leave, and you answer. Scripts take ids from --json. An assistant
    may list what waits, and decide nothing.
    """
    settings = load_settings()
    with client_database(settings, "orgmem review") as db:
        if rules:
            _list_rules(db, as_json)
        elif forget is not None:
            _forget(db, forget, dry_run=dry_run)
        elif approve or deny or yes:
            _decide(db, settings, _Wanted(approve or (), deny or (), yes, dry_run, as_json))
        elif as_json or show_all:
            _list(db, everything=show_all, as_json=as_json)
        else:
            _ask(db, settings, looks_only=dry_run, may_ask=not no_input)


class _Wanted(NamedTuple):
    """What a script has said: ids, and whether that is meant."""

    approve: Sequence[str]
    deny: Sequence[str]
    yes: bool
    dry_run: bool
    as_json: bool


def _ask(db: sqlite3.Connection, settings: Settings, *, looks_only: bool, may_ask: bool) -> None:
    """Show what waits, and decide on it with a person."""
    from orgmem.capture.render import page
    from orgmem.capture.review import Review, Terminal, refuse_assistants
    from orgmem.capture.state import candidates
    from orgmem.identity import now

    console = Console(highlight=False, markup=False, emoji=False)
    if not (waiting := candidates.pending(db)):
        print("no edit waits for your decision")
        remark("next: orgmem capture sync")
        return
    if looks_only:
        for number, each in enumerate(waiting):
            console.print(page(each, left=len(waiting) - number))
        return
    refuse_assistants()
    if not may_ask:
        raise UsageError(f"nothing was decided: {len(waiting):,} wait", "orgmem review --json, or --yes")
    with Terminal() as terminal:
        steps = Review(db, now)
        while _goes_on(console, terminal, steps):
            pass
    approved, denied = steps.figures()
    print(f"approved {approved:,}, denied {denied:,}, {len(candidates.pending(db)):,} left")
    if approved:
        _report(_deliver(db, settings), settings)


def _goes_on(console: Console, terminal: "Terminal", steps: "Review") -> bool:
    """Take one answer; false at the end. Before what was approved last is handed over it can be undone, too."""
    if candidate := steps.current():
        return _is_answered(console, terminal, steps, candidate)
    if not any(steps.figures()) or (terminal.ask(LAST) or "").lower() not in {"u", "undo"}:
        return False
    print(f"{steps.undo()}\n")
    return True


def _is_answered(console: Console, terminal: "Terminal", steps: "Review", candidate: "Candidate") -> bool:
    """Show an edit, and do what the person says; false when that is to leave.

    A yes to an edit that was cut shows the rest of it, and is asked for again.
    """
    from orgmem.capture.render import lines, page

    left = len(steps.waiting())
    console.print(page(candidate, left=left, most=MOST_LINES))
    unseen = len(list(lines(candidate.change))) > MOST_LINES
    while True:
        line = terminal.ask(PROMPT)
        if line is None:
            print()
            return False
        letter = line if line in {"A", "V"} else WORDS.get(line.lower(), line.lower())
        if letter == "q":
            return False
        if letter == "p" or (unseen and letter in {"y", "a", "A"}):
            unseen = False
            with console.pager():
                console.print(page(candidate, left=left))
        elif (told := _done(steps, candidate, letter)) is None:
            print(HELP)
        else:
            print(f"{told}\n")
            return True


def _done(steps: "Review", candidate: "Candidate", letter: str) -> str | None:
    """Do what a letter stands for, and say what came of it; none where it stands for nothing."""
    change = candidate.change
    match letter:
        case "y" | "n":
            word = "approved" if letter == "y" else "denied"
            return word if steps.decide(candidate, yes=letter == "y") else "decided elsewhere meanwhile"
        case "a" | "A" | "v" | "V":
            verdict: Literal["always", "never"] = "always" if letter in "aA" else "never"
            others = steps.remember(candidate, verdict, project=letter in "AV")
            name = change.project if letter in "AV" else change.path
            return printable(f"{verdict} for {name}" + (f", {others:,} more that waited" if others else ""))
        case "e":
            return _reworded(steps, candidate)
        case "s":
            steps.skip(candidate)
            return "skipped"
        case "u":
            return steps.undo()
        case _:
            return None


def _reworded(steps: "Review", candidate: "Candidate") -> str:
    from orgmem.capture.review import edited
    from orgmem.capture.state.candidates import PENDING

    try:
        made = steps.reword(candidate, edited(candidate.change.after))
    except InputError as error:
        return printable(error.message)
    if made is None:
        return "nothing was changed"
    return "reworded" if made.status == PENDING else "that wording was decided on before"


def _decide(db: sqlite3.Connection, settings: Settings, wanted: _Wanted) -> None:
    """Do what a script says: all of it, or nothing."""
    from orgmem.capture.review import refuse_assistants
    from orgmem.capture.state import candidates
    from orgmem.capture.state.database import transaction
    from orgmem.identity import now

    refuse_assistants()
    if wanted.approve and not wanted.yes:
        raise UsageError("nothing was decided: --approve asks nobody", "add --yes")
    with transaction(db):
        known = {each.change.learning_id: each.id for each in candidates.pending(db)}
        if unknown := [each for each in (*wanted.approve, *wanted.deny) if each not in known]:
            raise NotFoundError(f"no edit {unknown[0]!r} waits for a decision", "orgmem review --json --all")
        denied = [known[each] for each in dict.fromkeys(wanted.deny)]
        named = [known[each] for each in dict.fromkeys(wanted.approve)]
        if both := set(denied) & set(named):
            raise UsageError(f"{len(both):,} are to be approved and denied", "name each once")
        approved = named if wanted.approve or wanted.deny else list(known.values())
        for number in () if wanted.dry_run else (*denied, *approved):
            moment = now().timestamp()
            candidates.decide(db, number, yes=number in approved, via="script", now=moment)
    done = _deliver(db, settings) if approved and not wanted.dry_run else None
    figures = {"approved": len(approved), "denied": len(denied), "left": len(known) - len(approved) - len(denied)}
    if wanted.as_json:
        emit_json({"dry_run": wanted.dry_run, **figures, **(done._asdict() if done else {})})
    else:
        print("approved {approved:,}, denied {denied:,}, {left:,} left".format(**figures))
    if wanted.dry_run and not wanted.as_json:
        remark("nothing was changed")
    if done:
        _report(done, settings, quietly=wanted.as_json)


def _deliver(db: sqlite3.Connection, settings: Settings) -> "Delivered":
    from orgmem.capture import afterwards, warning
    from orgmem.capture.deliver import deliver
    from orgmem.capture.state import sessions
    from orgmem.identity import now

    with stderr.status("delivering"):
        done = deliver(db, settings, now, all_due=True)
    sessions.settle(db, "failed", "delivery")
    afterwards.lay_out(str(settings.capture_folder), warning.warning(db, now().timestamp()))
    return done


def _report(done: "Delivered", settings: Settings, *, quietly: bool = False) -> None:
    if not quietly:
        print(f"delivered {done.delivered:,}")
    if done.postponed or done.failed:
        remark("not all could be delivered; next: orgmem status")
        raise typer.Exit(1)
    if not quietly and not settings.endpoint:
        remark("next: orgmem curate")


def _list(db: sqlite3.Connection, *, everything: bool, as_json: bool) -> None:
    from orgmem.capture.render import listed
    from orgmem.capture.state import candidates

    found = [listed(each) for each in (candidates.in_order(db) if everything else candidates.pending(db))]
    if as_json:
        emit_json({"candidates": [each.model_dump(mode="json") for each in found]})
    else:
        for each in found:
            print(printable(f"{each.status:9} {each.id}  {each.path} in {each.project}"))


def _list_rules(db: sqlite3.Connection, as_json: bool) -> None:
    from orgmem.capture.state import candidates

    found = candidates.rules(db)
    if as_json:
        emit_json({"rules": [dict(zip(("project", "path", "verdict"), each, strict=True)) for each in found]})
    elif not found:
        print("nothing is decided unasked")
    for project, path, verdict in () if as_json else found:
        print(printable(f"{verdict:6} {_rule_name(project, path)}"))


def _forget(db: sqlite3.Connection, rule: str, *, dry_run: bool) -> None:
    from orgmem.capture.review import refuse_assistants
    from orgmem.capture.state import candidates

    refuse_assistants()
    found = next(((of, path) for of, path, _ in candidates.rules(db) if _rule_name(of, path) == rule), None)
    if found is None:
        raise NotFoundError(f"there is no rule for {rule}", "orgmem review --rules")
    if not dry_run:
        candidates.drop_rule(db, *found)
    print("would be forgotten" if dry_run else "forgotten: you are asked again")


def _rule_name(project: str, path: str) -> str:
    return f"{project}:{path}" if path else project
