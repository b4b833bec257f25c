"""Policy: what becomes of what the categories found, for one tenant on one day.

Input: the policy file, the tenant, the day, the setting `on_unsafe`. Promise: same policy, tenant, day and
findings, same result; without a file, what `on_unsafe` says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from orgmem.identity import digest
from orgmem.settings import Settings
from schemas.verdict import Action, Category, CategoryVerdict, Status
from tasks.gate.hit import Check, Hit
from tasks.gate.policy_file import Allowed, CategoryPolicy, OnCaveat, OnUnsafe, PolicyFile, Section, read_policy

GRAVITY = (Action.PERSIST, Action.REWRITE, Action.QUARANTINE, Action.DROP)
"""Actions from the mildest to the gravest."""


@dataclass(frozen=True)
class Rule:
    """What holds for one category."""

    on_unsafe: OnUnsafe
    on_caveat: OnCaveat = "rewrite"
    enabled: bool = True


@dataclass(frozen=True)
class Policy:
    """What holds for one tenant on one day."""

    rules: Mapping[Category, Rule]
    allowed: tuple[Allowed, ...] = ()
    """Exceptions that have not expired."""
    hash: str = ""
    """Of all that the file contributes; empty for a file that says nothing, or none."""

    def ruleset(self, rules: str) -> str:
        """The rule set's name, the policy counted in."""
        return f"rules_{digest(rules, self.hash)}" if self.hash else rules

    def spares_of(self, category: Category, rule: str, value: str) -> bool:
        """Whether an exception says that the category's rule may find the value."""
        return self.spares(f"{category}.{rule}", value)

    def spares(self, rule: str, value: str) -> bool:
        """Whether an exception says that the rule may find the value."""
        return any(one.rule == rule and one.covers(value) for one in self.allowed)


@dataclass(frozen=True)
class Ruled:
    """The categories as the policy leaves them, and what follows."""

    categories: dict[Category, CategoryVerdict]
    action: Action


def policy_of(settings: Settings, today: date) -> tuple[Policy, tuple[str, ...]]:
    """The policy of these settings, and a line for each exception that no longer holds.

    Raises:
        ConfigurationError: the file can't be read, or says something that a policy can't.
    """
    file = read_policy(settings.policy_file) if settings.policy_file else PolicyFile()
    return policy_for(file, settings.tenant, today, settings.on_unsafe), file.expired(today)


def plain(on_unsafe: Literal["drop", "quarantine"]) -> Policy:
    """What holds without a file."""
    return policy_for(PolicyFile(), "", date.min, on_unsafe)


def policy_for(
    file: PolicyFile, tenant: str, today: date, on_unsafe: Literal["drop", "quarantine"] = "drop"
) -> Policy:
    """What the file says for a tenant on a day; `on_unsafe` where it says nothing."""
    sections = (file.tenants.get(tenant, Section()), file)
    rules = {category: _rule(category, sections, on_unsafe) for category in Category}
    allowed = tuple(one for one in file.allow if one.tenant in (None, tenant) and one.expires >= today)
    said = [f"{category}: {rule}" for category, rule in rules.items() if rule != Rule(on_unsafe)]
    said += sorted({f"{one.rule} {one.sha256} {one.literal}" for one in allowed})
    return Policy(rules, allowed, digest(*said) if said else "")


def _rule(category: Category, sections: tuple[Section, ...], on_unsafe: OnUnsafe) -> Rule:
    of_category = [section.categories.get(category, CategoryPolicy()) for section in sections]
    unsafe = (one.on_unsafe for pair in zip(of_category, sections, strict=True) for one in pair)
    return Rule(
        on_unsafe=next((one for one in unsafe if one), on_unsafe),
        on_caveat=next((one.on_caveat for one in of_category if one.on_caveat), "rewrite"),
        enabled=next((one.enabled for one in of_category if one.enabled is not None), True),
    )


def tolerant(check: Check, category: Category, policy: Policy) -> Check:
    """The check without those hits that go away with the values that the policy allows their rules to find."""
    spared: dict[str, list[Allowed]] = {}
    for one in policy.allowed:
        of, _, rule = one.rule.partition(".")
        if of == category:
            spared.setdefault(rule, []).append(one)

    def remains(hit: Hit, text: str) -> bool:
        bare = text
        for one in spared.get(hit.rule, ()):
            bare = one.without(bare)
        return bare == text or any(other.rule == hit.rule for other in check(bare) or ())

    def checked(text: str) -> tuple[Hit, ...] | None:
        hits = check(text)
        if not hits or not spared:
            return hits
        return tuple(hit for hit in hits if remains(hit, text))

    return checked


def apply(policy: Policy, categories: Mapping[Category, CategoryVerdict], redactions: int) -> Ruled:
    """What the policy makes of the categories' verdicts on a text in which so many spans were masked."""
    ruled = {category: _ruled(policy.rules[category], verdict) for category, verdict in categories.items()}
    unsafe = {category for category, verdict in ruled.items() if verdict.status is Status.UNSAFE}
    if unsafe == {Category.GROUNDING}:
        return Ruled(ruled, Action.DROP)  # a person could not ground it either
    follow = [Action.REWRITE if redactions else Action.PERSIST]
    for category in ruled.keys() - {Category.GROUNDING}:
        if category in unsafe:
            follow.append(Action(policy.rules[category].on_unsafe))
        if ruled[category].findings:
            follow.append(Action(policy.rules[category].on_caveat))
    return Ruled(ruled, max(follow, key=GRAVITY.index))


def _ruled(rule: Rule, verdict: CategoryVerdict) -> CategoryVerdict:
    if not rule.enabled:
        return CategoryVerdict(status=Status.NOT_APPLICABLE)
    if verdict.status is Status.UNSAFE and rule.on_unsafe == "rewrite":
        return CategoryVerdict(status=Status.SAFE_WITH_CAVEATS, findings=verdict.findings)
    return verdict
