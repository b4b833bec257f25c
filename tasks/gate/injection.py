"""Injection: text that tries to command the assistant that will read it, against its user.

Memory files hold instructions to assistants by nature ("never run X", "always use Y"): those are safe.
Unsafe is what sets other instructions aside, hides from the user, carries data away, or is itself hidden.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from orgmem.text.views import ViewName, hidden_characters, views


@dataclass(frozen=True)
class Rule:
    """A pattern, what a hit means, and the words without one of which it can't hit: they save time."""

    id: str
    hint: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]


@dataclass(frozen=True)
class Hit:
    """One rule's first hit in one text."""

    rule: str
    hint: str
    view: ViewName
    unsafe: bool = True


def _load() -> tuple[Rule, ...]:
    table = tomllib.loads(files("tasks.gate").joinpath("injection.toml").read_text("utf-8"))
    names: dict[str, str] = table["names"]

    def full(pattern: str) -> str:
        return re.sub(r"%([a-z_]+)%", lambda name: full(names[name[1]]), pattern)

    return tuple(
        Rule(
            id=rule["id"],
            hint=rule["hint"],
            needs=tuple(rule["needs"]),
            pattern=re.compile(
                "|".join(f"(?:{full(one)})" for one in rule["patterns"]), re.IGNORECASE | re.MULTILINE
            ),
        )
        for rule in table["rules"]
    )


RULES = _load()
INVISIBLE_HINT = "Invisible characters stand in the text; retype it."
MOST_STRAY = 3
"""Up to this many invisible characters come from copying; more can carry a message."""


def find_injection(text: str) -> tuple[Hit, ...]:
    """The rules that hit, each once, with the first view in which it did."""
    hits: dict[str, Hit] = {}
    for view in views(text):
        lowered = view.text.lower()
        for rule in RULES:
            may_hit = rule.id not in hits and any(word in lowered for word in rule.needs)
            if may_hit and rule.pattern.search(view.text):
                hits[rule.id] = Hit(rule.id, rule.hint, view.name)
    return (*hits.values(), *_invisible(text))


def _invisible(text: str) -> Iterator[Hit]:
    hidden = [text[at] for at in hidden_characters(text)]
    grave = len(hidden) > MOST_STRAY or any("\U000e0000" <= char <= "\U000e007f" for char in hidden)
    if hidden:
        yield Hit("invisible-characters", INVISIBLE_HINT, "plain", unsafe=grave)
