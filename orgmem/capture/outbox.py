"""The outbox: approved learnings as files, each there whole or not at all, until the other end has them.

Only what the database knows as approved leaves: a candidate's file says what its approval says, byte for byte;
that of a backfill's learning has the digest that was recorded with the approval. Everything else is set aside.
Whoever writes here holds the lock.
"""

import hashlib
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterable
from contextlib import AbstractContextManager, closing, suppress
from itertools import chain
from pathlib import Path

from orgmem.capture.drain import held
from orgmem.capture.faults import storable
from orgmem.capture.state import database, deliveries, sessions
from orgmem.errors import BusyError
from orgmem.identity import Clock, now
from orgmem.settings import Settings, ensure_home
from orgmem.store.atomic import TEMPORARY, write_atomically
from orgmem.store.staging import Staging, file_name
from schemas.learning import Learning

WAIT_SECONDS = 30.0
"""How long a verb waits for a delivery that is under way."""


class Outbox:
    """The files of a home's outbox, and of the folders beside it: `failed` and `foreign`."""

    def __init__(self, settings: Settings) -> None:
        """Look into this home's outbox, made for its owner only where it is missing.

        Raises:
            OSError: it can't be made.
        """
        self.folder = _made(settings.capture_folder / "outbox")
        self.failed = settings.capture_folder / "failed"
        self.foreign = settings.capture_folder / "foreign"
        self._longest = settings.max_row_bytes

    def read(self, name: str) -> bytes | None:
        """A file's bytes; none if it is not there, no plain file, not ours or too large for any learning."""
        try:
            handle = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        with os.fdopen(handle, "rb") as file:
            data = file.read(self._longest + 1) if _is_ours(os.fstat(handle)) else None
        return None if data is None or len(data) > self._longest else data

    def write(self, name: str, data: bytes) -> None:
        """Have a file say this.

        Raises:
            OSError: the disk is full or the folder can't be written.
        """
        if self.read(name) != data:
            write_atomically(self.folder / name, data)

    def drop(self, name: str) -> None:
        """The other end has it, or it must not leave after all."""
        (self.folder / name).unlink(missing_ok=True)

    def fail(self, name: str, reason: str) -> None:
        """Keep a file that was refused, and why, where a person can look at it."""
        write_atomically(_made(self.failed) / f"{name}.reason", f"{reason}\n".encode())
        with suppress(FileNotFoundError):
            (self.folder / name).replace(self.failed / name)

    def restore(self, learning_id: str) -> None:
        """Have a learning's refused files back, to be tried again."""
        for file in self.failed.glob(f"{learning_id}.*"):
            if file.suffix == ".reason":
                file.unlink(missing_ok=True)
            else:
                file.replace(self.folder / file.name)

    def set_aside(self, name: str) -> Path:
        """Keep a file whose approval is not known where nothing is sent from."""
        return (self.folder / name).replace(_made(self.foreign) / name)

    def sweep(self, db: sqlite3.Connection, moment: float) -> None:
        """Clear away what killed processes left, and what nobody has approved; only plain files stay."""
        self._settle_notices(db)
        numbers = {each.file: each.candidate for each in deliveries.backfilled(db)}
        for path in sorted(self.folder.iterdir()):
            if path.name.startswith(TEMPORARY):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            elif not _is_ours(path.lstat()):
                _tell(db, path, "no plain file of yours, so it is not sent", moment)
            else:
                self._settle(db, path.name, numbers.get(path.name), moment)

    def _settle(self, db: sqlite3.Connection, name: str, number: int | None, moment: float) -> None:
        """Keep a file that is to be sent; `number` is its delivery's, where it is a backfill's."""
        known = (number,) if number else deliveries.candidates_of(db, name.partition(".")[0])
        delivery = next(filter(None, (deliveries.find(db, each) for each in known)), None)
        if not known:
            _tell(db, self.set_aside(name), "was in the outbox, approved by nobody, so it was not sent", moment)
        elif delivery is None or delivery.state == deliveries.DELIVERED:
            self.drop(name)
        elif delivery.state == deliveries.FAILED:
            self.fail(name, delivery.error or "refused")

    def _settle_notices(self, db: sqlite3.Connection) -> None:
        """Forget those about files that are no longer there."""
        for each in sessions.notices(db):
            subject = Path(each.subject)
            if subject.parent in {self.folder, self.foreign} and not os.path.lexists(subject):
                sessions.settle(db, each.kind, each.subject)


def put(settings: Settings, learnings: Iterable[Learning], clock: Clock = now) -> int:
    """Queue approved learnings of a backfill, all or none; how many were not queued before.

    A killed one leaves files without an approval, which are never sent.

    Raises:
        BusyError: a delivery keeps the outbox.
        OSError: the disk is full or the folder can't be written.
        sqlite3.Error: the database can't be opened or written.
    """
    ensure_home(settings)
    with closing(database.connect(settings.capture_folder)) as db, locked(settings, WAIT_SECONDS) as mine:
        if not mine:
            raise BusyError("learnings are being delivered", "run the same command again")
        box, moment = Outbox(settings), clock().timestamp()
        box.sweep(db, moment)
        known = {each.file for each in deliveries.backfilled(db)}
        staging = Staging(settings)
        staging.folder = box.folder
        new: dict[str, tuple[str, str, str]] = {}
        with staging.batch() as batch:
            for each in learnings:
                batch.add(each)
                if (name := file_name(each)) not in known:
                    new.setdefault(name, (each.id, name, digest_of(each.model_dump_json().encode())))
            batch.publish(frozenset(chain.from_iterable(batch.names[name] for name in known & batch.names.keys())))
        try:
            deliveries.add_backfilled(db, tuple(new.values()), moment)
        except BaseException:
            for name in new:
                box.drop(name)
            raise
        for learning_id, _, _ in new.values():
            sessions.settle(db, "lost", learning_id)
    return len(new)


def retry_failed(db: sqlite3.Connection, settings: Settings, clock: Clock) -> int:
    """Have everything that was refused tried again; how many those are.

    Raises:
        BusyError: a delivery keeps the outbox.
        OSError: the outbox can't be written.
    """
    with locked(settings, WAIT_SECONDS) as mine:
        if not mine:
            raise BusyError("learnings are being delivered", "run the same command again")
        box = Outbox(settings)
        refused = [each for each in deliveries.every(db) if each.state == deliveries.FAILED]
        for each in refused:
            box.restore(each.learning_id)
            deliveries.requeue(db, each.candidate, clock().timestamp())
    return len(refused)


def locked(settings: Settings, wait: float) -> AbstractContextManager[bool]:
    """The outbox for one process at a time, waited for so many seconds; whether it was to be had."""
    return held(str(settings.capture_folder / "deliver.lock"), wait)


def digest_of(data: bytes) -> str:
    """As the approval of a backfill's learning records it."""
    return hashlib.sha256(data).hexdigest()


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        folder.chmod(0o700)
    return folder


def _is_ours(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()


def _tell(db: sqlite3.Connection, path: Path, detail: str, moment: float) -> None:
    sessions.notify(db, "skipped", storable(str(path)), detail, moment)
