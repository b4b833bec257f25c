"""Code: weak spots in the code that a text shows, by bandit for Python and a list of rules for the rest.

Weak code that a team wrote down is kept with a caveat. Unsafe is what hands a stranger's input to an interpreter,
runs a program that nobody can read, or gives a shell away. No comment in the code switches a check off.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from orgmem.text.patterns import spelled_out
from orgmem.text.views import ViewName, views
from schemas.verdict import Status
from tasks.gate.code_blocks import Block, blocks
from tasks.gate.hit import Hit

MOST_CODE = 20_000
"""Characters of one text's code that are read."""
LONG_HINT = "More code than a memory needs; only its beginning was read."
_COMMENT = re.compile(r"^[ \t]*(?://|#(?= |$)|--(?= )|\*(?= |$)|/\*).*$", re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    """Patterns, what a hit means, the languages it reads, and words without one of which it can't hit."""

    id: str
    hint: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    languages: frozenset[str]
    """Empty for all."""
    unless: re.Pattern[str] | None
    unsafe: bool

    def hits(self, language: str, code: str, lowered: str) -> bool:
        """Whether the rule speaks of this language and finds something."""
        if self.languages and language and language not in self.languages:
            return False
        if not any(word in lowered for word in self.needs) or not self.pattern.search(code):
            return False
        return self.unless is None or not self.unless.search(code)


@dataclass(frozen=True)
class Rules:
    """The rule list, and what is made of bandit's findings."""

    rules: tuple[Rule, ...]
    noise: frozenset[str]
    hints: dict[str, str]

    def hint(self, test: str) -> str:
        """The hint whose beginning of the test's id is the longest."""
        return next(self.hints[test[:size]] for size in range(len(test), 0, -1) if test[:size] in self.hints)


@cache
def _rules() -> Rules:
    table = tomllib.loads(files("tasks.gate").joinpath("code.toml").read_text("utf-8"))

    def compiled(*patterns: str) -> re.Pattern[str]:
        every = "|".join(f"(?:{spelled_out(one, table['names'])})" for one in patterns)
        return re.compile(every, re.MULTILINE)

    rules = (
        Rule(
            id=rule["id"],
            hint=rule["hint"],
            needs=tuple(rule["needs"]),
            pattern=compiled(*rule["patterns"]),
            languages=frozenset(rule.get("languages", ())),
            unless=compiled(rule["unless"]) if "unless" in rule else None,
            unsafe=rule.get("unsafe", False),
        )
        for rule in table["rules"]
    )
    return Rules(tuple(rules), frozenset(table["bandit"]["noise"]), table["bandit"]["hints"])


def find_code(text: str) -> tuple[Hit, ...] | None:
    """The weak spots in a text's code, each rule once; None where it shows no code."""
    hits: dict[str, Hit] = {}
    seen: set[Block] = set()
    for view in views(text):
        if view.name == "joined":
            continue  # lines that are joined are another program
        left = MOST_CODE
        for block in blocks(view.text):
            if left < len(block.text):
                hits.setdefault("too-long", Hit("too-long", LONG_HINT, view.name, Status.SAFE_WITH_CAVEATS))
            part = Block(block.language, block.text[:left])
            left -= len(part.text)
            if part not in seen:
                seen.add(part)
                for hit in _hits(part, view.name):
                    hits.setdefault(hit.rule, hit)
    return tuple(hits.values()) if seen else None


def _hits(block: Block, view: ViewName) -> Iterator[Hit]:
    language, rules = block.language, _rules()
    if language == "python":
        from tasks.gate.code_python import tests_that_hit

        found = tests_that_hit(block.text)
        for test in sorted((found or frozenset()) - rules.noise):
            yield Hit(test, rules.hint(test), view, Status.SAFE_WITH_CAVEATS)
        if found is None:
            language = "python-unparsed"
    code = _COMMENT.sub("", block.text)
    lowered = code.lower()
    for rule in rules.rules:
        if rule.hits(language, code, lowered):
            yield Hit(rule.id, rule.hint, view, Status.UNSAFE if rule.unsafe else Status.SAFE_WITH_CAVEATS)
