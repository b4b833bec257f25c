"""Real git repositories for tests of capture."""

import os
import subprocess
from pathlib import Path

ME, COLLEAGUE = "me@example.com", "colleague@example.com"
LONG_AGO = 1_600_000_000
"""Seconds since 1970: when old commits are made."""


def git(folder: Path, *arguments: str, author: str = ME, at: int | None = None) -> str:
    """Standard output of git, run in a folder by an author at a moment (now, if none is given)."""
    moment = {} if at is None else {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
    who = {
        "GIT_AUTHOR_NAME": "A",
        "GIT_COMMITTER_NAME": "A",
        "GIT_AUTHOR_EMAIL": author,
        "GIT_COMMITTER_EMAIL": author,
    }
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env=plain | who | moment | {"GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "GIT_EDITOR": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
    return done.stdout.strip()


def repository(folder: Path, remote: str | None = None) -> Path:
    """A new repository on branch main, of a user whose address is ME."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.email", ME)
    git(folder, "config", "commit.gpgsign", "false")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def commit(folder: Path, files: dict[str, str | bytes | None], *, author: str = ME, at: int | None = None) -> str:
    """Write files (None: remove) and commit them; the commit's id."""
    for name, text in files.items():
        file = folder / name
        if text is None:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    git(folder, "--literal-pathspecs", "add", "--all", "--", *files)
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "change", author=author, at=at)
    return git(folder, "rev-parse", "HEAD")
