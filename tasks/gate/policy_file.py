"""The policy file: what an organization, or one tenant of it, makes of what the gate finds.

    on_unsafe = "drop"                     # for every category; without it, the setting ORGMEM_ON_UNSAFE

    [categories.workflow]
    on_unsafe = "rewrite"                  # keep what is unsafe, the finding as a caveat

    [categories.code]
    on_caveat = "quarantine"               # hold what would be kept with a caveat

    [tenants.payments.categories.personal]
    enabled = false

    [[allow]]
    rule = "workflow.recursive-delete"
    literal = "rm -rf build"               # or sha256 = "..." of a value that must not stand here
    reason = "Our own build folder."
    expires = 2027-06-30                   # the last day on which it holds
    tenant = "payments"                    # left out: every tenant

Of two sections that speak of the same thing a tenant's weighs more than the organization's, and then a category's
more than the one for all.
"""

import hashlib
import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from orgmem.errors import ConfigurationError
from schemas.record import VISIBLE, Record
from schemas.verdict import Category

OnUnsafe = Literal["drop", "quarantine", "rewrite"]
OnCaveat = Literal["rewrite", "quarantine", "drop"]
MOST_BYTES = 1024 * 1024
LEAST_LITERAL = 4
"""Shorter literals stand everywhere, and would switch their rule off."""
UNMENDABLE = frozenset({Category.SECRETS, Category.INJECTION})
"""A caveat does not make these safe."""

_NO_DATE = "must be a date like 2027-06-30, without quotes and hours"
_PIECE = re.compile(r"[^\s\"'`()\[\]{}<>,;|]{1,4096}")
_EDGES = ".:!?"


def _of_a_category(rule: str) -> str:
    category, dot, name = rule.partition(".")
    if not dot or not name or category not in set(Category):
        raise ValueError(f"must be category.rule, the category one of {', '.join(Category)}")
    if category == Category.SECRETS:
        raise ValueError("secrets are masked on import and on the way out, whatever a policy says")
    if category == Category.GROUNDING:
        raise ValueError("grounding has no exceptions: put the fact into the memory file")
    return rule


def _one_line(text: str) -> str:
    if not text.strip():
        raise ValueError("must say something")
    return text


class Allowed(Record):
    """One value that a rule may find without consequence, why, and until when."""

    rule: Annotated[str, AfterValidator(_of_a_category)]
    """As findings name it."""
    literal: Annotated[str, Field(min_length=LEAST_LITERAL, max_length=4096)] | None = None
    """The value itself."""
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    """Hash of the value, where it must not be readable here: a word without blanks."""
    reason: Annotated[str, AfterValidator(_one_line), VISIBLE]
    expires: Annotated[date, Field(strict=True)]
    """The last day on which it holds."""
    tenant: str | None = None
    """None: every tenant."""

    @model_validator(mode="after")
    def _says_one_value(self) -> Self:
        if (self.literal is None) == (self.sha256 is None):
            raise ValueError("needs either literal or sha256")
        return self

    def covers(self, value: str) -> bool:
        """Whether this is the value."""
        if self.literal is not None:
            return value == self.literal
        return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest() == self.sha256

    def without(self, text: str) -> str:
        """The text with a blank wherever the value stands by itself."""
        if self.literal is None:
            return _PIECE.sub(lambda piece: self._blanked(piece[0]), text)
        before, after = r"(?<![^\s\"'`(\[{<=,;|])", r"(?=[\s\"'`)\]}>,;|]|[.:!?](?:\s|\Z)|\Z)"
        return re.sub(before + re.escape(self.literal) + after, " ", text)

    def _blanked(self, piece: str) -> str:
        """The piece of text, or a blank for the value in it: all of it, without its end, or behind `=`."""
        for whole in (piece, piece.rstrip(_EDGES)):
            name, _, value = whole.partition("=")
            if self.covers(whole):
                return " " + piece[len(whole) :]
            if value and self.covers(value):
                return f"{name}= " + piece[len(whole) :]
        return piece


class CategoryPolicy(Record):
    """What becomes of one category's findings. None: as the next weaker section says."""

    enabled: bool | None = None
    """False: the category is not looked at."""
    on_unsafe: OnUnsafe | None = None
    """What becomes of an unsafe text; `rewrite` keeps it, with the finding as a caveat."""
    on_caveat: OnCaveat | None = None
    """What any finding leads to at least; without it to a caveat, as `rewrite` says."""


class Section(Record):
    """Of the whole organization, or of one tenant."""

    on_unsafe: Literal["drop", "quarantine"] | None = None
    """For every category that does not say otherwise."""
    categories: dict[Category, CategoryPolicy] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _keeps_what_must_hold(self) -> Self:
        for category, policy in self.categories.items():
            if category is Category.SECRETS and policy.enabled is False:
                raise ValueError("secrets are masked whatever a policy says: they can't be switched off")
            if category in UNMENDABLE and policy.on_unsafe == "rewrite":
                raise ValueError(f"{category}: no caveat makes it safe; on_unsafe is drop or quarantine")
            if category is Category.GROUNDING and (policy.on_unsafe or policy.on_caveat):
                raise ValueError("grounding: what is not grounded is dropped; only enabled can be set")
        return self


class PolicyFile(Section):
    """The whole file."""

    tenants: dict[str, Section] = Field(default_factory=dict)
    allow: tuple[Allowed, ...] = ()

    def expired(self, today: date) -> tuple[str, ...]:
        """One line for each exception that no longer holds, to be said to whoever runs the gate."""
        return tuple(
            f"policy: the exception for {one.rule} ended on {one.expires} ({one.reason}); renew it or take it out"
            for one in self.allow
            if one.expires < today
        )


def read_policy(path: Path) -> PolicyFile:
    """The policy in a file.

    Raises:
        ConfigurationError: it can't be read, is no TOML, or says something that a policy can't.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"policy file {path}: {error.strerror}", f"ls -l {path}") from error
    if len(data) > MOST_BYTES:
        raise ConfigurationError(f"policy file {path} is over {MOST_BYTES:,} bytes", f"ls -l {path}")
    try:
        return PolicyFile.model_validate(tomllib.loads(data.decode("utf-8")))
    except ValidationError as error:
        raise ConfigurationError(f"policy file {path}: {_problem(error)}", f"mend {path}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"policy file {path} is not TOML: {error}", f"mend {path}") from error


def _problem(error: ValidationError) -> str:
    """Key and what is wrong with it; never the value, which may be what must not be seen."""
    first = error.errors(include_input=False, include_context=False, include_url=False)[0]
    message = _NO_DATE if first["type"].startswith("date_") else first["msg"].removeprefix("Value error, ")
    where = ".".join(str(part + 1 if isinstance(part, int) else part) for part in first["loc"])
    return f"{where}: {message}" if where else message
