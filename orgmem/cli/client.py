"""The client's database, as the verbs that look at it open it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from orgmem.errors import BusyError, StoreError
from orgmem.settings import Settings


@contextmanager
def client_database(settings: Settings, again: str) -> Iterator[sqlite3.Connection]:
    """The client's database; an empty one, in memory, where nothing was captured yet.

    `again` is the command to run once it is free.

    Raises:
        BusyError: another process keeps it.
        StoreError: it can't be opened, read or written.
    """
    from orgmem.capture.state import database

    try:
        if (settings.capture_folder / "capture.db").exists():
            db = database.connect(settings.capture_folder)
        else:
            db = sqlite3.connect(":memory:", isolation_level=None)
            db.executescript(f"{database.TABLES}pragma user_version={database.SCHEMA}")
        with closing(db):
            yield db
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
            waited = f"{database.WAIT_SECONDS:.0f} s"
            raise BusyError(f"another process has kept capture.db for {waited}", again) from error
        raise unusable(error) from error


def unusable(error: sqlite3.Error) -> StoreError:
    """The database can't be opened, read or written."""
    return StoreError(f"capture.db can't be used: {error}", "orgmem capture doctor")
