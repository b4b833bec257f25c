"""A learning: an approved edit of a memory file, as staging, REST body and lake row know it."""

import re
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from schemas.record import VISIBLE, Instant, Record

LearningId = Annotated[str, Field(pattern=r"^lrn_[0-9a-f]{24}$")]
"""`lrn_` and 24 hex digits of a hash over project, path, masked before and masked after."""

_PATCH_HEADER = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@$", re.MULTILINE)


class Origin(StrEnum):
    """How the edit was noticed. Import and backfill never count as capture."""

    HOOK = "hook"
    SYNC = "sync"
    BACKFILL = "backfill"
    IMPORT = "import"
    PROPOSE = "propose"


class ApprovedVia(StrEnum):
    """By which act of a person, or by which rule, the learning was allowed to leave."""

    TERMINAL = "terminal"
    PAGE = "page"
    QUESTION = "question"
    POLICY = "policy"
    SCRIPT = "script"


class Hunk(Record):
    """One contiguous change of whole lines with up to five lines of context on either side."""

    heading_path: tuple[str, ...] = ()
    """Markdown headings above the change, outermost first, without their marks."""
    before: str
    """The removed lines, each with its line end; empty for a pure addition."""
    after: str
    """The added lines, each with its line end; empty for a pure deletion."""
    context_before: str = ""
    """Up to five unchanged lines above."""
    context_after: str = ""
    """Up to five unchanged lines below."""

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.before == self.after:
            raise ValueError("a hunk must change something: before and after are equal")
        return self


class Learning(Record):
    """An approved candidate. One staged file is one sighting of a learning.

    `patch` is diff-match-patch text made by lines, one patch a hunk, which turns the masked
    `before` into the masked `after`; the texts themselves stay with the client.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal[1] = Field(1, alias="schema")
    """Version of this schema."""
    id: LearningId
    origin: Origin
    approved_via: ApprovedVia
    approved_at: Instant
    observed_at: Instant
    """When the edit was made: the commit's date for import and backfill."""
    project: Annotated[str, Field(min_length=1, max_length=500), VISIBLE]
    """Project identity, e.g. `owner/name` or a normalised remote."""
    path: Annotated[str, Field(min_length=1, max_length=2000), VISIBLE]
    """The memory file's path inside the project, with forward slashes."""
    patch: Annotated[str, Field(min_length=1)]
    hunks: Annotated[tuple[Hunk, ...], Field(min_length=1)]
    masked: Annotated[int, Field(ge=0)] = 0
    """How many spans the local pre-scan masked."""
    client: Annotated[str, Field(max_length=200), VISIBLE] = ""
    """Name and version of the program that made the file."""
    external_ids: tuple[Annotated[str, Field(max_length=500), VISIBLE], ...] = ()
    """What other systems call this edit."""
    commit: Annotated[str, Field(max_length=200), VISIBLE] | None = None
    """The commit that made the edit, where known."""
    contributor: Annotated[str, Field(max_length=200), VISIBLE] | None = None
    """Pseudonym of the person who approved; governance only."""

    @model_validator(mode="after")
    def _patch_and_hunks_agree_in_number(self) -> Self:
        patches = len(_PATCH_HEADER.findall(self.patch))
        if patches != len(self.hunks):
            raise ValueError(f"patch has {patches} hunks, hunks has {len(self.hunks)}: they must agree")
        return self


class Sighting(Record):
    """One time that a learning was met: the provenance that a repeated edit adds to."""

    id: str
    """`sgt_` and a hash of all the rest."""
    learning_id: LearningId
    external_id: str | None
    commit: str | None
    origin: Origin
    observed_at: Instant


class Reject(Record):
    """An input row that is no learning, kept with its reason."""

    id: str
    """`rej_` and a hash of source, line and content, so that the same bad row is kept once."""
    source: str
    """The file's name, without its folder."""
    line: int | None
    """One-based line of a JSON Lines file; none for a staging file."""
    reason: str
    """What is wrong, by field; never the value."""
    raw: str
    """The row's text, secrets masked, cut at 64 KiB."""
    size: int
    """Bytes of the whole row."""
    sha256: str
    """Of the whole row's bytes."""
    rejected_at: Instant
