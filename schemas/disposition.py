"""What a stage decided about one learning or one memory, and what became of a learning in the end."""

from enum import StrEnum
from typing import Literal

from schemas.learning import LearningId
from schemas.record import Instant, Record


class Stage(StrEnum):
    """The stages of curation, in their order."""

    ENRICH = "enrich"
    GATE = "gate"
    TRUST = "trust"
    TAG = "tag"
    COLLIDE = "collide"
    PERSIST = "persist"


class Decision(StrEnum):
    """What a stage can do with an item. Which stage takes which: `DECISIONS`."""

    ENRICHED = "enriched"
    REJECTED = "rejected"
    FAILED = "failed"
    PASSED = "passed"
    REWRITTEN = "rewritten"
    DROPPED = "dropped"
    QUARANTINED = "quarantined"
    SCORED = "scored"
    TAGGED = "tagged"
    ACCEPTED = "accepted"
    CLARIFIED = "clarified"
    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    PERSISTED = "persisted"


DECISIONS: dict[Stage, frozenset[Decision]] = {
    Stage.ENRICH: frozenset({Decision.ENRICHED, Decision.REJECTED, Decision.FAILED}),
    Stage.GATE: frozenset(
        {Decision.PASSED, Decision.REWRITTEN, Decision.DROPPED, Decision.QUARANTINED, Decision.FAILED}
    ),
    Stage.TRUST: frozenset({Decision.SCORED, Decision.FAILED}),
    Stage.TAG: frozenset({Decision.TAGGED, Decision.FAILED}),
    Stage.COLLIDE: frozenset(
        {
            Decision.ACCEPTED,
            Decision.CLARIFIED,
            Decision.DUPLICATE,
            Decision.SUPERSEDES,
            Decision.FAILED,
        }
    ),
    Stage.PERSIST: frozenset({Decision.PERSISTED, Decision.FAILED}),
}

GOES_ON: frozenset[Decision] = frozenset(
    {
        Decision.ENRICHED,
        Decision.PASSED,
        Decision.REWRITTEN,
        Decision.SCORED,
        Decision.TAGGED,
        Decision.ACCEPTED,
        Decision.CLARIFIED,
        Decision.SUPERSEDES,
        Decision.PERSISTED,
    }
)
"""Decisions after which the item reaches the next stage."""


class Disposition(Record):
    """One decision of one stage about one item, kept for ever.

    `reason` is a short machine-readable word (`formatting_only`, `secrets.github-pat`,
    `expectation:answer_is_grounded`); never text of the learning.
    """

    id: str
    """`dsp_` and a hash of all but the clock and run columns."""
    stage: Stage
    item: Literal["learning", "memory"]
    item_id: str
    learning_id: LearningId
    decision: Decision
    reason: str
    related: tuple[str, ...] = ()
    """Ids of the memories that the decision names."""
    curator: str
    ruleset: str
    run_id: str
    decided_at: Instant


class Outcome(StrEnum):
    """What became of a learning: the first that holds, in this order."""

    PRODUCTIVE = "productive"
    PENDING = "pending"
    QUARANTINED = "quarantined"
    FAILED = "failed"
    REJECTED = "rejected"
