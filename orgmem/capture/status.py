"""What `orgmem status` says: what was captured, where it stands, what is watched, what is wrong and what to do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from orgmem.capture import spool
from orgmem.capture.afterwards import HOOK_ERRORS
from orgmem.capture.destination import shown
from orgmem.capture.drain import LOCK, held
from orgmem.capture.state import candidates, deliveries, replicas, sessions
from orgmem.capture.warning import FRESH_SECONDS, PATIENCE_SECONDS, waiting, warning
from orgmem.identity import Clock
from orgmem.settings import Settings
from schemas.record import Record

__all__ = ["Status", "status", "warning"]


class Way(Record):
    """How many learnings stand where on their way to the other end."""

    queued: int
    delivered: int
    failed: int
    """Refused for good; their files are in the folder `failed` beside the outbox."""


class Watched(Record):
    """Memory files of a checkout."""

    root: str
    project: str
    files: tuple[str, ...]
    """Paths inside the project, sorted."""


class Notice(Record):
    """Something the person should know."""

    kind: str
    """lost, skipped or failed."""
    subject: str
    detail: str
    at: datetime


class Rule(Record):
    """What the user decided for all edits of a file, or with path '' of a project."""

    project: str
    path: str
    verdict: str
    """always or never."""


class Failure(Record):
    """A learning that the other end refused for good."""

    learning_id: str
    reason: str


class Problem(Record):
    """What is wrong or waits for the person."""

    message: str
    next: str
    """The command to run."""


class Status(Record):
    """Captured is the sum of pending, approved, denied, repeated, withdrawn and arrived; approved that of queued,
    delivered and failed.
    """

    captured: int
    """Edits that were found, ever."""
    pending: int
    approved: int
    denied: int
    repeated: int
    """The same edit was or is another candidate."""
    withdrawn: int
    """Edited back before anybody was asked."""
    arrived: int
    """Brought by git from elsewhere; nobody is asked."""
    queued: int
    delivered: int
    failed: int
    backfill: Way
    """Learnings of backfills, which are no candidates; only those that leave this home."""
    endpoint: str
    """Where learnings go, without credentials."""
    last_success: datetime | None
    """When something was last delivered."""
    last_error: str | None
    """Why the queued ones wait, where an attempt has failed."""
    next_attempt: datetime | None
    """When the first of the queued is due."""
    failures: tuple[Failure, ...]
    capture: bool
    """Off: hooks do nothing."""
    sessions: int
    last_event: datetime | None
    """When a hook last told something of a session."""
    wakes: int
    """What hooks have told and no reconcile has looked at yet."""
    oldest_wake: datetime | None
    broken_wakes: int
    """Files in the spool that were no wakes."""
    reconciling: bool
    """A reconcile is running."""
    hook_error: str | None
    """Last fault of a hook that no reconcile has made a notice of."""
    watched_files: int
    watched: tuple[Watched, ...]
    rules: tuple[Rule, ...]
    notices: tuple[Notice, ...]
    problems: tuple[Problem, ...] = ()


def status(db: sqlite3.Connection, settings: Settings, clock: Clock) -> Status:
    """Where everything stands, as of one moment."""
    with _one_moment(db):
        found = _status(db, settings)
    return found.model_copy(update={"problems": tuple(_problems(found, clock()))})


def _status(db: sqlite3.Connection, settings: Settings) -> Status:
    by_status = candidates.counts(db)
    names = ("pending", "approved", "denied", "repeated", "withdrawn", "arrived")
    wakes, watched, seen = waiting(str(settings.home)), _watched(db), sessions.session_counts(db)
    due = [each.due_at for each in deliveries.queued(db)]
    return Status(
        captured=sum(by_status.values()),
        **{name: by_status.get(name, 0) for name in names},
        **_way(deliveries.counts(db)).model_dump(),
        backfill=_way(deliveries.counts(db, backfilled=True)),
        endpoint=shown(settings.endpoint) or str(settings.staging),
        last_success=_moment(deliveries.last_success(db)),
        last_error=deliveries.last_error(db),
        next_attempt=_moment(min(due, default=None)),
        failures=tuple(
            Failure(learning_id=each.learning_id, reason=each.error or "")
            for each in deliveries.every(db)
            if each.state == deliveries.FAILED
        ),
        capture=settings.capture,
        sessions=len(seen),
        last_event=_moment(max((each.last_at for each in seen), default=None)),
        wakes=wakes.number,
        oldest_wake=_moment(wakes.since),
        broken_wakes=spool.broken(spool.folder(str(settings.home))),
        reconciling=_is_reconciling(settings.capture_folder / LOCK),
        hook_error=_last_line(settings.capture_folder / HOOK_ERRORS),
        watched_files=sum(len(each.files) for each in watched),
        watched=watched,
        rules=tuple(Rule(project=one, path=two, verdict=three) for one, two, three in candidates.rules(db)),
        notices=tuple(
            Notice(
                kind=each.kind, subject=each.subject, detail=each.detail, at=datetime.fromtimestamp(each.at, UTC)
            )
            for each in sessions.notices(db)
        ),
    )


def _problems(found: Status, now: datetime) -> Iterator[Problem]:
    """What is wrong, then what waits for the person."""
    if not found.capture:
        yield Problem(message="capture is off, hooks do nothing", next="unset ORGMEM_CAPTURE or mend orgmem.toml")
    if not (found.sessions or found.wakes):
        yield Problem(message="no hook of an assistant has run yet", next="orgmem init --target claude-code")
    if found.hook_error:
        yield Problem(message=f"a hook failed: {found.hook_error}", next="orgmem capture doctor")
    late = found.oldest_wake and (now - found.oldest_wake).total_seconds() > PATIENCE_SECONDS
    if late and not found.reconciling:
        yield Problem(message=f"{_many(found.wakes, 'event')} not looked at yet", next="orgmem capture sync")
    if found.broken_wakes:
        message = f"{_many(found.broken_wakes, 'file')} in the spool can't be read as an event"
        yield Problem(message=message, next="orgmem capture doctor")
    for each in found.notices:
        if each.kind == "failed" and (now - each.at).total_seconds() < FRESH_SECONDS:
            yield Problem(message=f"{each.subject}: {each.detail}", next="orgmem capture doctor")
    yield from _of_deliveries(found)
    if found.pending:
        yield Problem(message=f"{_many(found.pending, 'edit')} to decide on", next="orgmem review")


def _of_deliveries(found: Status) -> Iterator[Problem]:
    if found.failures:
        message = f"{_many(len(found.failures), 'learning')} refused, the last: {found.failures[-1].reason}"
        yield Problem(message=message, next="orgmem capture sync --retry-failed")
    if found.last_error:
        count = found.queued + found.backfill.queued
        message = f"{_many(count, 'learning')} not delivered yet: {found.last_error}"
        yield Problem(message=message, next="orgmem capture sync")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


@contextmanager
def _one_moment(db: sqlite3.Connection) -> Iterator[None]:
    """Every query sees the same state, whatever another process writes meanwhile."""
    db.execute("begin")
    try:
        yield
    finally:
        db.execute("rollback")


def _way(counts: dict[str, int]) -> Way:
    queued, delivered, failed = (
        counts.get(state, 0) for state in (deliveries.QUEUED, deliveries.DELIVERED, deliveries.FAILED)
    )
    return Way(queued=queued, delivered=delivered, failed=failed)


def _watched(db: sqlite3.Connection) -> tuple[Watched, ...]:
    return tuple(
        Watched(root=each.root, project=each.project, files=_files(db, each.root))
        for each in replicas.checkouts(db)
    )


def _files(db: sqlite3.Connection, root: str) -> tuple[str, ...]:
    """Those that are there, by path; one whose present content can't be read is watched all the same."""
    return tuple(
        each.path
        for each in replicas.replicas_of(db, root)
        if each.content is not None or each.skipped is not None
    )


def _is_reconciling(lock: Path) -> bool:
    # Taken for an instant: a hook that comes just then leaves its wake for the next one to look at.
    if not lock.exists():
        return False
    with held(str(lock), 0.0) as free:
        return not free


def _last_line(log: Path) -> str | None:
    try:
        lines = log.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return None
    return lines[-1] if lines else None


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
