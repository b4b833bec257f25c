"""Histories with a commit a day, for tests of what is read from them."""

from pathlib import Path

from tests.capture.repositories import git, repository

DAY = 86_400
FIRST = 1_767_225_600
"""2026-01-01, seconds since 1970: day 0."""


class Work:
    """A working tree; its first commit is of day 1."""

    def __init__(self, folder: Path, remote: str | None = None) -> None:
        self.folder = repository(folder, remote)
        self.day = 0

    def git(self, *words: str, at: int | None = None) -> str:
        """Standard output of git here."""
        return git(self.folder, *words, at=at)

    def commit(
        self, files: dict[str, str | bytes | None], *, author: int | None = None, day: int | None = None
    ) -> str:
        """Write files (None: remove) and commit everything; returns the commit's id.

        `author` is the author's date in seconds since 1970, the commit's if none is given.
        """
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.day = self.day + 1 if day is None else day
        made = FIRST + self.day * DAY
        self.git("add", "--all")
        date = made if author is None else author
        self.git("commit", "--quiet", "--allow-empty", "-m", "a commit", f"--date={date} +0200", at=made)
        return self.git("rev-parse", "HEAD")
