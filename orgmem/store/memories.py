"""Memories, links and tags: the only code that opens these tables.

Every write is an idempotent upsert, committed whole or not at all, so a batch can be applied again after a
crash. A link is stored once, from the newer memory to the older; readers see it from both ends.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa

from orgmem.settings import Settings
from orgmem.store.lance import LanceTables, Shape, match, quoted, told
from orgmem.store.memory_rows import (
    DERIVED,
    LINKS,
    MEMORIES,
    TAGS,
    VECTORS,
    Vectors,
    link_rows,
    memory_of,
    rows_to_write,
    stored_columns,
    tag_rows,
)
from orgmem.text.terms import words
from schemas.memory import Link, Memory, ShownMemory, State, Tags

TableName = Literal["memories", "links", "tags"]
VectorColumn = Literal["question_vector", "answer_vector"]
M = TypeVar("M", bound=ShownMemory)

REFINE = 10
"""With a vector index: how many times as many candidates are compared exactly."""
ROWS_A_PIECE = 1_000
STILL_READ = timedelta(minutes=1)
"""Another process may still read a version of this age."""
_LIVE = f"state = {quoted(State.LIVE)}"
_SHAPES = {
    "memories": Shape(MEMORIES, ("id",)),
    "links": Shape(LINKS, ("source", "target", "kind")),
    "tags": Shape(TAGS, ("dimension", "name")),
}


@dataclass(frozen=True)
class Scope:
    """What a search may return, among live memories. Every tag must be there, as a tool or as a type."""

    project: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hit:
    """A found memory: cosine similarity of a vector search, BM25 of a text search."""

    id: str
    score: float


@dataclass(frozen=True)
class LiveRows:
    """Some live memories with their vectors, n x 384 each."""

    memories: tuple[ShownMemory, ...]
    question_vectors: Vectors
    answer_vectors: Vectors


class MemoryStore:
    """One tenant's tables. Reading a tenant that has none finds nothing and makes nothing."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tables = LanceTables(settings.tables, _SHAPES)

    def apply(
        self,
        memories: Sequence[Memory],
        question_vectors: Vectors,
        answer_vectors: Vectors,
        links: Sequence[Link] = (),
        superseded: Mapping[str, str] | None = None,
    ) -> None:
        """Upsert a batch: memories, their vectors (n x 384 each), links, and what it retires, old id to new.

        At most one commit a table. A replay changes nothing, and undoes nothing that came later.
        """
        retired = superseded or {}
        concerned = sorted({*(memory.id for memory in memories), *retired})
        stored = self._tables.select_in("memories", MEMORIES.names, "id", concerned)
        rows = rows_to_write(stored, memories, question_vectors, answer_vectors, retired)
        self._tables.upsert("memories", rows)
        self._tables.upsert("links", self._new("links", link_rows(links)))
        self._tables.upsert("tags", self._new("tags", tag_rows(memories)))

    def get(self, ids: Sequence[str]) -> tuple[Memory, ...]:
        """Whole memories, governance fields included, in the order asked for; unknown ids are passed over."""
        return self._read(Memory, ids)

    def shown(self, ids: Sequence[str]) -> tuple[ShownMemory, ...]:
        """What readers may see of memories, in the order asked for; unknown ids are passed over."""
        return self._read(ShownMemory, ids)

    def links_of(self, ids: Sequence[str]) -> tuple[Link, ...]:
        """Every link that has one of the memories at either end, best first."""
        ends = [self._tables.select_in("links", LINKS.names, end, ids) for end in ("source", "target")]
        links = {Link.model_validate(row) for row in pa.concat_tables(ends).to_pylist()}
        return tuple(sorted(links, key=lambda link: (-link.score, link.source, link.target, link.kind)))

    def live(self) -> Iterator[LiveRows]:
        """All live memories with their vectors, some at a time, ordered by observed_at and id."""
        order = self._tables.select("memories", ["id", "observed_at"], _LIVE)
        order = order.sort_by([("observed_at", "ascending"), ("id", "ascending")])
        columns = [*stored_columns(ShownMemory), *VECTORS]
        for start in range(0, order.num_rows, ROWS_A_PIECE):
            ids = _texts(order["id"].slice(start, ROWS_A_PIECE))
            table = self._tables.select_in("memories", columns, "id", ids)
            position = {id_: row for row, id_ in enumerate(_texts(table["id"]))}
            table = table.take([position[id_] for id_ in ids])
            found = tuple(memory_of(ShownMemory, row) for row in table.drop_columns(list(VECTORS)).to_pylist())
            yield LiveRows(found, *(_matrix(table[name]) for name in VECTORS))

    def vector_search(self, column: VectorColumn, vector: Vectors, scope: Scope, k: int) -> tuple[Hit, ...]:
        """The k live memories nearest to a unit vector by cosine similarity, best first."""
        table = self._tables.open("memories")
        if table is None:
            return ()
        with told("search"):
            query = table.search(vector, vector_column_name=column).distance_type("cosine")
            found = _scoped(query.refine_factor(REFINE), scope, k, "_distance")
        return _hits(found["id"], 1 - found["_distance"].to_numpy())

    def text_search(self, query: str, scope: Scope, k: int) -> tuple[Hit, ...]:
        """The k live memories with the best BM25 for the query's words, best first. A query has no syntax."""
        table, terms = self._tables.open("memories"), " ".join(words(query))
        if table is None or not terms:
            return ()
        with told("search"):
            search = table.search(match(terms, "search_words"), query_type="fts")
            found = _scoped(search, scope, k, "_score")
        return _hits(found["id"], found["_score"].to_numpy())

    def tags(self) -> Tags:
        """Every tag that a memory has ever had."""
        rows = self._tables.select("tags", TAGS.names).to_pylist()
        of = {kind: sorted(row["name"] for row in rows if row["dimension"] == kind) for kind in ("tool", "type")}
        return Tags(tools=tuple(of["tool"]), types=tuple(of["type"]))

    def count(self) -> int:
        """How many memories there are, live or not."""
        table = self._tables.open("memories")
        return 0 if table is None else int(table.count_rows())

    def rows(self, name: TableName) -> pa.Table:
        """A whole table in the order of its key; memories without vectors and search words."""
        shape = _SHAPES[name]
        columns = [column for column in shape.schema.names if column not in DERIVED]
        return self._tables.select(name, columns).sort_by([(key, "ascending") for key in shape.key])

    def index(self) -> None:
        """Make every index and bring it up to date with what was written: after a run.

        Vectors only from `vector_index_rows` on: below, a flat search is exact and faster.
        """
        self._tables.index("memories", _indices(self.count() >= self._settings.vector_index_rows))
        self._tables.index("links", _indices_of_ends())

    def optimise(self, keep_days: int | None = None) -> None:
        """Index, compact, and delete versions older than `keep_days` (a minute at least): for maintenance."""
        self.index()
        days = self._settings.keep_versions_days if keep_days is None else keep_days
        for name in _SHAPES:
            self._tables.optimise(name, max(timedelta(days=days), STILL_READ))

    def _read(self, model: type[M], ids: Sequence[str]) -> tuple[M, ...]:
        found = self._tables.select_in("memories", stored_columns(model), "id", ids).to_pylist()
        rows = {row["id"]: row for row in found}
        return tuple(memory_of(model, rows[id_]) for id_ in ids if id_ in rows)

    def _new(self, name: TableName, rows: pa.Table) -> pa.Table:
        """The rows that the table has not, exactly as they are."""
        first = _SHAPES[name].key[0]
        stored = self._tables.select_in(name, rows.schema.names, first, sorted(set(_texts(rows[first]))))
        known = {tuple(row.values()) for row in stored.to_pylist()}
        return rows.filter(pa.array([tuple(row.values()) not in known for row in rows.to_pylist()], pa.bool_()))


