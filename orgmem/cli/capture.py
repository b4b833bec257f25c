"""`orgmem capture`: sync and status are here, review and doctor in modules of their own."""

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from orgmem.cli.client import client_database, unusable
from orgmem.cli.console import Json, emit_json, load_settings, number_of, remark, stderr
from orgmem.settings import Settings

if TYPE_CHECKING:
    from orgmem.capture.deliver import Delivered
    from orgmem.capture.reconcile import Reconciled
    from orgmem.capture.status import Status

SYNC = "orgmem capture sync"


def register(app: typer.Typer) -> None:
    """Add the group, and its verbs that are asked for most beside it."""
    from orgmem.cli import doctor, review

    group = typer.Typer(help="Notice edits of memory files, decide on them, deliver what was approved.")
    group.command("sync")(sync)
    group.command("status")(status)
    app.command("status")(status)
    review.register(group)
    review.register(app)
    doctor.register(group)
    app.add_typer(group, name="capture")


def status(as_json: Json = False) -> None:
    """Say what is captured, pending, queued, delivered and failed.

    What is wrong or waits for you comes last, with the command that helps.
    """
    settings = load_settings()
    from orgmem.capture import status as status_
    from orgmem.cli.overview import overview
    from orgmem.identity import now

    with client_database(settings, "orgmem status") as db:
        found = status_.status(db, settings, now)
    if as_json:
        emit_json(found.model_dump(mode="json"))
    else:
        print("\n".join(overview(found)))


def sync(
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try what was refused, too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be found; change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Look at every memory file now, and deliver what was approved.

    Looks at each checkout that was ever seen, and at the one that you stand in.
    """
    from orgmem.identity import now

    settings = load_settings()
    if dry_run:
        _rehearse(settings, as_json)
        return
    began, refused = now(), _refused(settings, retry=retry_failed)
    with stderr.status("looking at memory files") as sign:
        reconciled = _reconcile(settings)
        if not as_json:
            print(_found(reconciled))
        sign.update("delivering")
        done, found = _deliver(settings)
    # Reconcile delivers, too: what it has done counts.
    done = done._replace(delivered=done.delivered + reconciled.delivered, failed=len(found.failures) - refused)
    if as_json:
        figures = {**reconciled.model_dump(), **done._asdict(), "pending": found.pending, "queued": found.queued}
        emit_json({**figures, "problems": [each.model_dump() for each in found.problems]})
    else:
        print(f"delivered {done.delivered:,}, postponed {done.postponed:,}, refused {done.failed:,}")
        for each in found.problems:
            remark(f"{each.message}; next: {each.next}")
    if done.postponed or done.failed or any(each.kind == "failed" and each.at >= began for each in found.notices):
        raise typer.Exit(1)


def _reconcile(settings: Settings) -> "Reconciled":
    from orgmem.capture import reconcile
    from orgmem.identity import now

    here = None
    with suppress(FileNotFoundError):  # the folder that one stands in was removed
        here = str(Path.cwd())
    try:
        return reconcile.run(settings, now, full=True, origin="sync", here=here)
    except sqlite3.Error as error:
        raise unusable(error) from error


def _refused(settings: Settings, *, retry: bool) -> int:
    """How many learnings count as refused; with `retry` none does any more."""
    from orgmem.capture import outbox
    from orgmem.capture.state import deliveries
    from orgmem.identity import now

    with client_database(settings, SYNC) as db:
        refused = sum(each.state == deliveries.FAILED for each in deliveries.every(db))
        return refused - (outbox.retry_failed(db, settings, now) if retry and refused else 0)


def _deliver(settings: Settings) -> "tuple[Delivered, Status]":
    from orgmem.capture import afterwards, deliver, status
    from orgmem.capture.state import sessions
    from orgmem.identity import now

    with client_database(settings, SYNC) as db:
        done = deliver.deliver(db, settings, now, all_due=True)
        sessions.settle(db, "failed", "delivery")
        afterwards.lay_out(str(settings.capture_folder), status.warning(db, now().timestamp()))
        return done, status.status(db, settings, now)


def _rehearse(settings: Settings, as_json: bool) -> None:
    """The same with a copy of all that is known, and with nowhere to deliver to."""
    from orgmem.capture.status import status
    from orgmem.identity import now

    with TemporaryDirectory(prefix="orgmem-") as folder, client_database(settings, SYNC) as db:
        copy = settings.model_copy(update={"home": Path(folder) / "home", "endpoint": f"{folder}/nowhere"})
        with suppress(FileNotFoundError):
            shutil.copytree(settings.capture_folder / "spool", copy.capture_folder / "spool")
        copy.capture_folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(copy.capture_folder / "capture.db")) as target:
            db.backup(target)
        reconciled = _reconcile(copy)
        waiting = status(db, settings, now).backfill.queued
        with client_database(copy, SYNC) as after:
            found = status(after, copy, now)
    queued = found.queued + waiting
    if as_json:
        figures = reconciled.model_dump(exclude={"delivered"})
        emit_json({"dry_run": True, **figures, "pending": found.pending, "queued": queued})
    else:
        print(_found(reconciled))
        remark(
            f"{found.pending:,} would wait for your decision, {queued:,} would be delivered; nothing was changed"
        )


def _found(reconciled: "Reconciled") -> str:
    skipped, lost = number_of(reconciled.skipped, "file"), number_of(reconciled.lost, "edit")
    return f"found {number_of(reconciled.new, 'edit')}; {skipped} skipped, {lost} lost"
