"""The watch list: which files are memory files, and where they are.

The default list is data (watch_list.py); globs of the user add to it and take from it. Personal memory is watched
only if the user asks for it, and otherwise left out even where a project's folder holds it.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from orgmem.capture import memory_file, watch_list
from orgmem.capture.globs import FilePatterns, folders_of, user_globs
from orgmem.capture.state.replicas import Checkout
from orgmem.capture.tree import Found, Rules, Tree
from orgmem.identity import digest
from orgmem.settings import Settings

__all__ = ["PERSONAL_PROJECT", "Found", "Watch"]

PERSONAL_PROJECT = "personal"
"""Project of memory that belongs to a user and to no project."""
ABOUT_USER = "personal memory: its frontmatter says type: user"
AUTO_MEMORY_PATH = "~/.claude/projects/memory"
"""Path of a project's auto-memory outside it; the folder's real name tells where the user keeps the project."""


class Watch:
    """The watch list under some settings and environment."""

    def __init__(self, settings: Settings, environ: Mapping[str, str] | None = None) -> None:
        """Compile the list.

        Raises:
            ConfigurationError: a glob of the user is none.
        """
        self._settings = settings
        self._environ = os.environ if environ is None else environ
        surfaces = watch_list.PROJECT + (watch_list.PERSONAL_IN_PROJECT if settings.watch_personal else ())
        patterns = tuple(surface.pattern for surface in surfaces)
        self._default = FilePatterns(patterns)
        self._auto_memory = FilePatterns(watch_list.AUTO_MEMORY)
        self._added = user_globs("watch", settings.watch)
        self._ignored = user_globs("watch_ignore", settings.watch_ignore)
        self._memory_folders = folders_of((*patterns, *settings.watch))
        named = {segment for glob in settings.watch for segment in glob.split("/")}
        self._pruned = watch_list.PRUNED - (named - {".git"})
        lists = (patterns, settings.watch, settings.watch_ignore, sorted(self._pruned))
        flags = (settings.watch_personal, settings.watch_outside)
        self.digest = digest(*(repr(tuple(each)) for each in (*lists, flags)))
        """What is watched, as a hash: another list, another hash."""

    def matches(self, path: str) -> bool:
        """Whether a path inside a project, with forward slashes, is on the list."""
        return self._is_memory(path) and not self._is_ignored(path)

    def find(self, checkout: Checkout) -> tuple[Found, ...]:
        """Every memory file of a checkout, by path; folders of other repositories are not entered.

        What can't or mustn't be read is among them, with the reason. A folder that holds the user's home folder
        and is no repository is nobody's project: nothing is found in it.
        """
        is_nobodys = checkout.common_dir is None and _is_within(str(self._home), checkout.root)
        if is_nobodys or self._is_private(checkout.root):
            return ()
        rules = Rules(
            is_memory=self._is_memory,
            is_left_out=lambda path, real_path: self._is_ignored(path) or self._is_private(real_path),
            memory_folders=self._memory_folders,
            goes_outside=self._settings.watch_outside,
        )
        return tuple(map(self._unless_about_user, Tree(checkout.root, rules).files()))

    def personal(self, known: Iterable[Checkout] = ()) -> tuple[tuple[Checkout, Found], ...]:
        """Personal memory, each file with its folder as a checkout; empty unless the user asks for it.

        `known` are checkouts whose auto-memory outside them is watched, as part of their projects. Its folder is
        named after the checkout's path; of paths over 200 characters the name is not known.
        """
        if not self._settings.watch_personal:
            return ()
        folders = [
            (Checkout(str(self._folder_of(place)), PERSONAL_PROJECT, None), place.folder, place.patterns)
            for place in watch_list.PERSONAL
        ]
        folders += [(each, AUTO_MEMORY_PATH, ("**/*.md",)) for each in self._auto_memories(known)]
        return tuple(
            (checkout, found._replace(path=f"{shown}/{found.path}"))
            for checkout, shown, patterns in folders
            for found in self._tree_of(checkout.root, shown, FilePatterns(patterns), patterns).files()
        )

    def _tree_of(self, root: str, shown: str, memory: FilePatterns, patterns: tuple[str, ...]) -> Tree:
        """A personal folder's memory; of the rest, transcripts mostly, not even names are read."""
        tops = [pattern.strip("/").partition("/")[0] for pattern in patterns]

        def is_left_out(path: str, _: str) -> bool:
            ignored = self._ignored.match_file(f"{shown}/{path}")
            return ignored or not any(fnmatchcase(path.partition("/")[0], top) for top in tops)

        rules = Rules(
            is_memory=lambda path: memory.match(path) and not is_left_out(path, ""),
            is_left_out=is_left_out,
            memory_folders=folders_of(patterns),
            goes_outside=self._settings.watch_outside,
        )
        return Tree(root, rules)

    def _auto_memories(self, known: Iterable[Checkout]) -> Iterator[Checkout]:
        """The folders of these checkouts' auto-memory, with their projects."""
        projects = self._folder_of(watch_list.PERSONAL[0]) / "projects"
        for checkout in dict.fromkeys(known):
            folder = projects / re.sub(r"[^a-zA-Z0-9]", "-", checkout.root) / "memory"
            if folder.is_dir():
                yield Checkout(os.path.realpath(folder), checkout.project, None)

    def _is_memory(self, path: str) -> bool:
        listed = self._default.match(path) or self._added.match_file(path)
        return listed and not self._ignored.match_file(path)

    def _is_ignored(self, path: str) -> bool:
        return not self._pruned.isdisjoint(path.split("/")) or self._ignored.match_file(path)

    def _unless_about_user(self, found: Found) -> Found:
        """Auto-memory in a project's folder may be about the user; that shows in the file only."""
        if self._settings.watch_personal or found.skipped or not self._auto_memory.match(found.path):
            return found
        content = memory_file.read(found.real_path, self._settings.watch_max_bytes)
        text = memory_file.text_of(content.data) if isinstance(content, memory_file.Content) else None
        return found._replace(skipped=ABOUT_USER) if text and memory_file.is_personal(text) else found

    @cached_property
    def _home(self) -> Path:
        return Path(os.path.realpath(self._environ.get("HOME") or Path.home()))

    @cached_property
    def _private(self) -> tuple[str, ...]:
        """Real paths of the folders of personal memory."""
        return tuple(str(self._folder_of(place)) for place in watch_list.PERSONAL)

    def _is_private(self, real_path: str) -> bool:
        return any(_is_within(real_path, folder) for folder in self._private)

    def _folder_of(self, place: watch_list.Place) -> Path:
        named = self._environ.get(place.variable) or place.folder
        inside_home = named.removeprefix("~/")
        return Path(os.path.realpath(self._home / inside_home if inside_home != named else named))


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
