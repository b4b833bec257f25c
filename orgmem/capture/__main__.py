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
    """Work off the spool of this home, unless another process does; then deliver, when the lock is free again."""
    from orgmem.capture.afterwards import afterwards, lay_out

    home = os.path.abspath(os.path.expanduser(os.environ.get(HOME) or "~/.orgmem"))
    folder = os.path.join(home, "capture")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    try:
        db = database.connect(folder)
    except sqlite3.Error as error:
        lay_out(folder, f"orgmem captures nothing: capture.db: {error}; orgmem capture doctor")
        return
    try:
        means = Means(db, home, _settings, time.time)
        if take_turns(home, lambda: not drain(means).stuck, wait=PATIENCE_SECONDS):
            afterwards(means)
    finally:
        db.close()


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
