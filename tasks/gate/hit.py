"""What a check of the gate finds in one text, and a category's verdict over a draft's texts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from orgmem.text.views import ViewName
from schemas.verdict import Category, CategoryVerdict, Finding, Status
from tasks.gate.parts import Part


@dataclass(frozen=True)
class Hit:
    """One rule's first hit in one text."""

    rule: str
    """Id within the category, e.g. `email`."""
    hint: str
    """What to do about it, in one line, without the text that was found."""
    view: ViewName = "plain"
    """The view in which it was found."""
    status: Status = Status.UNSAFE
    """`unsafe` or `safe_with_caveats`."""


Check = Callable[[str], "tuple[Hit, ...] | None"]
"""The hits in a text, each rule once; None where the text holds nothing of the category's kind (no code, say)."""


def checked(category: Category, check: Check, texts: Iterable[Part]) -> CategoryVerdict:
    """The category's verdict: the gravest hit's status, safe without one, not applicable where nothing applied."""
    found = [(part.field, check(part.text)) for part in texts]
    hits = [(field, hit) for field, some in found for hit in some or ()]
    findings = tuple(
        Finding(rule=f"{category}.{hit.rule}", hint=hit.hint, field=field, view=hit.view) for field, hit in hits
    )
    applied = Status.SAFE if any(some is not None for _, some in found) else Status.NOT_APPLICABLE
    statuses = {hit.status for _, hit in hits} | {applied}
    return CategoryVerdict(status=next(status for status in Status if status in statuses), findings=findings)
