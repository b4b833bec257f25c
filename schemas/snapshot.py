"""The snapshot: the deployment's figures, the rows of its views, and which model describes which table.

A model's docstring and its fields' are the comments in the database.
"""

from pydantic import ConfigDict, Field

from schemas.disposition import Decision, Stage
from schemas.learning import Origin
from schemas.memory import MemoryId, State
from schemas.record import Instant, Record
from schemas.snapshot_rows import DispositionRow, HunkRow, LearningRow, LinkRow, MemoryRow, RejectRow, VoteRow


class Window(Record):
    """From the first to the last approval; none while there is no learning."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    from_: Instant | None = Field(alias="from")
    to: Instant | None


class Snapshot(Record):
    """The deployment's figures, one row a snapshot ever taken. Definitions: docs/metrics.md."""

    taken_at: Instant
    """When the snapshot was taken, UTC."""
    window: Window
    """First and last approval of a learning: a structure of from and to."""
    sessions: int
    """Assistant sessions that clients counted; 0 and listed in unknown until one does."""
    sessions_with_edit: int
    """Sessions in which a memory file was edited; unknown as sessions."""
    candidates: int
    """Edits shown for approval; unknown as sessions."""
    approved: int
    """Learnings approved at capture: origin hook, sync or propose, never import or backfill."""
    denied: int
    """Candidates denied; unknown as sessions."""
    prompts_shown: int
    """Times that a person was asked; unknown as sessions."""
    by_origin: dict[Origin, int]
    """Learnings by origin; their sum is contributed_learnings."""
    live_memories: int
    """Memories that searches may return."""
    contributed_learnings: int
    """Learnings in the lake: productive, without yield and pending ones."""
    productive_learnings: int
    """Learnings that yielded at least one memory, even if superseded later."""
    no_yield_learnings: int
    """Learnings rejected, quarantined or failed."""
    pending_learnings: int
    """Learnings not decided yet."""
    curated_memories: int
    """Memories ever persisted and not erased."""
    memories_per_productive_learning: float
    """curated_memories / productive_learnings; 0 while there is none."""
    memories_with_links: int
    """Live memories with a link to or from another live memory."""
    semantic_links: int
    """Links between two live memories."""
    tools: int
    """Tool tags on live memories, each counted once."""
    no_yield_by_stage: dict[Stage, int]
    """Learnings without yield by the last stage that stopped them; their sum is no_yield_learnings."""
    unknown: tuple[str, ...]
    """Figures that nobody has reported yet; their 0 means nothing."""


class FunnelRow(Record):
    """Decided learnings through the stages: in = out + stopped, and the next stage's in is this one's out."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    stage: Stage
    """The stage; sorts in the order of curation."""
    in_: int = Field(alias="in")
    """Learnings that reached the stage, themselves or with a memory."""
    out: int
    """Learnings that went on, themselves or with at least one memory."""
    stopped: int
    """Learnings whose way ended here."""


class NoYieldRow(Record):
    """Why learnings yielded nothing."""

    stage: Stage
    """The last stage that stopped them."""
    decision: Decision
    """What it decided."""
    reason: str
    """Why."""
    learnings: int
    """How many learnings."""


class ToolRow(Record):
    """Tools that live memories speak of."""

    tool: str
    """Tool tag."""
    memories: int
    """Live memories with it."""
    learnings: int
    """Learnings that these came from."""
    projects: int
    """Projects that these came from."""


class TrustRow(Record):
    """Trust of each memory at the moment of the snapshot; the parts add up to the score."""

    memory_id: MemoryId
    """The memory."""
    state: State
    """live, superseded or retracted."""
    score: float
    """From 0 to 10."""
    example: float
    """Part for a working example: 0 or 2."""
    caveats: float
    """Part for caveats: 0 or 1."""
    recency: float
    """Part for recency: 1 for 30 days, then linear to 0 at 730."""
    agent: float
    """Part for agents' votes, 0 to 4; 2 without votes."""
    human: float
    """Part for people's votes, 0 to 2; 1 without votes."""


TABLES: dict[str, type[Record]] = {
    "learnings": LearningRow,
    "hunks": HunkRow,
    "dispositions": DispositionRow,
    "rejects": RejectRow,
    "memories": MemoryRow,
    "links": LinkRow,
    "votes": VoteRow,
    "snapshots": Snapshot,
}
VIEWS: dict[str, type[Record]] = {
    "deployment_snapshot": Snapshot,
    "stage_funnel": FunnelRow,
    "no_yield_reasons": NoYieldRow,
    "tools": ToolRow,
    "memory_trust": TrustRow,
}


def columns(model: type[Record]) -> dict[str, str]:
    """Column names of a row, with their comments, in order."""
    return {info.alias or name: info.description or "" for name, info in model.model_fields.items()}
