"""Git as a process that reads a repository and runs nothing that the repository brings along.

No hook, no file system monitor, no text filter, no signature program, no fetch, whatever its configuration says.
"""

import os
import subprocess
import tempfile
from typing import IO, NamedTuple, Self

from orgmem.errors import InputError, NotFoundError

_SAFE = (
    "--no-pager", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "log.showRoot=true",
    "-c", "core.quotePath=false",
)  # fmt: skip
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone must not fetch what it lacks
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
CHUNK = 1 << 20


class TooLarge(NamedTuple):
    """A version of a file that is over the limit."""

    size: int


class Lost(NamedTuple):
    """A version of a file that this clone does not have, or not intact."""


Content = bytes | TooLarge | Lost | None
"""A version of a file; none: there was no file."""


class Git:
    """A git process on a git folder, its output read as it comes; it ends with the block."""

    def __init__(self, folder: str, *words: str, talks: bool = False) -> None:
        """Start it.

        Raises:
            NotFoundError: git is not installed.
        """
        self._folder = folder
        self._command = ("git", f"--git-dir={folder}", *_SAFE, *words)
        self._stdin = subprocess.PIPE if talks else subprocess.DEVNULL
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the block; a pipe could fill up
        try:
            self._process = self._start()
        except FileNotFoundError:
            self._complaints.close()
            raise NotFoundError("git is not installed, or not on PATH", "install git") from None

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - no shell, our own words, the user's own git
            self._command,
            stdin=self._stdin,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            cwd="/",
            env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _VARIABLES,
        )

    @property
    def output(self) -> IO[bytes]:
        """What it prints."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def input(self) -> IO[bytes]:
        """What it reads."""
        assert self._process.stdin is not None
        return self._process.stdin

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the process.

        Raises:
            InputError: it failed.
        """
        with self._complaints as complaints:
            if kind:
                self._process.kill()
            self._process.communicate()
            complaints.seek(0)
            if self._process.returncode and not kind:
                said = complaints.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
                raise InputError(f"git can't read {self._folder}: {said or 'it broke off'}", "git fsck")


class Blobs(Git):
    """The contents of blobs, asked for one by one."""

    def __init__(self, folder: str, longest: int) -> None:
        super().__init__(folder, "cat-file", "--batch", talks=True)
        self._longest = longest

    def read(self, blob: str | None) -> Content:
        """A blob's content, or why there is none."""
        try:
            return None if blob is None else self._asked(blob)
        except BrokenPipeError:
            # Git ends when it may not fetch what a partial clone lacks, or when a blob is damaged.
            self._process.communicate()
            self._process = self._start()
            return Lost()

    def _asked(self, blob: str) -> Content:
        self.input.write(blob.encode() + b"\n")
        self.input.flush()
        answer = self.output.readline().split()
        if not answer:
            raise BrokenPipeError
        if answer[1] != b"blob":
            return Lost()
        size = int(answer[2])
        if size <= self._longest:
            return self._exactly(size + 1)[:-1]
        for start in range(0, size + 1, CHUNK):
            self._exactly(min(CHUNK, size + 1 - start))
        return TooLarge(size)

    def _exactly(self, count: int) -> bytes:
        data = self.output.read(count)
        if len(data) != count:
            raise BrokenPipeError
        return data