def _indices(with_vectors: bool) -> Mapping[str, object]:
    from lancedb.index import FTS, Bitmap, BTree, IvfSq, LabelList

    # The words are cut by orgmem.text.terms, in rows and queries alike.
    by_spaces = FTS(
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
    )
    return {
        "id": BTree(),
        "project": Bitmap(),
        "state": Bitmap(),
        "tools": LabelList(),
        "types": LabelList(),
        "search_words": by_spaces,
    } | {column: IvfSq(distance_type="cosine") for column in VECTORS if with_vectors}


def _indices_of_ends() -> Mapping[str, object]:
    from lancedb.index import BTree

    return {"source": BTree(), "target": BTree()}


def _scoped(query: Any, scope: Scope, k: int, score: str) -> pa.Table:
    wanted = [_LIVE]
    if scope.project is not None:
        wanted.append(f"project = {quoted(scope.project)}")
    wanted.extend(f"(array_has(tools, {tag}) OR array_has(types, {tag}))" for tag in map(quoted, scope.tags))
    found: pa.Table = query.where(" AND ".join(wanted), prefilter=True).select(["id", score]).limit(k).to_arrow()
    return found


def _hits(ids: "pa.ChunkedArray[Any]", scores: Any) -> tuple[Hit, ...]:
    hits = (Hit(str(id_), float(score)) for id_, score in zip(ids.to_pylist(), scores, strict=True))
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id)))


def _texts(column: "pa.ChunkedArray[Any]") -> list[str]:
    return [str(text) for text in column.to_pylist()]


def _matrix(column: "pa.ChunkedArray[Any]") -> Vectors:
    flat: Any = column.combine_chunks()
    return np.ascontiguousarray(flat.flatten(), dtype=np.float32).reshape(len(column), -1)
