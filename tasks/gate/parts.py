"""The texts of a draft that the gate reads, each under its field's name."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from schemas.memory import Draft


class Part(NamedTuple):
    """One text and the field it stands in; none for a bare text."""

    field: str | None
    text: str


def parts(draft: Draft) -> Iterator[Part]:
    """Every text of the draft, field by field."""
    yield Part("question", draft.question)
    yield Part("answer", draft.answer)
    if draft.example is not None:
        yield Part("example", draft.example)
    yield from (Part("caveats", caveat) for caveat in draft.caveats)
    yield from (Part("heading_path", heading) for heading in draft.heading_path)


def rewritten(draft: Draft, change: Callable[[str], str]) -> Draft:
    """The draft with each of its texts changed."""
    return Draft(
        question=change(draft.question),
        answer=change(draft.answer),
        example=None if draft.example is None else change(draft.example),
        caveats=tuple(change(caveat) for caveat in draft.caveats),
        heading_path=tuple(change(heading) for heading in draft.heading_path),
    )
