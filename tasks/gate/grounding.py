"""Grounding: each path, flag, number, identifier, URL and command of a memory is one of its learning's.

And it says with them what the learning says: a number beside the same words, a command with the same argument,
a "never" or "not" where the learning has one.
"""

from collections.abc import Iterable, Iterator

from orgmem.text.terms import FactKind, kind_of, ungrounded
from schemas.learning import Learning
from schemas.verdict import CategoryVerdict, Finding, Status
from tasks.gate.claims import dropped_negations, misplaced_commands, misplaced_numbers
from tasks.gate.parts import Part

HINT = "The learning does not have this {kind}; a memory states only what its learning shows."
HINTS = {
    "misplaced-number": "The learning has this number for something else.",
    "misplaced-command": "The learning has these words, but not as this command.",
    "dropped-negation": "The learning says this with a negation, the memory without.",
    **{kind.value: HINT.format(kind=kind) for kind in FactKind},
}
"""By rule, in the order in which a report names them."""


def check_grounding(texts: Iterable[Part], learning: Learning) -> CategoryVerdict:
    """Unsafe with one finding for each field and kind of claim that the learning lacks."""
    source = source_text(learning)
    lacking = {(part.field, rule) for part in texts for rule in _lacking(part, source)}
    order = list(HINTS)
    findings = tuple(
        Finding(rule=f"grounding.{rule}", hint=HINTS[rule], field=field)
        for field, rule in sorted(lacking, key=lambda pair: (order.index(pair[1]), pair[0] or ""))
    )
    return CategoryVerdict(status=Status.UNSAFE if findings else Status.SAFE, findings=findings)


def _lacking(part: Part, source: str) -> Iterator[str]:
    code = part.field == "example"
    yield from (kind_of(fact) for fact in ungrounded(part.text, source, code=code))
    if misplaced_commands(part.text, source, code=code):
        yield "misplaced-command"
    if misplaced_numbers(part.text, source):
        yield "misplaced-number"
    if part.field in ("answer", "caveats") and dropped_negations(part.text, source):  # a question claims nothing
        yield "dropped-negation"


def source_text(learning: Learning) -> str:
    """All that a memory may draw on: hunks with context (the patch's own text), headings, path, project."""
    lines = [learning.project, learning.path]
    for hunk in learning.hunks:
        lines += [*hunk.heading_path, hunk.context_before, hunk.before, hunk.after, hunk.context_after]
    return "\n".join(lines)
