"""The trust score: derived from evidence when read, never stored as truth. DESIGN section 7."""

from datetime import datetime
from typing import NamedTuple

from schemas.memory import TrustEvidence

EXAMPLE, CAVEATS, RECENCY, AGENT, HUMAN = 2.0, 1.0, 1.0, 4.0, 2.0
"""The most each part can give; together 10."""
PRIOR = 0.5
AGENT_PRIOR_VOTES, HUMAN_PRIOR_VOTES = 10, 3
FRESH_DAYS, STALE_DAYS = 30, 730
_SECONDS_A_DAY = 86_400


class TrustScore(NamedTuple):
    """The score from 0 to 10 and the parts that add up to it."""

    score: float
    example: float
    caveats: float
    recency: float
    agent: float
    human: float


def trust_score(evidence: TrustEvidence, now: datetime) -> TrustScore:
    """Score at the moment `now`; each part rounded to four places, so that the same facts read the same."""
    parts = (
        EXAMPLE * evidence.has_example,
        CAVEATS * evidence.has_caveats,
        RECENCY * _freshness(evidence, now),
        AGENT * _share(evidence.agent_up, evidence.agent_down, AGENT_PRIOR_VOTES),
        HUMAN * _share(evidence.human_up, evidence.human_down, HUMAN_PRIOR_VOTES),
    )
    example, caveats, recency, agent, human = rounded = tuple(round(part, 4) for part in parts)
    return TrustScore(round(sum(rounded), 4), example, caveats, recency, agent, human)


def _freshness(evidence: TrustEvidence, now: datetime) -> float:
    """1 for 30 days after it was observed or last confirmed, then linear to 0 at 730 days."""
    latest = max(evidence.observed_at, evidence.confirmed_at or evidence.observed_at)
    days = (now - latest).total_seconds() / _SECONDS_A_DAY
    return min(1.0, max(0.0, (STALE_DAYS - days) / (STALE_DAYS - FRESH_DAYS)))


def _share(up: int, down: int, prior_votes: int) -> float:
    """Share of upvotes, drawn towards one half by as many imagined votes."""
    return (up + prior_votes * PRIOR) / (up + down + prior_votes)
