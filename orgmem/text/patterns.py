"""Patterns in data files, put together from named pieces."""

import re
from collections.abc import Mapping


def spelled_out(pattern: str, names: Mapping[str, str]) -> str:
    """The pattern with each `%name%` replaced by that piece, and the names in it likewise.

    Raises:
        KeyError: a name has no piece.
    """
    return re.sub(r"%([a-z_]+)%", lambda name: spelled_out(names[name[1]], names), pattern)
