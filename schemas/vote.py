"""A vote on a memory: one for each identity, memory and channel."""

from enum import StrEnum

from schemas.memory import MemoryId
from schemas.record import Instant, Record


class Channel(StrEnum):
    """Who speaks: an agent or a person."""

    AGENT = "agent"
    HUMAN = "human"


class Direction(StrEnum):
    """For or against."""

    UP = "up"
    DOWN = "down"


class Vote(Record):
    """A vote as stored; governance only, shown in aggregates."""

    memory_id: MemoryId
    identity: str
    """Pseudonym of the voter."""
    channel: Channel
    vote: Direction
    reason: str | None = None
    voted_at: Instant
