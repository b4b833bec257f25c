"""Which project a path belongs to, and what git brought there.

Worktrees, clones and symlinked paths of one repository are one project: its remote's `host/owner/name`. Without a
remote it is `local/<name>-<digest of the git common directory>`, the same for its worktrees and for its clones on
this machine.
"""

import os
import sys
import unicodedata
from functools import lru_cache
from pathlib import Path

from orgmem.capture import git, remotes
from orgmem.capture.memory_file import essence, text_of
from orgmem.capture.state.replicas import Checkout
from orgmem.identity import digest

MOST_CLONES = 5
"""Clones of clones on one machine that are followed back to the first."""
LONGEST_NAME = 100
"""Characters of a folder's name in a local identity."""


def checkout_of(path: str) -> Checkout | None:
    """The checkout in which an absolute path lies: the innermost git working tree, else the folder itself.

    A file need not exist; its own name is not resolved, so a symlink belongs to where it stands. None if the
    folder is gone or its name is not UTF-8, and for a missing path in no working tree, which could be either.
    """
    if not path.startswith("/") or "\0" in path:
        return None
    is_folder = Path(path).is_dir()
    folder = _real(path if is_folder else str(Path(path).parent))
    if not Path(folder).is_dir() or not is_utf8(folder):
        return None
    for root in map(str, (Path(folder), *Path(folder).parents)):
        if repository := _repository_of(root):
            common = git.shared_folder(repository)
            return Checkout(root, project_of(common), common)
    return Checkout(folder, _local_name(folder), None) if is_folder or os.path.lexists(path) else None


def is_root(folder: str) -> bool:
    """Whether a folder is the top of a repository of its own, rather than part of the one around it."""
    return _repository_of(folder) is not None


def project_of(common: str) -> str:
    """The identity of the repository with this git common directory."""
    try:
        found = Path(common, "config").stat()
    except OSError:
        return _local_name(common)
    return _named(common, (found.st_mtime_ns, found.st_size, found.st_ino))


def head_of(checkout: Checkout) -> str | None:
    """Id of the commit that HEAD is, as a rule read without git; None for a plain folder and before the first."""
    repository = _repository_of(checkout.root)
    return git.head(repository) if repository else None


def blob_at_head(checkout: Checkout, path: str) -> bytes | None:
    """A file's bytes in HEAD, by its path from the root; None if HEAD has none, or git can't tell."""
    repository = _repository_of(checkout.root)
    return git.blob(repository, "HEAD", path) if repository else None


def arrived_by_git(
    checkout: Checkout, path: str, content: bytes | None, *, since: float, old_head: str | None
) -> bool:
    """Whether git brought this content (None: the file is gone) by a pull, a merge or a switch, and it is not new.

    HEAD has moved since `old_head`, which was HEAD at `since` (seconds since 1970), when the file was last looked
    at; the file is as HEAD has it; and no commit that came in with it is the user's own of just now. In doubt it
    did not arrive: to ask once too often loses nothing.
    """
    repository, head = _repository_of(checkout.root), head_of(checkout)
    if repository is None or head is None or head == old_head:
        return False
    if not _same_text(content, git.blob(repository, head, path)):
        return False
    if content is None and (old_head is None or git.blob(repository, old_head, path) is None):
        return False  # git never had the file, so it is not what removed it
    return not _is_new_work(repository, git.commits(repository, path, old_head, head), since)


def _is_new_work(repository: str, incoming: tuple[git.Commit, ...] | None, since: float) -> bool:
    """Whether one of the commits is the user's, made at `since` or later.

    It is if it was made in this working tree, whoever its author is: assistants commit under names of their own.
    Else it is by its author's address; a merge that git made alone adds nothing of the user's. Without an address
    and a log of HEAD, each may be.
    """
    if incoming is None:
        return True
    recent = [each for each in incoming if each.at >= int(since)]  # commits tell whole seconds
    if not recent:
        return False
    here, own = git.made_here(repository), git.own_address(repository)
    if here is None and not own:
        return True
    return any(each.id in (here or ()) or (each.author == own and not each.is_merge) for each in recent)


def _same_text(one: bytes | None, other: bytes | None) -> bool:
    """Whether two contents, or their absence, are the same but for line ends, byte order mark and encoding."""
    if one is None or other is None:
        return one is other
    texts = text_of(one), text_of(other)
    if texts[0] is None or texts[1] is None:
        return one == other
    return essence(texts[0]) == essence(texts[1])


@lru_cache(maxsize=256)
def _named(common: str, _stamp: tuple[int, int, int]) -> str:
    """The stamp of the configuration is in the key, so that a new remote counts at once."""
    for _ in range(MOST_CLONES):
        address = remotes.address_of(common)
        if address is None:
            break
        if name := remotes.name_of(address):
            return name
        original = remotes.path_of(address, str(Path(common).parent))
        if original is None:
            break
        repository = _repository_of(original)
        common = git.shared_folder(repository) if repository else original
    return _local_name(common)


def _local_name(folder: str) -> str:
    path = Path(folder)
    named = path.parent if path.name in (".git", ".bare") else path
    name = unicodedata.normalize("NFC", named.name.removesuffix(".git"))
    visible = "".join(char if char.isprintable() else "_" for char in name)[:LONGEST_NAME]
    return f"local/{visible or 'root'}-{digest(folder)[:12]}"


def _repository_of(root: str) -> str | None:
    """The git folder of a working tree, or a bare repository itself; None for any other folder."""
    if found := git.folder_of(root):
        return found
    return root if ".git" not in root.split("/") and git.is_repository(root) else None


def is_utf8(path: str) -> bool:
    """Whether a path can be written as text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _real(path: str) -> str:
    """The real path, on macOS in the case and normal form in which the disk has it."""
    real = os.path.realpath(path)
    if sys.platform == "darwin":
        import fcntl

        try:
            handle = os.open(real, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return real
        try:
            return os.fsdecode(fcntl.fcntl(handle, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
        finally:
            os.close(handle)
    return real
