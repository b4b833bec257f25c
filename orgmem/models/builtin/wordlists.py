"""The lists of words.toml, as sets."""

import tomllib
from importlib.resources import files

_LISTS: dict[str, str] = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))


def word_list(name: str) -> frozenset[str]:
    """The words of one list."""
    return frozenset(_LISTS[name].split())
