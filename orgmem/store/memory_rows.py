"""The memory tables' Arrow schemas, and how memories become rows and rows memories. For memories.py only."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from orgmem.text.terms import words
from schemas.memory import Link, Memory, ShownMemory, State
from schemas.record import FieldClass, fields_of

DIMENSION = 384
Vectors = NDArray[np.float32]
M = TypeVar("M", bound=ShownMemory)

_TEXT: Any = pa.string()
_TEXTS = pa.list_(pa.string())
_MOMENT = pa.timestamp("us", tz="UTC")
_VECTOR = pa.list_(pa.float32(), DIMENSION)

_FROM_THE_TEXT: dict[str, Any] = {"has_example": pa.bool_(), "has_caveats": pa.bool_()}
_FROM_READERS: dict[str, Any] = {
    "confirmed_at": _MOMENT,
    "agent_up": pa.int32(),
    "agent_down": pa.int32(),
    "human_up": pa.int32(),
    "human_down": pa.int32(),
}
_TRUST = _FROM_THE_TEXT | _FROM_READERS
"""Trust evidence, a column a fact; its observed_at is the memory's."""

_COLUMNS: list[Any] = [
    pa.field("id", _TEXT),
    pa.field("question", _TEXT),
    pa.field("answer", _TEXT),
    pa.field("example", _TEXT),
    pa.field("tools", _TEXTS),
    pa.field("types", _TEXTS),
    pa.field("caveats", _TEXTS),
    pa.field("project", _TEXT),
    pa.field("heading_path", _TEXTS),
    pa.field("sources", _TEXT),
    *(pa.field(name, kind) for name, kind in _TRUST.items()),
    pa.field("state", _TEXT),
    pa.field("superseded_by", _TEXT),
    pa.field("observed_at", _MOMENT),
    pa.field("created_at", _MOMENT),
    pa.field("learning_id", _TEXT),
    pa.field("ordinal", pa.int32()),
    pa.field("contributor", _TEXT),
    pa.field("patch", _TEXT),
    pa.field("security_scan", _TEXT),
    pa.field("curator", _TEXT),
    pa.field("prompt_hash", _TEXT),
    pa.field("search_words", _TEXT),
    pa.field("question_vector", _VECTOR),
    pa.field("answer_vector", _VECTOR),
]
MEMORIES = pa.schema(_COLUMNS)
LINKS = pa.schema({"source": _TEXT, "target": _TEXT, "kind": _TEXT, "score": pa.float64()})
TAGS = pa.schema({"dimension": _TEXT, "name": _TEXT})

VECTORS = ("question_vector", "answer_vector")
DERIVED = ("search_words", *VECTORS)
"""Columns that follow from the others and are no part of a memory's facts."""
GOVERNANCE = fields_of(Memory, FieldClass.GOVERNANCE)
KEPT = ("created_at", *_FROM_READERS)
"""What a replay finds in the table and leaves there: the first moment, and what votes have said since."""


def stored_columns(model: type[ShownMemory]) -> list[str]:
    """The columns a model is read from: governance only where the model has it."""
    hidden = set(DERIVED) if issubclass(model, Memory) else {*DERIVED, *GOVERNANCE}
    return [name for name in MEMORIES.names if name not in hidden]


def memory_of(model: type[M], row: Mapping[str, Any]) -> M:
    """A memory from a row of its `stored_columns`."""
    trust = {name: row[name] for name in _TRUST} | {"observed_at": row["observed_at"]}
    fields = {name: value for name, value in row.items() if name not in _TRUST}
    fields |= {"sources": json.loads(row["sources"]), "trust": trust}
    if "security_scan" in row:
        fields["security_scan"] = json.loads(row["security_scan"])
    return model.model_validate(fields)


def rows_to_write(
    stored: pa.Table,
    memories: Sequence[Memory],
    question_vectors: Vectors,
    answer_vectors: Vectors,
    superseded: Mapping[str, str],
) -> pa.Table:
    """The rows that a batch adds or changes, sorted by id, without those that it leaves as they are.

    `stored` holds the table's present rows of every id concerned.
    """
    before = {row["id"]: row for row in stored.to_pylist()}
    after = dict(before)
    for memory, question, answer in zip(memories, question_vectors, answer_vectors, strict=True):
        after[memory.id] = _replayed(_row(memory, question, answer), before.get(memory.id))
    for old, new in superseded.items():
        if old in after and after[old]["state"] == State.LIVE:
            after[old] = after[old] | {"state": State.SUPERSEDED.value, "superseded_by": new}
    changed = [after[key] for key in sorted(after) if after[key] != before.get(key)]
    return pa.Table.from_pylist(changed, schema=MEMORIES)


def _replayed(row: dict[str, Any], stored: dict[str, Any] | None) -> dict[str, Any]:
    """The row as a replay leaves it: what has happened to the memory since it was first written stays."""
    if stored is None:
        return row
    kept = {name: stored[name] for name in KEPT}
    if stored["state"] != State.LIVE:
        kept |= {"state": stored["state"], "superseded_by": stored["superseded_by"]}
    return row | kept


def _row(
    memory: Memory, question_vector: NDArray[np.float32], answer_vector: NDArray[np.float32]
) -> dict[str, Any]:
    row = memory.model_dump()
    trust = row.pop("trust")
    return row | {
        **{name: trust[name] for name in _TRUST},
        **{name: list(row[name]) for name in ("tools", "types", "caveats", "heading_path")},
        "state": memory.state.value,
        "sources": _json([source.model_dump() for source in memory.sources]),
        "security_scan": _json(memory.security_scan.model_dump(mode="json")),
        "search_words": search_words(memory),
        "question_vector": question_vector.tolist(),
        "answer_vector": answer_vector.tolist(),
    }


def search_words(memory: ShownMemory) -> str:
    """What full-text search sees of a memory: the words of its searchable fields, each between spaces."""
    searchable = (memory.question, memory.answer, memory.example or "", *memory.tools, *memory.types)
    return " ".join(word for text in searchable for word in words(text))


def link_rows(links: Sequence[Link]) -> pa.Table:
    """One row a link, without repetition."""
    rows = {(link.source, link.target, link.kind): link.model_dump(mode="json") for link in links}
    return pa.Table.from_pylist([rows[key] for key in sorted(rows)], schema=LINKS)


def tag_rows(memories: Sequence[ShownMemory]) -> pa.Table:
    """One row a tag, without repetition; `dimension` is tool or type."""
    tools = {("tool", name) for memory in memories for name in memory.tools}
    types = {("type", name) for memory in memories for name in memory.types}
    rows = [{"dimension": dimension, "name": name} for dimension, name in sorted(tools | types)]
    return pa.Table.from_pylist(rows, schema=TAGS)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
