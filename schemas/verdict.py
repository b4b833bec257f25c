"""What the gate says of one text: a status a category, and one action."""

from enum import StrEnum

from schemas.record import Record


class Category(StrEnum):
    """The kinds of risk the gate looks for."""

    SECRETS = "secrets"
    PERSONAL = "personal"
    CODE = "code"
    WORKFLOW = "workflow"
    DEPENDENCY = "dependency"
    INJECTION = "injection"
    GROUNDING = "grounding"


class Status(StrEnum):
    """Precedence: unsafe over caveats over safe over not applicable."""

    UNSAFE = "unsafe"
    SAFE_WITH_CAVEATS = "safe_with_caveats"
    SAFE = "safe"
    NOT_APPLICABLE = "not_applicable"


class Action(StrEnum):
    """What becomes of a text."""

    PERSIST = "persist"
    REWRITE = "rewrite"
    DROP = "drop"
    QUARANTINE = "quarantine"


class Finding(Record):
    """One hit of one rule. It never contains the secret."""

    rule: str
    """Rule id, e.g. `secrets.github-pat`."""
    hint: str
    """What to do about it, in one line."""
    field: str | None = None
    """The memory's field it was found in."""
    view: str = "plain"
    """The view of the text it was found in: plain, normalised, joined, decoded."""


class CategoryVerdict(Record):
    """One category's status and its findings."""

    status: Status
    findings: tuple[Finding, ...] = ()


class GateVerdict(Record):
    """The rules' verdict on one text. Same text and rule set: same verdict, always."""

    status: Status
    action: Action
    categories: dict[Category, CategoryVerdict]
    ruleset: str
    """Hash over every rule and list that took part."""
    redactions: int = 0
    """How many spans were masked by a rewrite."""
