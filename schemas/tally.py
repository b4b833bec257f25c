"""What became of learnings and memories, counted: what `orgmem curate` prints."""

from pydantic import ConfigDict, Field

from schemas.disposition import Stage
from schemas.record import Record


class LearningCounts(Record):
    """Learnings by what became of them; `captured` is the sum of the other five."""

    captured: int
    productive: int
    """At least one memory was persisted, even if superseded later."""
    rejected: int
    """Nothing to keep was found, or what was found was dropped or known already."""
    quarantined: int
    """Held for a person."""
    failed: int
    """A stage or a data-quality expectation failed."""
    pending: int
    """Not decided yet."""


class MemoryCounts(Record):
    """Memories by what the stages did with them."""

    created: int
    """Persisted."""
    rewritten: int
    """Persisted after the gate had masked something: a part of `created`."""
    dropped: int
    """Stopped by the gate."""
    clarified: int
    """Persisted, with a neighbour of which collide says what differs: a part of `created`."""
    duplicate: int
    """Stopped by collide: the store says the same already."""
    superseded: int
    """Older memories that a persisted one retired."""


class StageCount(Record):
    """Decided learnings at one stage: `in` is `out` plus all `reasons`; the next stage's `in` is `out`."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    in_: int = Field(alias="in")
    """Learnings that reached the stage, themselves or with a memory."""
    out: int
    """Learnings that went on, themselves or with at least one memory."""
    reasons: dict[str, int]
    """Learnings whose way ended here, by reason."""


class Tally(Record):
    """The funnel of curation."""

    learnings: LearningCounts
    memories: MemoryCounts
    stages: dict[Stage, StageCount]
    """Every stage, in order."""
