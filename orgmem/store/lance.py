"""LanceDB tables by name: opened lazily, upserted by key, indexed, compacted. What our tables need alike."""

import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from orgmem.errors import StoreError

R = TypeVar("R")

ATTEMPTS = 6
FIRST_WAIT = 0.05
"""Seconds before a write that met another writer is tried again; doubled each time."""
IDS_A_QUERY = 1_000
_BY_THE_SYSTEM = re.compile(r"[\w ]+\(os error \d+\)")


@dataclass(frozen=True)
class Shape:
    """A table: its columns and the key that an upsert goes by."""

    schema: pa.Schema
    key: tuple[str, ...]

    def part(self, columns: Sequence[str]) -> pa.Schema:
        """The schema of some columns."""
        return pa.schema([self.schema.field(name) for name in columns])


class LanceTables:
    """The tables of one folder. A table that is not there reads as empty and is made by the first write."""

    def __init__(self, folder: Path, shapes: Mapping[str, Shape]) -> None:
        self._folder = folder
        self._shapes = shapes
        self._opened: dict[str, Any] = {}

    def open(self, name: str) -> Any:
        """The table, or none where nothing was ever written. Every read sees what other processes wrote."""
        if name not in self._opened and self._is_whole(name):
            with told("open"):
                self._opened[name] = self._connect().open_table(name)
        return self._opened.get(name)

    def select(self, name: str, columns: Sequence[str], where: str | None = None) -> pa.Table:
        """Some columns of the rows that hold `where`, in no order."""
        table = self.open(name)
        if table is None:
            return self._shapes[name].part(columns).empty_table()
        with told("read"):
            query = table.search().select(list(columns))
            found: pa.Table = (query.where(where) if where else query).to_arrow()
        return found

    def select_in(self, name: str, columns: Sequence[str], key: str, values: Sequence[str]) -> pa.Table:
        """Some columns of the rows whose `key` is one of the values, in no order."""
        pieces = [
            self.select(name, columns, is_in(key, values[start : start + IDS_A_QUERY]))
            for start in range(0, len(values), IDS_A_QUERY)
        ]
        return pa.concat_tables(pieces) if pieces else self._shapes[name].part(columns).empty_table()

    def upsert(self, name: str, rows: pa.Table) -> None:
        """Insert or replace rows by the table's key: one commit, whole or not at all. No rows, no commit."""
        if rows.num_rows:
            with told("write"):
                again_if_busy(lambda: self._merge(name, rows))

    def index(self, name: str, configs: Mapping[str, object]) -> None:
        """Make the indices that are missing, by column, and bring all up to date; no change, no commit."""
        table = self.open(name)
        if table is None:
            return
        with told("index"):
            present = {column for index in table.list_indices() for column in index.columns}
            for column in [column for column in configs if column not in present]:
                again_if_busy(partial(table.create_index, column, config=configs[column]))
            if any(index.num_unindexed_rows for index in table.list_indices()):
                again_if_busy(table.optimize)

    def optimise(self, name: str, keep: timedelta) -> None:
        """Compact, refresh indices, and delete versions older than `keep`."""
        table = self.open(name)
        if table is not None:
            with told("optimise"):
                again_if_busy(lambda: table.optimize(cleanup_older_than=keep))

    def _merge(self, name: str, rows: pa.Table) -> None:
        table = self.open(name)
        if table is None:
            # What a killed creation left: a folder without a manifest, which nobody could open or create.
            shutil.rmtree(self._folder / f"{name}.lance", ignore_errors=True)
            table = self._connect().create_table(name, schema=self._shapes[name].schema, exist_ok=True)
            self._opened[name] = table
        key = list(self._shapes[name].key)
        table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def _is_whole(self, name: str) -> bool:
        """Whether the table's first commit was finished."""
        return any((self._folder / f"{name}.lance" / "_versions").glob("*.manifest"))

    def _connect(self) -> Any:
        import lancedb

        return lancedb.connect(str(self._folder), read_consistency_interval=timedelta(0))


def match(words: str, column: str) -> Any:
    """A full-text query for words between spaces, without any syntax."""
    from lancedb.query import MatchQuery

    return MatchQuery(words, column)  # type: ignore[call-arg]  # its defaults are hidden from mypy


def is_in(column: str, values: Sequence[str]) -> str:
    """SQL: the column is one of the values."""
    return f"{column} IN ({', '.join(quoted(value) for value in values)})"


def quoted(value: str) -> str:
    """An SQL string."""
    return "'" + value.replace("'", "''") + "'"


def again_if_busy(write: Callable[[], R]) -> R:
    """Do it, and again when another writer came first. Waits 1.5 seconds in all, then gives up."""
    for attempt in range(ATTEMPTS - 1):
        try:
            return write()
        except (RuntimeError, OSError) as error:
            if "conflict" not in str(error).lower():
                raise
            time.sleep(FIRST_WAIT * 2**attempt)
    return write()


@contextmanager
def told(what: str) -> Iterator[None]:
    """LanceDB's failures as one line: the system's reason where there is one, never a row's text.

    Raises:
        StoreError: LanceDB could not do it.
    """
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:
        reason = _BY_THE_SYSTEM.search(str(error))
        raise StoreError(
            f"memory tables: can't {what}: {reason[0].strip() if reason else type(error).__name__}",
            "check the disk's space and rights under ORGMEM_HOME, then run the same command again",
        ) from error
