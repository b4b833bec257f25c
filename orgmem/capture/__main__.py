"""`python -P -m orgmem.capture`: the detached process that a hook starts. It prints nothing.

ORGMEM_HOME says where; ORGMEM_CAPTURE is off, so that what it starts is not captured.
"""

# pathlib's import is not free, and most wakes need no more than this.
# ruff: noqa: PTH100, PTH103, PTH111, PTH118
import os
import sqlite3
import time
from typing import TYPE_CHECKING

from orgmem.capture.drain import Means, drain, take_turns
from orgmem.capture.state import database

if TYPE_CHECKING:
    from orgmem.settings import Settings

HOME, CAPTURE = "ORGMEM_HOME", "ORGMEM_CAPTURE"
PATIENCE_SECONDS = 0.2
"""A hook, and status, take the lock for an instant to see whether it is free."""


def main() -> None:
    """Work off the spool of this home, unless another process does."""
    home = os.path.abspath(os.path.expanduser(os.environ.get(HOME) or "~/.orgmem"))
    os.makedirs(os.path.join(home, "capture"), mode=0o700, exist_ok=True)
    take_turns(home, lambda: work(home), wait=PATIENCE_SECONDS)


def work(home: str) -> bool:
    """Empty the spool and do what follows; false: a fault keeps the wakes, so don't try again at once."""
    from orgmem.capture.afterwards import afterwards, lay_out

    try:
        db = database.connect(os.path.join(home, "capture"))
    except sqlite3.Error as error:
        lay_out(
            os.path.join(home, "capture"), f"orgmem captures nothing: capture.db: {error}; orgmem capture doctor"
        )
        return False
    try:
        means = Means(db, home, _settings, time.time)
        drained = drain(means)
        afterwards(means)
    finally:
        db.close()
    return not drained.stuck


def _settings() -> "Settings":
    """The person's settings: that capture is off here is our own doing."""
    from orgmem.settings import Settings

    ours = os.environ.pop(CAPTURE, None)
    try:
        return Settings.load()
    finally:
        if ours is not None:
            os.environ[CAPTURE] = ours


if __name__ == "__main__":
    main()
