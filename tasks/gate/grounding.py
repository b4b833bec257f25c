"""Grounding: each path, flag, number, identifier, URL and command of a memory is one of its learning's."""

from collections.abc import Iterable

from orgmem.text.terms import FactKind, kind_of, ungrounded
from schemas.learning import Learning
from schemas.verdict import CategoryVerdict, Finding, Status
from tasks.gate.parts import Part

HINT = "The learning does not have this {kind}; a memory states only what its learning shows."


def check_grounding(texts: Iterable[Part], learning: Learning) -> CategoryVerdict:
    """Unsafe with one finding for each field and kind of fact that the learning lacks."""
    source = source_text(learning)
    lacking = {(part.field, kind_of(fact)) for part in texts for fact in ungrounded(part.text, source)}
    order = list(FactKind)
    findings = tuple(
        Finding(rule=f"grounding.{kind}", hint=HINT.format(kind=kind), field=field)
        for field, kind in sorted(lacking, key=lambda pair: (order.index(pair[1]), pair[0] or ""))
    )
    return CategoryVerdict(status=Status.UNSAFE if findings else Status.SAFE, findings=findings)


def source_text(learning: Learning) -> str:
    """All that a memory may draw on: hunks with context (the patch's own text), headings, path, project."""
    lines = [learning.project, learning.path]
    for hunk in learning.hunks:
        lines += [*hunk.heading_path, hunk.context_before, hunk.before, hunk.after, hunk.context_after]
    return "\n".join(lines)
