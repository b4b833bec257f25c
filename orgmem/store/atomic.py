"""Files that are there whole or not at all."""

import os
import secrets
from pathlib import Path

TEMPORARY = ".tmp-"
"""Prefix of a file that is being written; readers pass it over."""


def to_disk(path: Path) -> None:
    """Have a file's bytes, or a folder's names, outlast a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomically(path: Path, data: bytes) -> None:
    """Write beside the target, fsync, rename. A reader never sees a part, a crash leaves the old file or the new.

    Raises:
        OSError: the disk is full or the folder can't be written; nothing is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{TEMPORARY}{secrets.token_hex(6)}-{path.name}")
    try:
        with aside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        to_disk(path.parent)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
