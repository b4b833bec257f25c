"""Walks a folder's tree for memory files, each once, by its real path. It opens none of them.

Links to folders are not followed, except where a memory folder is one: `.claude/rules` may lie elsewhere in the
project. What a link names counts where it lies, if that is in the tree; what lies outside is said and not read.
"""

import os
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from orgmem.capture.project import is_root, is_utf8

LONGEST_PATH = 2000
"""Characters of a path that a learning can have."""

OUTSIDE = "a link out of the project"
SPECIAL = "not a regular file"
NO_NAME = "its path can't be shown: not UTF-8, or with control characters"
TOO_LONG = "its path is too long"


class Found(NamedTuple):
    """A memory file, or a memory folder outside the project that is not entered."""

    real_path: str
    path: str
    """Inside the project, forward slashes; of a file outside it, where the link to it stands."""
    skipped: str | None
    """Why it is not to be read; None: it is."""


class Rules(NamedTuple):
    """What a walk looks for."""

    is_memory: Callable[[str], bool]
    """Of a file, by its path inside the tree."""
    is_left_out: Callable[[str, str], bool]
    """Of a file or a folder with all that it holds, by its path inside the tree and its real path."""
    memory_folders: tuple[str, ...]
    """How paths of folders end that are followed although they are links."""
    goes_outside: bool
    """Whether links out of the tree are followed."""


class _Folder(NamedTuple):
    """A folder to walk."""

    real_path: str
    path: str
    """Where it was met inside the tree, with a slash at its end; empty for the root."""
    by_link: bool = False
    """Whether it was met through a link, so that it lies elsewhere."""
    is_top: bool = False
    """Whether it is the root or what a link names, and so is walked even if it is a repository."""


class Tree:
    """The tree below a root, given as a real path."""

    def __init__(self, root: str, rules: Rules) -> None:
        self._root = Path(root)
        self._rules = rules
        self._waiting = [_Folder(root, "", is_top=True)]
        self._followed: set[tuple[str, str]] = set()

    def files(self) -> tuple[Found, ...]:
        """Every memory file, by path."""
        found: dict[str, Found] = {}
        while self._waiting:
            for each in self._in_folder(self._waiting.pop()):
                found.setdefault(each.real_path, each)
        return tuple(sorted(found.values(), key=lambda each: each.path))

    def _in_folder(self, folder: _Folder) -> Iterator[Found]:
        try:
            with os.scandir(folder.real_path) as listing:
                entries = list(listing)
        except OSError:  # what was in it is not gone; reading one of its files says why it can't be read
            return
        if not folder.is_top and any(entry.name == ".git" for entry in entries) and is_root(folder.real_path):
            return
        for entry in entries:
            path = folder.path + _composed(entry.name)
            if entry.is_symlink():
                yield from self._link(entry.path, path)
            elif entry.is_dir(follow_symlinks=False):
                if not self._rules.is_left_out(path, entry.path):
                    self._waiting.append(_Folder(entry.path, f"{path}/", folder.by_link))
            elif self._rules.is_memory(path):
                yield from self._target(entry.path, path) if folder.by_link else (_found(entry.path, path),)

    def _link(self, link: str, path: str) -> Iterator[Found]:
        """What a link names: a memory file, or a memory folder to walk. Nothing if it leads nowhere."""
        is_memory = self._rules.is_memory(path)
        suffix = next((each for each in self._rules.memory_folders if f"/{path}".endswith(f"/{each}")), "")
        if not is_memory and not suffix:
            return
        target = os.path.realpath(link)
        if Path(target).is_dir():
            if suffix and (suffix, target) not in self._followed:
                self._followed.add((suffix, target))
                yield from self._linked_folder(target, path)
        elif is_memory and Path(target).exists():
            yield from self._target(target, path)

    def _linked_folder(self, target: str, path: str) -> Iterator[Found]:
        """Has the folder that a link names walked, unless it is the project itself, or around it."""
        if self._root.is_relative_to(target):
            return
        for found in self._target(target, path):
            if found.skipped == OUTSIDE:
                yield found
            else:
                self._waiting.append(_Folder(target, f"{path}/", by_link=True, is_top=True))

    def _target(self, real_path: str, path: str) -> Iterator[Found]:
        """What is met at a path but lies at another, unless it is left out there."""
        inside = self._inside(real_path)
        if inside is None and not self._rules.goes_outside:
            yield _found(real_path, path)._replace(skipped=OUTSIDE)
        elif not self._rules.is_left_out(inside or path, real_path):
            yield _found(real_path, inside or path)

    def _inside(self, real_path: str) -> str | None:
        """The path inside the tree of a real path; None if it lies outside, or in a repository of its own."""
        try:
            parts = Path(real_path).relative_to(self._root).parts
        except ValueError:
            return None
        folders = (self._root.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1))
        return None if any(map(is_root, map(str, folders))) else "/".join(map(_composed, parts))


def _found(real_path: str, path: str) -> Found:
    """The file, skipped if it is none that can be read, or its path can't be part of a learning."""
    if not path.isprintable() or not is_utf8(real_path):
        return Found(_escaped(real_path), _escaped(path), NO_NAME)
    if len(path) > LONGEST_PATH:
        return Found(real_path, path, TOO_LONG)
    return Found(real_path, path, None if Path(real_path).is_file() else SPECIAL)


def _escaped(path: str) -> str:
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in shown)


def _composed(name: str) -> str:
    """The name as most systems write it: macOS may hand out letters and their accents apart."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)
