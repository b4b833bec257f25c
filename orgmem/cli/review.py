"""`orgmem review`: what was captured, shown as it would leave, and decided by a person."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orgmem.cli.console import Json, emit_json, load_settings, printable, remark
from orgmem.errors import NotFoundError, StoreError, UsageError

if TYPE_CHECKING:
    import sqlite3

    from orgmem.capture.state.candidates import Candidate
    from orgmem.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("review")(review)


def review(  # noqa: PLR0913, PLR0917 - each is an option of the verb
    approve: Annotated[list[int] | None, typer.Option("--approve", help="Approve this one; needs --yes.")] = None,
    deny: Annotated[list[int] | None, typer.Option("--deny", help="Deny this one.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve without a question, on record as script.")] = False,
    no_input: Annotated[bool, typer.Option("--no-input", help="Never ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show; decide nothing.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help="With --json: decided ones, too.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List what you said always or never to.")] = False,
    forget: Annotated[str | None, typer.Option("--forget", help="Drop a rule: PROJECT or PROJECT:PATH.")] = None,
    as_json: Json = False,
) -> None:
    """Decide about captured edits: each is shown as it would leave this machine.

    Needs a terminal of your own; an assistant can look, with --json, and not decide.
    """
    settings = load_settings(make_home=not dry_run)
    with closing(_database(settings)) as db:
        if rules:
            _list_rules(db, as_json)
        elif forget is not None:
            _forget(db, forget)
        elif approve or deny or yes:
            _by_script(db, settings, approve or [], deny or [], yes=yes, dry_run=dry_run, as_json=as_json)
        elif as_json or dry_run:
            _show(db, as_json=as_json, everything=show_all)
        else:
            _by_person(db, settings, no_input=no_input)


def _by_person(db: "sqlite3.Connection", settings: "Settings", *, no_input: bool) -> None:
    from orgmem.capture import review as review_
    from orgmem.capture.state import candidates
    from orgmem.cli.review_terminal import Dialogue

    if not candidates.pending(db):
        remark("nothing to decide on; orgmem capture sync looks for edits")
        return
    review_.refuse_assistants()
    if no_input or not review_.has_terminal():
        raise UsageError("review needs a terminal", "orgmem review --json, or orgmem review --yes")
    if Dialogue(db).run():
        _deliver(db, settings)


def _by_script(
    db: "sqlite3.Connection",
    settings: "Settings",
    approve: list[int],
    deny: list[int],
    *,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    from orgmem.capture import review as review_
    from orgmem.capture.state import candidates
    from orgmem.capture.state.database import transaction
    from orgmem.identity import now

    review_.refuse_assistants()
    if approve and not yes:
        raise UsageError("--approve decides without showing: say --yes, too", "orgmem review")
    pending = {candidate.id for candidate in candidates.pending(db)}
    if unknown := sorted({*approve, *deny} - pending):
        raise NotFoundError(f"no pending candidate {unknown[0]}", "orgmem review --json")
    wanted = sorted(set(approve) if approve else pending - set(deny) if yes else ())
    if not dry_run:
        with transaction(db):
            for number, verdict in [*((each, True) for each in wanted), *((each, False) for each in deny)]:
                candidates.decide(db, number, yes=verdict, via="script", now=now().timestamp())
        if wanted:
            _deliver(db, settings)
    if as_json:
        emit_json({"approved": wanted, "denied": sorted(set(deny)), "dry_run": dry_run})
    else:
        would = "would be " if dry_run else ""
        print(f"{len(wanted)} {would}approved, {len(set(deny))} {would}denied")


def _deliver(db: "sqlite3.Connection", settings: "Settings") -> None:
    from orgmem.capture.deliver import deliver
    from orgmem.identity import now

    done = deliver(db, settings, now, all_due=True)
    remark(f"delivered {done.delivered}, postponed {done.postponed}, refused {done.failed}")
    if done.delivered and not settings.endpoint:
        remark("next: orgmem curate")
    elif done.postponed or done.failed:
        remark("next: orgmem status")


def _show(db: "sqlite3.Connection", *, as_json: bool, everything: bool) -> None:
    from orgmem.capture.state import candidates

    found = candidates.in_order(db) if everything else candidates.pending(db)
    if as_json:
        emit_json({"candidates": [_as_json(candidate) for candidate in found]})
        return
    for candidate in found:
        print(f"{candidate.id}  {printable(candidate.change.project)}  {printable(candidate.change.path)}")
    remark(f"{len(found)} to decide on; next: orgmem review")


def _as_json(candidate: "Candidate") -> dict[str, Any]:
    from datetime import UTC, datetime

    from orgmem.capture.review import diff_lines

    change = candidate.change
    return {
        "id": candidate.id,
        "status": candidate.status,
        "via": candidate.via,
        "learning_id": change.learning_id,
        "project": change.project,
        "path": change.path,
        "session": change.session,
        "observed_at": datetime.fromtimestamp(change.observed_at, UTC).isoformat(),
        "masked": change.masked,
        "rules": list(change.rules),
        "diff": "\n".join(diff_lines(change)),
    }


def _list_rules(db: "sqlite3.Connection", as_json: bool) -> None:
    from orgmem.capture.state import candidates

    found = candidates.rules(db)
    if as_json:
        names = ("project", "path", "verdict")
        emit_json({"rules": [dict(zip(names, rule, strict=True)) for rule in found]})
    else:
        print("\n".join(f"{verdict}  {project}{':' + path if path else ''}" for project, path, verdict in found))


def _forget(db: "sqlite3.Connection", rule: str) -> None:
    from orgmem.capture.state import candidates

    project, _, path = rule.partition(":")
    if not candidates.drop_rule(db, project, path):
        raise NotFoundError(f"there is no rule for {rule}", "orgmem review --rules")
    print(f"forgotten: {printable(rule)}")


def _database(settings: "Settings") -> "sqlite3.Connection":
    import sqlite3

    from orgmem.capture.state import database

    try:
        if Path(settings.capture_folder / "capture.db").exists():
            return database.connect(settings.capture_folder)
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.executescript(database.TABLES)
    except sqlite3.Error as error:
        raise StoreError(f"capture.db can't be used: {error}", "orgmem capture doctor") from error
    return db
