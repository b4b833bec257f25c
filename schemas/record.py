"""The parent of every record, and the three classes a field can have.

A field of a memory is searchable (indexed, embedded), shown (returned, never indexed) or
governance (kept for audit; in no index, no answer and no log). The class is declared beside the
field and read by the stores, the server and the tests: `fields_of(Memory, FieldClass.GOVERNANCE)`.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field


class FieldClass(StrEnum):
    """Who may see a field: an index, a reader, or an auditor only."""

    SEARCHABLE = "searchable"
    SHOWN = "shown"
    GOVERNANCE = "governance"


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the first and the last day of the calendar have no UTC in every zone
        raise ValueError("outside the years 1 to 9999 in UTC") from None


Instant = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""A moment with a zone, kept in UTC."""


def _no_control_characters(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has a control or an invisible character")
    return text


VISIBLE = AfterValidator(_no_control_characters)
"""For names of projects, files and commits: one line of visible text, since they are printed."""


class Record(BaseModel):
    """A frozen model that refuses unknown keys."""

    # An error about a record must not carry its text into a log.
    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True
    )


def searchable(**kwargs: Any) -> Any:
    """A field that indices and embeddings see."""
    return Field(json_schema_extra={"class": FieldClass.SEARCHABLE}, **kwargs)


def shown(**kwargs: Any) -> Any:
    """A field that answers carry and no index sees."""
    return Field(json_schema_extra={"class": FieldClass.SHOWN}, **kwargs)


def governance(**kwargs: Any) -> Any:
    """A field that only audit sees."""
    return Field(json_schema_extra={"class": FieldClass.GOVERNANCE}, **kwargs)


def fields_of(model: type[BaseModel], wanted: FieldClass) -> tuple[str, ...]:
    """Names of the model's fields of one class, in order of declaration."""
    return tuple(
        name
        for name, info in model.model_fields.items()
        if isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("class") == wanted
    )
