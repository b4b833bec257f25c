"""Reads memory files: regular ones only, never more than asked for, never half of a write.

Text is what differs: line ends, byte order marks and blanks that no reader sees don't make a learning, and what
stands between our own markers is no part of it.
"""

import os
import re
import stat
import time
from typing import NamedTuple

from orgmem.capture.state.replicas import Stamp

ATTEMPTS = 5
"""How often a file is read that is being written meanwhile."""
PAUSE_SECONDS = 0.02
"""Between two attempts, and how long a file must have been left alone: truncating and writing are two steps."""

BEGIN, END = "<!-- orgmem:begin", "<!-- orgmem:end"
"""How the lines around text that orgmem has put into a memory file start."""

_CAUTIOUS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_MOST_NULS = 0.1
"""Share of NUL characters above which a file is binary, or UTF-16 without a mark."""
_FRONTMATTER = re.compile(r"\s*---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_USER_TYPE = re.compile(r"^[ \t]*[\"']?type[\"']?[ \t]*:[ \t]*[\"']?user[\"']?[ \t]*(?:#.*)?$", re.MULTILINE)


class Content(NamedTuple):
    """A file's bytes, and the stamp that they had before and after they were read."""

    data: bytes
    stamp: Stamp


class Skipped(NamedTuple):
    """A file that is there, and why it was not read."""

    reason: str
    stamp: Stamp


class Missing(NamedTuple):
    """There is no file of this real path: gone, or a folder or a symlink has taken its place."""

    def __bool__(self) -> bool:
        """True, although it holds nothing."""
        return True


def read(real_path: str, longest: int) -> Content | Skipped | Missing:
    """The file's content, of at most `longest` bytes. Devices, pipes and sockets are not even opened."""
    try:
        if os.path.realpath(real_path) != real_path:
            return Missing()
        for _ in range(ATTEMPTS):
            found = os.lstat(real_path)
            outcome = _unfit(found, longest) or _read_whole(real_path, longest)
            if outcome is not None:
                return outcome
            time.sleep(PAUSE_SECONDS)
        return Skipped("it changes while it is read", _stamp(found))
    except (FileNotFoundError, NotADirectoryError):
        return Missing()
    except (OSError, ValueError) as error:  # ValueError: NUL in the path
        return Skipped(f"it can't be read: {_reason(error)}", _stamp_of(real_path))


def text_of(data: bytes) -> str | None:
    """Bytes as text with LF line ends: UTF-8 with or without a byte order mark, UTF-16 with one. None: no text."""
    mark, encoding = next((each for each in _BOMS if data.startswith(each[0])), (b"", "utf-8"))
    try:
        text = data.removeprefix(mark).decode(encoding)
    except UnicodeDecodeError:
        return None
    if text.count("\0") > _MOST_NULS * len(text):
        return None
    return text.replace("\r\n", "\n")


def essence(text: str) -> str:
    """What must differ for an edit to be a learning: the lines without what no reader sees.

    That is a byte order mark, space at line ends, and blank lines at the end.
    """
    return "\n".join(line.rstrip() for line in text.removeprefix("\ufeff").rstrip().split("\n"))


def without_our_block(text: str) -> str:
    """The text without what stands between our markers, and without the markers.

    A marker is a line of its own, in a code block too. An end closes the last open beginning, so nested blocks go
    with the outer one; a beginning without end, and an end without beginning, are text: hiding all that follows
    would lose edits. Of blank lines on both sides of a block, one stays.
    """
    kept: list[str] = []
    open_at: list[int] = []
    closed = False
    for line in text.splitlines(keepends=True):
        if closed and not line.strip() and (not kept or not kept[-1].strip()):
            closed = False
            continue
        closed = False
        mark = line.strip()
        if mark.startswith(BEGIN) and mark.endswith("-->"):
            open_at.append(len(kept))
        if open_at and mark.startswith(END) and mark.endswith("-->"):
            del kept[open_at.pop() :]
            closed = True
        else:
            kept.append(line)
    return "".join(kept)


def is_personal(text: str) -> bool:
    """Whether a memory's frontmatter says that it is about the user: `type: user`."""
    head = _FRONTMATTER.match(text)
    return head is not None and _USER_TYPE.search(head[1]) is not None


def _unfit(found: os.stat_result, longest: int) -> Skipped | Missing | None:
    if stat.S_ISDIR(found.st_mode) or stat.S_ISLNK(found.st_mode):
        return Missing()
    if not stat.S_ISREG(found.st_mode):
        return Skipped("it is not a regular file", _stamp(found))
    if found.st_size > longest:
        return Skipped(f"it has {found.st_size:,} bytes, at most {longest:,} are read", _stamp(found))
    return None


def _read_whole(real_path: str, longest: int) -> Content | None:
    """The content, if nobody wrote meanwhile or just before."""
    handle = os.open(real_path, _CAUTIOUS)
    with os.fdopen(handle, "rb") as file:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            return None
        data = file.read(longest + 1)
        after = os.fstat(handle)
    age = time.time() - after.st_mtime
    if _stamp(before) != _stamp(after) or len(data) != after.st_size or 0 <= age < PAUSE_SECONDS:
        return None
    return Content(data, _stamp(after))


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(found.st_mtime_ns, found.st_size, found.st_ino)


def _stamp_of(path: str) -> Stamp:
    """The stamp of a file that can't be read; zeros where not even that is known."""
    try:
        return _stamp(os.lstat(path))
    except (OSError, ValueError):
        return Stamp(0, 0, 0)


def _reason(error: OSError | ValueError) -> str:
    """An error in a few words, without the path."""
    return (getattr(error, "strerror", None) or str(error)).lower()
