"""What a client counts in one session of an assistant: figures only, no text, no path, no name."""

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from schemas.record import Record

SessionCountId = Annotated[str, Field(pattern=r"^cnt_[0-9a-f]{24}$")]
"""`cnt_` and 24 hex digits of a hash over the client's random install id and the session's id."""

Figure = Annotated[int, Field(ge=0, le=2**53)]


class SessionCount(Record):
    """One session's figures; of two with the same id, the higher version is right."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal[1] = Field(1, alias="schema")
    """Version of this schema."""
    id: SessionCountId
    version: Annotated[int, Field(ge=1, le=2**53)]
    """One more each time that a figure has changed."""
    assistant: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    """Which assistant, e.g. `claude-code`; `unknown` where the hook's payload does not tell."""
    day: date
    """On which the session began, in UTC."""
    with_edit: bool
    """Whether a memory file was edited."""
    candidates: Figure
    """Edits that were found, each once; those taken back before anybody was asked don't count."""
    prompts_shown: Figure
    """Questions put to the user."""
    approved: Figure
    denied: Figure

    @model_validator(mode="after")
    def _figures_agree(self) -> Self:
        if self.approved + self.denied > self.candidates:
            raise ValueError("more candidates were decided than found")
        if self.with_edit != (self.candidates > 0):
            raise ValueError("with_edit must say whether there are candidates")
        return self
