"""Secrets: found in any view of any field, masked, and the masked text looked at again."""

from collections.abc import Iterable

from orgmem.text import secrets
from orgmem.text.secrets import MASK
from orgmem.text.terms import words
from schemas.verdict import Category, CategoryVerdict, Finding, Status
from tasks.gate.hit import Hit, checked
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


def find_secrets(text: str) -> tuple[Hit, ...]:
    """The rules that hit, each once, with the view of its first place: kept, because masked."""
    views = {span.rule: span.view for span in reversed(secrets.find_secrets(text))}
    return tuple(Hit(rule, HINT, view, Status.SAFE_WITH_CAVEATS) for rule, view in reversed(views.items()))


def check_secrets(texts: Iterable[Part], essence: str) -> CategoryVerdict:
    """Status and findings over the original texts; `essence` is masked and must still say something."""
    verdict = checked(Category.SECRETS, find_secrets, texts)
    if not verdict.findings or says_something(essence):
        return verdict
    left = Finding(rule="secrets.nothing-left", hint=NOTHING_LEFT)
    return CategoryVerdict(status=Status.UNSAFE, findings=(*verdict.findings, left))


def says_something(masked: str) -> bool:
    """Whether enough words remain beside the masks."""
    left = [word for word in words(MASK.sub(" ", masked)) if word not in _EMPTY_WORDS]
    return len(left) >= LEAST_WORDS
