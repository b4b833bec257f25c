"""Which paths inside a folder are memory files: patterns as in .gitignore, by pathspec."""

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import TYPE_CHECKING

from pathspec import PathSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

from orgmem.errors import ConfigurationError

if TYPE_CHECKING:
    UserGlobs = PathSpec[GitIgnoreBasicPattern]


class FilePatterns:
    """Patterns that name files only: a folder called CLAUDE.md does not make memory of all that it holds."""

    def __init__(self, patterns: Iterable[str]) -> None:
        lines = tuple(patterns)
        whole = (GitIgnoreBasicPattern.pattern_to_regex(line)[0] for line in lines)
        self._path = re.compile("|".join(each for each in whole if each), re.DOTALL)
        # Of a big tree's files few have a name that any pattern could end with.
        self._name = re.compile("|".join(translate(line.rpartition("/")[2]) for line in lines))

    def match(self, path: str) -> bool:
        """Whether a path inside the folder is that of a memory file."""
        return self._name.match(path.rpartition("/")[2]) is not None and self._path.fullmatch(path) is not None


def user_globs(setting: str, patterns: Iterable[str]) -> "UserGlobs":
    """Globs of the user; one that names a folder means all that it holds.

    Raises:
        ConfigurationError: one is no pattern.
    """
    lines = tuple(patterns)
    for line in lines:
        try:
            GitIgnoreBasicPattern(line)
        except GitIgnorePatternError as error:
            raise ConfigurationError(
                f"setting {setting!r}: {line!r} is no glob", "globs are those of .gitignore: docs/agents/**/*.md"
            ) from error
    return PathSpec.from_lines(GitIgnoreBasicPattern, lines)


def folders_of(patterns: Iterable[str]) -> tuple[str, ...]:
    """Folders that patterns spell out, each with those above it: `.claude` and `.claude/rules`."""
    found: dict[str, None] = {}
    for pattern in patterns:
        plain = re.match(r"[^*?\[\]!#]*", pattern.removeprefix("**/").removeprefix("/"))
        segments = plain[0].split("/")[:-1] if plain else []
        found |= dict.fromkeys("/".join(segments[:depth]) for depth in range(1, len(segments) + 1))
    return tuple(found)
