"""Reads a git repository: its folders and its HEAD from files, all else from the git program.

What is read may be anybody's clone, so git runs with a bound on time, no shell, no lock, no network, and nothing
of its configuration that starts a program. The folder is named to it: it does not search, and does not refuse a
repository of another owner. Where git is missing, fails or takes too long, the answer is None.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

SECONDS = 10.0
"""How long one call of git may take."""
LONGEST_BLOB = 16 * 1024 * 1024
"""Bytes of a file in HEAD above which it is not read."""

_SAFE = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.quotePath=false")
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_REFS = 5
"""Symbolic references that are followed, as in git."""
_MADE_HERE = re.compile(r"commit\b")
_PLAIN_FIELDS = 4
"""Id, time, author and one parent."""


class Commit(NamedTuple):
    """A commit as `log` tells it."""

    id: str
    author: str
    """E-mail address, in lower case."""
    at: int
    """When it was committed, seconds since 1970."""
    is_merge: bool


def run(folder: str, *arguments: str) -> bytes | None:
    """Standard output of git on a git folder (`.git`, not the working tree); None if it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ("git", f"--git-dir={folder}", *_SAFE, *arguments)
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and paths follow `--`
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            env=environment | _VARIABLES,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout


def folder_of(root: str) -> str | None:
    """The git folder of a working tree: its `.git`, or the folder that a `.git` file names. Else None.

    A `.git` file counts although its folder is missing, as in a container that holds only the worktree.
    """
    inside = Path(root, ".git")
    if is_repository(inside):
        return os.path.realpath(inside)
    named = text_of(inside) if inside.is_file() else None
    if named is None or not named.startswith("gitdir:"):
        return None
    return os.path.realpath(Path(root, named.removeprefix("gitdir:").strip()))


def is_repository(folder: str | Path) -> bool:
    """Whether a folder is a git folder or a bare repository."""
    here = Path(folder)
    return os.path.lexists(here / "HEAD") and (here / "objects").is_dir() and (here / "refs").is_dir()


def shared_folder(folder: str) -> str:
    """The folder that all worktrees of a repository share."""
    named = text_of(Path(folder, "commondir"))
    return os.path.realpath(Path(folder, named.strip())) if named else folder


def head(folder: str) -> str | None:
    """Id of the commit that HEAD is; None before the first one."""
    name, common = "HEAD", shared_folder(folder)
    for _ in range(_MOST_REFS):
        value = (text_of(Path(folder, name)) or text_of(Path(common, name)) or "").strip()
        if not value.startswith("ref:"):
            return value if _COMMIT.fullmatch(value) else _packed(common, name)
        name = value.removeprefix("ref:").strip()
        if name == "refs/heads/.invalid":  # what the newer reference storage leaves here for older readers
            return _commit(run(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"))
    return None


def blob(folder: str, commit: str, path: str) -> bytes | None:
    """The content of a regular file in a commit, as git stores it; None if there is none."""
    listed = run(folder, "ls-tree", "-l", "-z", "--full-tree", commit, "--", path)
    mode, kind, name, size = (listed or b"").partition(b"\t")[0].decode().split() or ("", "", "", "")
    if kind != "blob" or mode == "120000" or int(size) > LONGEST_BLOB:
        return None
    return run(folder, "cat-file", "blob", name)


def commits(folder: str, path: str, since: str | None, until: str) -> tuple[Commit, ...] | None:
    """The commits that touch a path and that `until` has over `since`, but for those that are rebased ones of it.

    Without `since`, or where git doesn't know it any more, the last one alone.
    """
    span = ("--right-only", "--cherry-pick", f"{since}...{until}") if since else ("-1", until)
    told = run(folder, "log", "--no-show-signature", "--format=%H %ct %ae %P", "-z", *span, "--", path)
    if told is None:
        return commits(folder, path, None, until) if since else None
    entries = (entry.split(" ") for entry in told.decode("utf-8", "replace").split("\0") if entry)
    return tuple(Commit(each[0], each[2].lower(), int(each[1]), len(each) > _PLAIN_FIELDS) for each in entries)


def made_here(folder: str) -> frozenset[str] | None:
    """Ids of the commits made in this working tree, as far as its log of HEAD goes back; None if it keeps none."""
    log = text_of(Path(folder, "logs", "HEAD"))
    if log is None:
        return None
    entries = (line.partition("\t") for line in log.split("\n"))
    return frozenset(ids.split(" ")[1] for ids, _, what in entries if _MADE_HERE.match(what))


def own_address(folder: str) -> str:
    """The user's e-mail address, in lower case; empty if git was not told."""
    return (run(folder, "config", "user.email") or b"").decode("utf-8", "replace").strip().lower()


def text_of(path: Path) -> str | None:
    """A regular file of a git folder as text; None if there is none or it can't be read."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape") if path.is_file() else None
    except (OSError, ValueError):
        return None


def _packed(common: str, name: str) -> str | None:
    for line in (text_of(Path(common, "packed-refs")) or "").split("\n"):
        commit, _, ref = line.partition(" ")
        if ref == name and _COMMIT.fullmatch(commit):
            return commit
    return None


def _commit(told: bytes | None) -> str | None:
    value = (told or b"").decode("ascii", "replace").strip()
    return value if _COMMIT.fullmatch(value) else None
