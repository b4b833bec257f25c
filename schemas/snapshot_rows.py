"""Rows of the snapshot's tables, as analysts read them: a docstring is the comment in the database.

Nothing here names a contributor or a voter, and nothing holds a patch, a changed text or a security scan.
"""

from datetime import date

from schemas.disposition import Decision, Outcome, Stage
from schemas.learning import ApprovedVia, LearningId, Origin
from schemas.memory import LinkKind, MemoryId, State
from schemas.record import Instant, Record
from schemas.vote import Channel


class LearningRow(Record):
    """One row a learning: where it came from and what became of it."""

    id: LearningId
    """Id, from project, path and texts."""
    origin: Origin
    """How the edit was first noticed: hook, sync, backfill, import or propose."""
    approved_via: ApprovedVia
    """By which act the learning was allowed to leave: terminal, page, question, policy or script."""
    approved_at: Instant
    """When it was approved; for an import, when it was imported."""
    observed_at: Instant
    """When the edit was made; for import and backfill the commit's date."""
    project: str
    """Project identity."""
    path: str
    """The memory file's path inside the project."""
    masked: int
    """Spans that the pre-scan masked."""
    hunks: int
    """Hunks of the edit."""
    sightings: int
    """How many times the same edit was met."""
    external_ids: tuple[str, ...]
    """What other systems call this edit."""
    outcome: Outcome
    """What became of it: productive, pending, quarantined, failed or rejected."""
    memories: int
    """Memories that it yielded, superseded ones included."""
    stopped_stage: Stage | None
    """The last stage that stopped it or one of its memories; none if productive or pending."""
    stopped_decision: Decision | None
    """What that stage decided."""
    stopped_reason: str | None
    """Why, as a machine-readable word."""


class HunkRow(Record):
    """One row a hunk, by its size: the texts stay in the lake."""

    learning_id: LearningId
    """The learning that it belongs to."""
    ordinal: int
    """Its place in the learning, from 0."""
    heading_depth: int
    """Headings above the change."""
    lines_removed: int
    """Lines removed."""
    lines_added: int
    """Lines added."""
    characters_removed: int
    """Characters removed."""
    characters_added: int
    """Characters added."""


class DispositionRow(Record):
    """One row for each decision of a stage about one learning or one memory."""

    id: str
    """Id, from all but clock and run."""
    stage: Stage
    """The stage; sorts in the order of curation."""
    item: str
    """What was decided about: learning or memory."""
    item_id: str
    """Its id."""
    learning_id: LearningId
    """The learning that it is or came from."""
    decision: Decision
    """What was decided."""
    goes_on: bool
    """Whether the item reached the next stage, or the store."""
    reason: str
    """Why, as a machine-readable word."""
    related: tuple[str, ...]
    """Ids of the memories that the decision names."""
    curator: str
    """Who read the learning."""
    ruleset: str
    """Hash of the rules that took part."""
    run_id: str
    """The run."""
    decided_at: Instant
    """When."""


class RejectRow(Record):
    """One row an input that is no learning; its text stays in the lake."""

    id: str
    """Id, from source, line and content."""
    source: str
    """The file's name, without its folder."""
    line: int | None
    """One-based line of a JSON Lines file; none for a staging file."""
    reason: str
    """What is wrong, by field."""
    size: int
    """Bytes of the row."""
    rejected_at: Instant
    """When it was rejected."""


class MemoryRow(Record):
    """One row a memory ever persisted and not erased: what readers may see, and the evidence for it."""

    id: MemoryId
    """Id, from learning and ordinal."""
    learning_id: LearningId
    """The learning that it came from."""
    ordinal: int
    """Its place among the learning's memories, from 0."""
    project: str
    """Project of the learning."""
    heading_path: tuple[str, ...]
    """Headings above it in its file, outermost first."""
    question: str
    """As a developer would ask."""
    answer: str
    """Direct."""
    example: str | None
    """A command or a code block that works."""
    caveats: tuple[str, ...]
    """Warnings and exceptions."""
    tools: tuple[str, ...]
    """Tool tags."""
    types: tuple[str, ...]
    """Type tags."""
    state: State
    """Whether searches may return it: live, superseded or retracted."""
    superseded_by: MemoryId | None
    """The memory that retired it."""
    observed_at: Instant
    """When the edit it came from was made."""
    created_at: Instant
    """When it was first persisted."""
    confirmed_at: Instant | None
    """When it was last confirmed."""
    has_example: bool
    """Evidence: it has a working example."""
    has_caveats: bool
    """Evidence: it has caveats."""
    agent_up: int
    """Evidence: agents' votes for it."""
    agent_down: int
    """Evidence: agents' votes against it."""
    human_up: int
    """Evidence: people's votes for it."""
    human_down: int
    """Evidence: people's votes against it."""


class LinkRow(Record):
    """One row a typed connection between two memories."""

    source: MemoryId
    """The memory that the link starts from; for supersedes and refines the newer one."""
    target: MemoryId
    """The memory that it points to."""
    kind: LinkKind
    """related, refines, supersedes, duplicate_of or contradicts."""
    score: float
    """Similarity from 0 to 1."""


class VoteRow(Record):
    """Votes by memory, channel and week; empty until votes can be cast."""

    memory_id: MemoryId
    """The memory voted on."""
    channel: Channel
    """Who spoke: agent or human."""
    week: date
    """Monday of the week, UTC."""
    up: int
    """Votes for it."""
    down: int
    """Votes against it."""
