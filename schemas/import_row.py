"""A row of a JSON Lines file that `orgmem import` reads: one revision of a memory file."""

from typing import Annotated

from pydantic import ConfigDict, Field

from schemas.record import Instant, Record


class ImportRow(Record):
    """Before and after of an approved edit. Keys that are not named here are passed over."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str | int | None = None
    """What the row's source calls it; kept as external id."""
    repo: Annotated[str, Field(min_length=1)]
    """Project identity, e.g. `owner/name`."""
    path: Annotated[str, Field(min_length=1)]
    """The memory file's path inside the repository."""
    date: Instant
    """When the edit was made, with its zone."""
    before: str
    """The whole file before; empty if it is new."""
    after: str
    """The whole file after; empty if it was deleted."""
    commit: str | None = None
    """The commit that made the edit."""
