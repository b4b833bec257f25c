"""Who reads learnings: a curator turns one learning into drafts of memories, or into nothing with a reason.

The words of `NothingReason` are the reasons of the enrich stage's dispositions.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from schemas.learning import Learning
from schemas.memory import Draft


class NothingReason(StrEnum):
    """Why a learning gives no memory: the closed set."""

    DELETION_ONLY = "deletion_only"
    """It only removes text."""
    FORMATTING_ONLY = "formatting_only"
    """Whitespace, marks, numbering or wrapping changed; the words are the same."""
    MOVED = "moved"
    """Text changed its place."""
    REFERENCE_UPDATE = "reference_update"
    """Only paths, links or spellings changed in sentences that stay the same."""
    WORDING_ONLY = "wording_only"
    """A few plain words changed."""
    INDEX_ONLY = "index_only"
    """A table of contents or a pointer to another document."""
    FRONT_MATTER_ONLY = "front_matter_only"
    """Only the file's metadata changed."""
    STATUS_LOG = "status_log"
    """Dates, audits, changelogs, progress notes."""
    GENERIC_PERSONA = "generic_persona"
    """Text that fits any project: who the assistant is, that it should do well."""
    TOO_LITTLE_CONTEXT = "too_little_context"
    """What was added can't be understood by itself."""


@dataclass(frozen=True)
class Enriched:
    """At least one draft, in the order of the file."""

    drafts: tuple[Draft, ...]

    def __post_init__(self) -> None:
        if not self.drafts:
            raise ValueError("no drafts is Nothing, with a reason")


@dataclass(frozen=True)
class Nothing:
    """No memory, and why."""

    reason: NothingReason


Enrichment = Enriched | Nothing


class Curator(Protocol):
    """Turns learnings into drafts. Same learning, same answer, as far as its vendor allows."""

    @property
    def name(self) -> str:
        """With its version, and model id and decoding settings where it has any."""
        ...

    @property
    def prompt_hash(self) -> str:
        """Hash of the prompts, or of the rules."""
        ...

    def enrich(self, learning: Learning) -> Enrichment:
        """What the learning holds for others."""
        ...
