"""The columns of the lake's tables, and which of several rows with one id is the one that counts."""

from typing import Literal

import pyarrow as pa

StoredTable = Literal["learnings", "sightings", "rejects", "dispositions"]

PIPELINE = "lake"
"""Name of the dlt pipeline and its schema."""

_TEXT: pa.DataType = pa.string()
_TEXTS: pa.DataType = pa.list_(_TEXT)
_COUNT: pa.DataType = pa.int64()
_INSTANT: pa.DataType = pa.timestamp("us", tz="UTC")
_HUNK: pa.DataType = pa.struct(
    [
        ("heading_path", _TEXTS),
        ("before", _TEXT),
        ("after", _TEXT),
        ("context_before", _TEXT),
        ("context_after", _TEXT),
    ]
)

SCHEMAS: dict[StoredTable, pa.Schema] = {
    "learnings": pa.schema(
        [
            ("schema", _COUNT),
            ("id", _TEXT),
            ("origin", _TEXT),
            ("approved_via", _TEXT),
            ("approved_at", _INSTANT),
            ("observed_at", _INSTANT),
            ("project", _TEXT),
            ("path", _TEXT),
            ("patch", _TEXT),
            ("hunks", pa.list_(_HUNK)),
            ("masked", _COUNT),
            ("client", _TEXT),
            ("external_ids", _TEXTS),
            ("commit", _TEXT),
            ("contributor", _TEXT),
        ]
    ),
    "sightings": pa.schema(
        [
            ("id", _TEXT),
            ("learning_id", _TEXT),
            ("external_id", _TEXT),
            ("commit", _TEXT),
            ("origin", _TEXT),
            ("observed_at", _INSTANT),
        ]
    ),
    "rejects": pa.schema(
        [
            ("id", _TEXT),
            ("source", _TEXT),
            ("line", _COUNT),
            ("reason", _TEXT),
            ("raw", _TEXT),
            ("size", _COUNT),
            ("sha256", _TEXT),
            ("rejected_at", _INSTANT),
        ]
    ),
    "dispositions": pa.schema(
        [
            ("id", _TEXT),
            ("stage", _TEXT),
            ("item", _TEXT),
            ("item_id", _TEXT),
            ("learning_id", _TEXT),
            ("decision", _TEXT),
            ("reason", _TEXT),
            ("related", _TEXTS),
            ("curator", _TEXT),
            ("ruleset", _TEXT),
            ("run_id", _TEXT),
            ("decided_at", _INSTANT),
        ]
    ),
}

FIRST: dict[StoredTable, str] = {
    # What the data says decides before what a run's clock says: the same sightings, the same row.
    "learnings": "observed_at, origin, commit, external_ids, approved_via, client, contributor, approved_at",
    "sightings": "observed_at",
    "rejects": "rejected_at",
    "dispositions": "decided_at, run_id",
}
"""The order in which the first row of an id is the one that counts."""
