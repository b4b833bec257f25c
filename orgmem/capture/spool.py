"""The spool: wakes that hooks have left and no reconcile has worked off yet, a file each.

hook.py writes them; it doesn't import this, as typing's import costs more than all that a hook does.
"""

# pathlib's import is not free, and most wakes need no more than this.
# ruff: noqa: PTH103, PTH105, PTH108, PTH116, PTH118, PTH123, PTH208
import os
import time
from contextlib import suppress
from typing import NamedTuple

from orgmem.capture.hook import CAPTURE, FORMAT, MOST_KEPT, SPOOL, SUFFIX

BROKEN = "broken"
"""Folder in the spool for files that are no wakes."""
MOST_AT_ONCE = 64 * 2**20
"""Bytes after which the next wakes have to wait for another call."""
_LONGEST = MOST_KEPT + 2**20
"""Bytes of a wake's file: a payload, and more than paths and variables take."""
_FIELDS, _DIGITS = 7, 20
_ABANDONED_SECONDS = 3600.0


class Wake(NamedTuple):
    """What a hook was told, and where."""

    file: str
    """Name in the spool; names sort by time."""
    event: str
    """As the command line names it; may be empty."""
    cwd: str
    """Empty where the folder was gone."""
    project_dir: str
    entrypoint: str
    """How the assistant was started; `cli` in a terminal. Empty where it doesn't say."""
    at: float
    """Seconds since 1970."""
    payload: bytes
    """As it came."""
    whole: bool
    """Whether that is all: it was not too long, and stdin ended."""


def folder(home: str) -> str:
    """The spool of a home; it need not be there."""
    return os.path.join(home, CAPTURE, SPOOL)


def wakes(folder: str) -> tuple[Wake, ...]:
    """Wakes that wait, oldest first, so many as fit into memory. A file that is no wake is put aside."""
    found: list[Wake] = []
    length = 0
    for name in sorted(_names(folder)):
        if name.startswith("."):
            _sweep(os.path.join(folder, name))
            continue
        try:
            content = _content(os.path.join(folder, name))
        except FileNotFoundError:
            continue  # another process was quicker
        if wake := unpacked(name, content) if name.endswith(SUFFIX) else None:
            found.append(wake)
            length += len(content)
            if length >= MOST_AT_ONCE:
                break
        else:
            _put_aside(folder, name)
    return tuple(found)


def unpacked(name: str, content: bytes) -> Wake | None:
    """The wake that a file of this name and content holds; the inverse of `hook.packed`."""
    form, *fields = content.split(b"\0", _FIELDS + 1)
    if form != FORMAT or len(fields) != _FIELDS + 1:
        return None
    payload = fields.pop()
    event, cwd, project_dir, entrypoint, at, whole, length = map(os.fsdecode, fields)
    if not (at.isdecimal() and len(at) <= _DIGITS and whole in ("0", "1") and length == str(len(payload))):
        return None
    return Wake(name, event, cwd, project_dir, entrypoint, int(at) / 1e9, payload, whole == "1")


def drop(folder: str, wake: Wake) -> None:
    """Forget a wake that was worked off."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, wake.file))


def broken(folder: str) -> int:
    """How many files were put aside, since they were no wakes."""
    return len(_names(os.path.join(folder, BROKEN)))


def _names(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name != BROKEN]
    except FileNotFoundError:
        return []


def _content(file: str) -> bytes:
    """The file's bytes; those of something that can't be a wake's file are no wake."""
    try:
        with open(file, "rb") as source:
            content = source.read(_LONGEST + 1)
    except FileNotFoundError:
        raise
    except OSError:
        return b""
    return content if len(content) <= _LONGEST else b""


def _sweep(file: str) -> None:
    """Remove what a hook that was killed while it wrote has left behind: nobody could read it."""
    with suppress(OSError):
        if os.stat(file).st_mtime < time.time() - _ABANDONED_SECONDS:
            os.unlink(file)


def _put_aside(folder: str, name: str) -> None:
    aside = os.path.join(folder, BROKEN)
    with suppress(OSError):
        os.makedirs(aside, mode=0o700, exist_ok=True)
        os.replace(os.path.join(folder, name), os.path.join(aside, name))
