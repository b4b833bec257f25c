"""Secrets: found in any view of any field, masked, and the masked text looked at again."""

from collections.abc import Iterable, Iterator

from orgmem.text.secrets import MASK, find_secrets
from orgmem.text.terms import words
from schemas.verdict import CategoryVerdict, Finding, Status
from tasks.gate.parts import Part

HINT = "Masked. If the value is real, revoke it: it has stood in a memory file."
NOTHING_LEFT = "Little but the secret stands here; nothing useful is left once it is masked."
LEAST_WORDS = 4
"""A masked answer with fewer words of its own says nothing."""
_EMPTY_WORDS = frozenset(
    # a word list reads best as words
    "a an and are as at be by for from has in is it its of on or our that the this to use uses"  # noqa: SIM905
    " used was with you your api key keys token tokens secret secrets password passwords"
    " credential credentials value values set".split()
)


def check_secrets(texts: Iterable[Part], essence: str) -> CategoryVerdict:
    """Status and findings over the original texts; `essence` is masked and must still say something."""
    findings = tuple(finding for part in texts for finding in _findings(part))
    if not findings:
        return CategoryVerdict(status=Status.SAFE)
    if not says_something(essence):
        left = Finding(rule="secrets.nothing-left", hint=NOTHING_LEFT)
        return CategoryVerdict(status=Status.UNSAFE, findings=(*findings, left))
    return CategoryVerdict(status=Status.SAFE_WITH_CAVEATS, findings=findings)


def says_something(masked: str) -> bool:
    """Whether enough words remain beside the masks."""
    left = [word for word in words(MASK.sub(" ", masked)) if word not in _EMPTY_WORDS]
    return len(left) >= LEAST_WORDS


def _findings(part: Part) -> Iterator[Finding]:
    seen = dict.fromkeys((span.rule, span.view) for span in find_secrets(part.text))
    for rule, view in seen:
        yield Finding(rule=f"secrets.{rule}", hint=HINT, field=part.field, view=view)
