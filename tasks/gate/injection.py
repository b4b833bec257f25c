"""Injection: text that tries to command the assistant that will read it, against its user.

Memory files hold instructions to assistants by nature ("never run X", "always use Y"): those are safe.
Unsafe is what sets other instructions aside, hides from the user, carries data away, or is itself hidden.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from orgmem.text.patterns import spelled_out
from orgmem.text.views import hidden_characters, views
from schemas.verdict import Status
from tasks.gate.hit import Hit

RULE_FILES = ("injection.toml", "injection_errands.toml")
"""A later file may use the names of an earlier one."""
INVISIBLE_HINT = "Invisible characters stand in the text; retype it."
MOST_STRAY = 3
"""Up to this many invisible characters come from copying; more can carry a message."""


@dataclass(frozen=True)
class Rule:
    """A pattern, what a hit means, and the words without one of which it can't hit: they save time."""

    id: str
    hint: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule of the files, in their order."""
    tables = [tomllib.loads(files("tasks.gate").joinpath(name).read_text("utf-8")) for name in RULE_FILES]
    names = {name: text for table in tables for name, text in table["names"].items()}
    return tuple(_rule(row, names) for table in tables for row in table["rules"])


def _rule(row: dict[str, Any], names: dict[str, str]) -> Rule:
    pattern = "|".join(f"(?:{spelled_out(one, names)})" for one in row["patterns"])
    return Rule(row["id"], row["hint"], tuple(row["needs"]), re.compile(pattern, re.IGNORECASE | re.MULTILINE))


def find_injection(text: str) -> tuple[Hit, ...]:
    """The rules that hit, each once, with the first view in which it did."""
    hits: dict[str, Hit] = {}
    for view in views(text):
        lowered = view.text.lower()
        for rule in rules():
            may_hit = rule.id not in hits and any(word in lowered for word in rule.needs)
            if may_hit and rule.pattern.search(view.text):
                hits[rule.id] = Hit(rule.id, rule.hint, view.name)
    return (*hits.values(), *_invisible(text))


def _invisible(text: str) -> Iterator[Hit]:
    hidden = [text[at] for at in hidden_characters(text)]
    grave = len(hidden) > MOST_STRAY or any("\U000e0000" <= char <= "\U000e007f" for char in hidden)
    if hidden:
        status = Status.UNSAFE if grave else Status.SAFE_WITH_CAVEATS
        yield Hit("invisible-characters", INVISIBLE_HINT, status=status)
