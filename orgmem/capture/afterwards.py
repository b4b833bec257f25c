"""What follows a reconcile: faults of hooks become notices, what is due is delivered, a warning is laid out.

The reconcile's lock is free again by then: a server that does not answer keeps no edit waiting.
"""

# pathlib's import is not free, and most wakes need no more than this.
# ruff: noqa: PTH105, PTH108, PTH118, PTH123
import json
import os
from contextlib import suppress
from datetime import UTC, datetime

from orgmem.capture import hook
from orgmem.capture.drain import Means
from orgmem.capture.faults import reason_of, storable
from orgmem.capture.state import counted, deliveries, sessions
from orgmem.capture.warning import warning

HOOK_ERRORS = hook.ERRORS
_LONGEST = 300
"""Characters of a fault's line that a notice keeps."""


def afterwards(means: Means) -> int:
    """Do all that; returns how many learnings were delivered."""
    _tell_of_hooks(means)
    delivered = 0
    if deliveries.due(means.db, means.now()) or counted.wait(means.db, means.now()):
        try:
            delivered = _deliver(means)
            sessions.settle(means.db, "failed", "delivery")
        except Exception as error:  # noqa: BLE001 - whatever the other end or our settings are: status says so
            sessions.notify(means.db, "failed", "delivery", reason_of(error), means.now())
    _lay_out_warning(means)
    return delivered


def lay_out(folder: str, warning: str | None) -> None:
    """Write what the SessionStart hook prints, whole or not at all, or remove it.

    A `systemMessage` reaches the user, and not the model.
    """
    file = os.path.join(folder, hook.WARNING)
    if warning is None:
        with suppress(FileNotFoundError):
            os.unlink(file)
        return
    aside = f"{file}.{os.getpid()}.tmp"
    with open(aside, "w", encoding="utf-8") as out:
        json.dump({"systemMessage": storable(warning)}, out)
    os.replace(aside, file)


def _deliver(means: Means) -> int:
    from orgmem.capture.deliver import deliver

    return deliver(means.db, means.settings(), lambda: datetime.fromtimestamp(means.now(), UTC)).delivered


def _lay_out_warning(means: Means) -> None:
    with suppress(OSError):  # a full disk is said by what has failed before
        lay_out(means.folder, warning(means.db, means.now()))


def _tell_of_hooks(means: Means) -> None:
    """Keep the last line that a failing hook left behind as a notice, then take the file away."""
    file = os.path.join(means.folder, HOOK_ERRORS)
    try:
        with open(file, encoding="utf-8", errors="replace") as log:
            lines = log.read().strip().splitlines()
    except OSError:
        return
    if lines:
        sessions.notify(means.db, "failed", "orgmem-hook", lines[-1][:_LONGEST], means.now())
    with suppress(OSError):
        os.unlink(file)
