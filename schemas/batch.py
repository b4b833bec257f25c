"""A batch of learnings on its way through the stages: what each stage reads from the journal and leaves there."""

from pydantic import ConfigDict

from schemas.disposition import Disposition
from schemas.learning import Learning, LearningId
from schemas.memory import Draft, Link, MemoryId, Tags, TrustEvidence
from schemas.record import Record
from schemas.verdict import GateVerdict


class Claim(Record):
    """The learnings of one batch, ordered by observed_at and id, and the run that claimed them."""

    batch_id: str
    run_id: str
    curator: str
    """Name of the curator that reads them: whoever persists the batch, this one stands in the memories."""
    prompt_hash: str
    learnings: tuple[Learning, ...]

    @property
    def by_id(self) -> dict[str, Learning]:
        """The learnings by their ids."""
        return {learning.id: learning for learning in self.learnings}


class Item(Record):
    """A memory in the making. Each stage fills in its own field; a stage drops an item with a disposition."""

    id: MemoryId
    learning_id: LearningId
    ordinal: int
    draft: Draft
    verdict: GateVerdict | None = None
    """Filled by gate."""
    trust: TrustEvidence | None = None
    """Filled by trust."""
    tags: Tags | None = None
    """Filled by tag."""
    links: tuple[Link, ...] = ()
    """Filled by collide."""
    supersedes: tuple[MemoryId, ...] = ()
    """Filled by collide: live memories that this one retires."""


class StageResult(Record):
    """What one stage hands on, and what it decided about each item that it was handed."""

    items: tuple[Item, ...]
    dispositions: tuple[Disposition, ...]


class Decided(Record):
    """What one stage decided: a StageResult without its items, which the parser passes over."""

    model_config = ConfigDict(extra="ignore")

    dispositions: tuple[Disposition, ...]
