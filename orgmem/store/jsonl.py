"""JSON Lines, plain or gzipped, line by line in bounded memory whatever the lines' length."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from orgmem.errors import InputError, NotFoundError

_BLOCK = 1 << 16
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line that is not blank, without its end."""

    number: int
    """One-based, blank lines counted."""
    data: bytes
    """The line, or the beginning of a line that is too long."""
    size: int
    """Bytes of the whole line."""
    sha256: str
    """Of the whole line."""

    @property
    def whole(self) -> bool:
        """Whether `data` is all of it."""
        return len(self.data) == self.size


def read_lines(path: Path, longest: int) -> Iterator[Line]:
    """The lines of a file; of one over `longest` bytes only the beginning.

    Raises:
        NotFoundError: there is no such file.
        InputError: it is a folder, can't be read, is binary, or its gzip is damaged or cut off.
    """
    with _opened(path) as file:
        if b"\0" in file.peek(_BLOCK)[:_BLOCK]:
            raise InputError(f"{path} is binary, not JSON Lines", f"head -c 200 {path}")
        number = 0
        while line := _next_line(file, number + 1, longest):
            number += 1
            if line.data.strip():
                yield line


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedReader]:
    try:
        with path.open("rb") as raw:
            packed = raw.peek(2)[:2] == _GZIP
            unpacked = gzip.GzipFile(fileobj=raw) if packed else cast("BinaryIO", raw)
            yield io.BufferedReader(cast("io.RawIOBase", unpacked), _BLOCK)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}", f"ls {path.parent}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a JSON Lines file", f"ls {path}") from None
    except PermissionError:
        raise InputError(f"no right to read {path}", f"ls -l {path}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path} is damaged gzip, or cut off", f"gzip -t {path}") from None


def _next_line(file: io.BufferedReader, number: int, longest: int) -> Line | None:
    head = file.readline(longest + 1)
    if not head:
        return None
    if head.endswith(b"\n") or len(head) <= longest:
        data = head.rstrip(b"\r\n").removeprefix(_BOM if number == 1 else b"")
        return Line(number, data, len(data), hashlib.sha256(data).hexdigest())
    whole, size = hashlib.sha256(head), len(head)
    while part := file.readline(_BLOCK):
        whole.update(part)
        size += len(part)
        if part.endswith(b"\n"):
            break
    return Line(number, head[:longest], size, whole.hexdigest())
