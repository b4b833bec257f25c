"""The lake's queries: DuckDB over the Parquet files of completed loads."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from orgmem.settings import Settings
from orgmem.store.lake_tables import FIRST, PIPELINE, SCHEMAS, StoredTable

_PLACE = [pa.field("filename", pa.string()), pa.field("file_row_number", pa.int64())]
"""Where a row lies, as DuckDB says it."""


def first_rows(table: StoredTable, columns: str = "", where: str = "true") -> str:
    """SQL for the rows that count, one an id."""
    columns = columns or ", ".join(f'"{name}"' for name in SCHEMAS[table].names)
    order = f"row_number() over (partition by id order by {FIRST[table]}) = 1"
    return f"select {columns} from {table} where {where} qualify {order}"  # noqa: S608 - names of our own


_ALL_NAMES = """
    select learning_id, list(external_id order by seen_at, external_id) as names from (
        select learning_id, external_id, min(observed_at) as seen_at
        from sightings where external_id is not null group by all
    ) group by learning_id
"""
_WITH_ALL_NAMES = f"""
    select * exclude (learning_id, names) replace (coalesce(names, external_ids) as external_ids)
    from {{rows}} left join ({_ALL_NAMES}) on id = learning_id
"""  # noqa: S608 - no outside text in it
LEARNINGS_SQL = _WITH_ALL_NAMES.format(rows=f"({first_rows('learnings')})")
"""Every learning once, named by all its sightings."""
HUNKS_SQL = f"""
    select id || '.' || ordinal as id, id as learning_id, ordinal, hunk.* from (
        select id, unnest(hunks) as hunk, unnest(range(len(hunks))) as ordinal
        from ({first_rows("learnings", "id, hunks")})
    )
"""  # noqa: S608 - no outside text in it
"""Every hunk of every learning, ordinals from 0."""
_PENDING = f"""
    with heads as ({first_rows("learnings", "id, observed_at")})
    select id from heads anti join dispositions on heads.id = dispositions.learning_id
    order by observed_at, id limit $limit
"""  # noqa: S608 - no outside text in it
_CHOSEN = _WITH_ALL_NAMES.format(
    rows="""(
        select columns(file.*) from file semi join places using (filename, file_row_number)
        where file.observed_at between $earliest and $latest
    )"""
)


class LakeReader:
    """Each question opens the completed files anew, in a connection of its own."""

    def __init__(self, settings: Settings) -> None:
        self._lake = settings.lake
        self._spill = settings.root / "duckdb-spill"

    def files(self, table: StoredTable) -> list[Path]:
        """The table's files of completed loads, in order of their loads."""
        loads = (self._lake / "_dlt_loads").glob(f"{PIPELINE}__*.jsonl")
        complete = {path.stem.partition("__")[2] for path in loads}
        found = (self._lake / table).glob("*.parquet")
        return sorted(path for path in found if path.name.rsplit(".", 2)[0] in complete)

    def ask(self, sql: str, *tables: StoredTable, **parameters: object) -> pa.Table:
        """A query over these tables as they lie in the files: not deduplicated."""
        return _ask(self._open(*tables), sql, **parameters)

    def ids(self) -> tuple[str, ...]:
        """Ids of all learnings, sorted."""
        return tuple(_values(self.ask("select distinct id from learnings order by id", "learnings"), "id"))

    def pending_ids(self, limit: int | None) -> tuple[str, ...]:
        """Ids of learnings without a disposition, by observed_at and id."""
        return tuple(_values(self.ask(_PENDING, "learnings", "dispositions", limit=limit), "id"))

    def known(self, table: StoredTable, ids: Iterable[str]) -> frozenset[str]:
        """Which of these ids the table has."""
        connection = self._open(table)
        connection.register("wanted", pa.table({"id": pa.array(ids, pa.string())}))
        found = _ask(connection, f"select distinct id from {table} semi join wanted using (id)")  # noqa: S608 - our names
        return frozenset(_values(found, "id"))

    def learnings(self, ids: Sequence[str]) -> pa.Table:
        """Rows of these learnings, by observed_at and id."""
        connection = self._open("learnings", "sightings")
        connection.register("wanted", pa.table({"id": pa.array(ids, pa.string())}))
        where = "id in (select id from wanted)"
        heads = first_rows("learnings", "id, observed_at, filename, file_row_number", where)
        places = _ask(connection, heads)
        if not places.num_rows:
            return SCHEMAS["learnings"].empty_table()
        connection.register("places", places)
        files = [Path(name) for name in sorted(set(_values(places, "filename")))]
        _view(connection, "file", "learnings", files)
        moments = _values(places, "observed_at")
        sql = f"select * exclude (filename, file_row_number) from ({_CHOSEN}) order by observed_at, id"  # noqa: S608
        return _ask(connection, sql, earliest=min(moments), latest=max(moments))

    def _open(self, *tables: StoredTable) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(":memory:")
        connection.execute("set TimeZone = 'UTC'")
        connection.execute("set autoinstall_known_extensions = false")
        connection.execute("set temp_directory = $1", [str(self._spill)])
        for table in tables:
            _view(connection, table, table, self.files(table))
        return connection


def _view(connection: duckdb.DuckDBPyConnection, name: str, table: StoredTable, files: Sequence[Path]) -> None:
    """Show files as a view with the columns of `table` and each row's place; no files, no rows."""
    if files:
        paths = [re.sub(r"([\[*?])", r"[\1]", str(path)) for path in files]  # DuckDB takes paths as patterns
        rows = connection.read_parquet(paths, filename=True, file_row_number=True, union_by_name=True)
        rows.create_view(name)
    else:
        schema = pa.schema([*SCHEMAS[table], *_PLACE])
        connection.register(name, schema.empty_table())


def _ask(connection: duckdb.DuckDBPyConnection, sql: str, **parameters: object) -> pa.Table:
    found: pa.Table = connection.sql(sql, params=parameters).to_arrow_table()
    return found


def _values(table: pa.Table, column: str) -> list[Any]:
    return table[column].to_pylist()
