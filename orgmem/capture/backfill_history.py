"""What a repository's commits did to its memory files.

Every commit on the way to HEAD but merges, parents before children and otherwise by commit time. What a merge
brings was edited in the commits that it joins; a commit after it is compared with the merge itself.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import IO, NamedTuple

from orgmem.capture import git
from orgmem.capture.backfill_git import CHUNK, Blobs, Content, Git
from orgmem.capture.memory_file import essence, text_of
from orgmem.capture.project import project_of
from orgmem.errors import InputError, NotFoundError

_LOG = (
    "log", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-merges", "--date-order", "--reverse", "--no-color",
    "--no-notes", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-relative", "--no-mailmap",
    "--ignore-submodules=all", "--format=%x1e%H %at %ct",
)  # fmt: skip
_MARK = b"\x1e"
_REGULAR = (b"100644", b"100755")
SIMILAR = 0.5
"""Share of lines that a removed and an added file must have in common to be one that was renamed; as in git."""


class Revision(NamedTuple):
    """What one commit did to one memory file."""

    commit: str
    written_at: int
    """When the author made it; seconds since 1970."""
    committed_at: int
    path: str
    """Inside the repository, forward slashes; after the commit."""
    before: Content
    after: Content


class Repository(NamedTuple):
    """A git repository with at least one commit."""

    root: str
    """The working tree's folder, or the bare repository."""
    folder: str
    """The git folder."""
    project: str
    """Identity of the project."""
    head: str
    """Commit id."""
    boundary: frozenset[str]
    """Commits of a shallow clone whose parents are cut off."""


class _Entry(NamedTuple):
    """A changed path of a commit; object ids are none where there is no regular file."""

    path: str
    before: str | None
    after: str | None


def open_repository(place: Path) -> Repository:
    """The repository in which a folder lies, or that it is.

    Raises:
        NotFoundError: there is no such folder, or it is in no repository.
        InputError: the repository has no commit yet.
    """
    if not place.is_dir():
        raise NotFoundError(f"there is no folder {place}", "orgmem backfill FOLDER")
    place = place.resolve()
    for root in map(str, (place, *place.parents)):
        folder = git.folder_of(root) or (root if git.is_repository(root) else None)
        if folder:
            break
    else:
        raise NotFoundError(f"{place} is in no git repository", "orgmem backfill FOLDER")
    if (head := git.head(folder)) is None:
        raise InputError(f"the repository in {root} has no commit yet", "commit a memory file first")
    common = git.shared_folder(folder)
    return Repository(root, folder, project_of(common), head, _boundary(common))


def _boundary(common: str) -> frozenset[str]:
    try:
        return frozenset(Path(common, "shallow").read_text(encoding="ascii").split())
    except FileNotFoundError:
        return frozenset()


def revisions(
    repository: Repository, wanted: Callable[[str], bool], longest: int, note: Callable[[int], None]
) -> Iterator[Revision]:
    """Revisions of the files whose path is `wanted`, with contents of at most `longest` bytes.

    A file that was removed and came back under another name in the same commit is one that was renamed. At a
    shallow clone's boundary nothing is known of what was before, so that the files there are no news.
    `note` is told the number of commits read so far.
    """
    with Blobs(repository.folder, longest) as blobs:
        for commit, written, committed, entries in _commits(repository, wanted, note):
            if commit in repository.boundary:
                continue
            for path, before, after in _paired(entries, blobs):
                yield Revision(commit, written, committed, path, before, after)


def _commits(
    repository: Repository, wanted: Callable[[str], bool], note: Callable[[int], None]
) -> Iterator[tuple[str, int, int, list[_Entry]]]:
    """(commit, author's and committer's time, wanted entries) of each commit that has any."""
    count = 0
    head: tuple[str, int, int] | None = None
    entries: list[_Entry] = []
    with Git(repository.folder, *_LOG, repository.head, "--") as log:
        parts = _parts(log.output)
        for part in parts:
            if part.startswith(_MARK):
                if head and entries:
                    yield *head, entries
                count += 1
                note(count)
                commit, written, committed = part[1:].split()
                head, entries = (commit.decode(), int(written), int(committed)), []
            elif part.startswith(b":"):
                path = os.fsdecode(next(parts))
                if wanted(path):
                    entries.append(_entry(part, path))
    if head and entries:
        yield *head, entries


def _entry(raw: bytes, path: str) -> _Entry:
    """`:mode mode id id status`: symlinks and submodules count as no file."""
    old_mode, new_mode, old, new, _ = raw[1:].split(b" ")
    before = old.decode() if old_mode in _REGULAR else None
    return _Entry(path, before, new.decode() if new_mode in _REGULAR else None)


def _parts(stream: IO[bytes]) -> Iterator[bytes]:
    """The output's parts between NULs; a line end before a part is git's."""
    rest = b""
    while chunk := stream.read(CHUNK):
        *parts, rest = (rest + chunk).split(b"\0")
        yield from (part.lstrip(b"\n") if part[:2] == b"\n:" else part for part in parts)


def _paired(entries: Iterable[_Entry], blobs: Blobs) -> Iterator[tuple[str, Content, Content]]:
    """(path, before, after) of each entry with a file on either side; before may be another name's."""
    kept = [each for each in entries if each.before != each.after]
    removed = {each.path: each for each in kept if each.after is None}
    for each in (each for each in kept if each.after is not None):
        after = blobs.read(each.after)
        former = None if each.before else _former(each, after, removed.values(), blobs)
        if former:
            del removed[former.path]
        yield each.path, blobs.read((former or each).before), after
    for each in removed.values():
        yield each.path, blobs.read(each.before), None


def _former(added: _Entry, after: Content, removed: Iterable[_Entry], blobs: Blobs) -> _Entry | None:
    """The removed file that an added one was: the same content, or the most similar one."""
    best, found = SIMILAR, None
    for each in removed:
        if each.before == added.after:
            return each
        before = blobs.read(each.before)
        if isinstance(before, bytes) and isinstance(after, bytes):
            matcher = SequenceMatcher(None, _lines(before), _lines(after))
            if matcher.real_quick_ratio() >= best and (share := matcher.ratio()) >= best:
                best, found = share, each
    return found


def _lines(content: bytes) -> list[str]:
    return essence(text_of(content) or "").split("\n")
