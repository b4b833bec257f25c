"""A memory: the curated unit that agents find. Question, answer, and what speaks for it."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.learning import LearningId
from schemas.record import Instant, Record, governance, searchable, shown
from schemas.verdict import GateVerdict

MemoryId = Annotated[str, Field(pattern=r"^mem_[0-9a-f]{24}$")]
"""`mem_` and 24 hex digits of a hash over learning id and ordinal."""


class Draft(Record):
    """What a curator makes of a learning, before gate and tags: one question and its answer."""

    question: Annotated[str, Field(min_length=1)]
    """Problem-shaped, as a developer would ask."""
    answer: Annotated[str, Field(min_length=1)]
    """Direct, in complete sentences."""
    example: str | None = None
    """A command or a code block that works, without its fence."""
    caveats: tuple[str, ...] = ()
    """Warnings and exceptions, one sentence each."""
    heading_path: tuple[str, ...] = ()
    """Where in the file it stood."""


class Tags(Record):
    """Tool tags and type tags, sorted, from the registry."""

    tools: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


class TrustEvidence(Record):
    """The facts from which the score is derived when read; never the score."""

    has_example: bool
    has_caveats: bool
    observed_at: Instant
    confirmed_at: Instant | None = None
    agent_up: int = 0
    agent_down: int = 0
    human_up: int = 0
    human_down: int = 0


class LinkKind(StrEnum):
    """How two memories belong together. `supersedes` and `refines` point from newer to older."""

    RELATED = "related"
    REFINES = "refines"
    SUPERSEDES = "supersedes"
    DUPLICATE_OF = "duplicate_of"
    CONTRADICTS = "contradicts"


class Link(Record):
    """A typed connection between two memories."""

    source: MemoryId
    target: MemoryId
    kind: LinkKind
    score: float
    """Similarity from 0 to 1, rounded to four places."""


class State(StrEnum):
    """Whether searches may return a memory."""

    LIVE = "live"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"


class Source(Record):
    """The learning a memory came from, as answers show it."""

    learning_id: LearningId
    external_id: str | None
    project: str
    path: str


class ShownMemory(Record):
    """What readers may see of a memory: all that leaves the store on the way to an answer."""

    id: MemoryId
    question: str = searchable()
    answer: str = searchable()
    example: str | None = searchable(default=None)
    tools: tuple[str, ...] = searchable(default=())
    types: tuple[str, ...] = searchable(default=())
    caveats: tuple[str, ...] = shown(default=())
    project: str = shown()
    heading_path: tuple[str, ...] = shown(default=())
    sources: tuple[Source, ...] = shown()
    trust: TrustEvidence = shown()
    state: State = shown(default=State.LIVE)
    superseded_by: MemoryId | None = shown(default=None)
    observed_at: Instant = shown()
    """When the edit it came from was made."""
    created_at: Instant = shown()
    """When it was first persisted."""


class Memory(ShownMemory):
    """A persisted memory. Question and answer have a vector each, kept beside it in the table."""

    learning_id: LearningId = governance()
    ordinal: int = governance()
    contributor: str | None = governance(default=None)
    patch: str = governance()
    """The learning's patch: provenance."""
    security_scan: GateVerdict = governance()
    curator: str = governance()
    """Name of the curator, with model id and decoding settings where it has any."""
    prompt_hash: str = governance()
    """Hash of the prompts or, for the builtin curator, of its rules."""
