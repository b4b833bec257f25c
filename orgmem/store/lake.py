"""The lake: every learning, sighting, reject and disposition for ever, as Parquet that only dlt writes.

Append-only, ids from content, deduplicated when read: whatever is loaded twice is seen once. Readers see the
files of completed loads only; what a killed load left is swept away by the next one. Hunks are kept inside
their learning's row, so that the two can never disagree, and read as a table of their own.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import filelock
import pyarrow as pa
from pydantic import BaseModel

from orgmem.errors import BusyError, StoreError
from orgmem.settings import Settings
from orgmem.store.atomic import to_disk
from orgmem.store.lake_reader import HUNKS_SQL, LEARNINGS_SQL, LakeReader, first_rows
from orgmem.store.lake_tables import PIPELINE, SCHEMAS, StoredTable
from schemas.disposition import Disposition
from schemas.learning import Learning, Reject, Sighting

Table = Literal[StoredTable, "hunks"]

WAIT_SECONDS = 120
"""How long a load waits for another process's load."""
ROW_GROUP = 128
"""Rows a row group: a batch of learnings, which follow `observed_at`, touches few of them."""


class Lake:
    """Appends by dlt, reads by DuckDB. Holds no file open between calls."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reader = LakeReader(settings)
        self._work = settings.home / "dlt" / "loads" / settings.tenant

    def append(
        self,
        *,
        learnings: Iterable[Learning] = (),
        sightings: Iterable[Sighting] = (),
        rejects: Iterable[Reject] = (),
        dispositions: Iterable[Disposition] = (),
    ) -> int:
        """Load rows, all or none; loading them again changes nothing that a reader sees.

        Returns:
            How many rows were loaded.

        Raises:
            OSError: the disk is full or the folder can't be written; readers see nothing of it.
            BusyError: another process was loading for two minutes.
            StoreError: dlt failed otherwise.
        """
        ordered = sorted(learnings, key=lambda learning: (learning.observed_at, learning.id))
        given: dict[StoredTable, Iterable[BaseModel]] = {
            "learnings": ordered,
            "sightings": sightings,
            "rejects": rejects,
            "dispositions": dispositions,
        }
        tables = {name: _arrow(name, rows) for name, rows in given.items()}
        tables = {name: table for name, table in tables.items() if table.num_rows}
        if tables:
            with self._alone():
                self._load(tables)
        return sum(table.num_rows for table in tables.values())

    def rows(self, table: Table) -> pa.Table:
        """The table deduplicated by content id, ordered by id.

        A learning's row is its earliest sighting's, with the external ids of all its sightings.
        """
        match table:
            case "learnings":
                return self._reader.ask(f"{LEARNINGS_SQL} order by id", "learnings", "sightings")
            case "hunks":
                return self._reader.ask(f"{HUNKS_SQL} order by learning_id, ordinal", "learnings")
            case _:
                return self._reader.ask(f"{first_rows(table)} order by id", table)

    def dispositions(self) -> Iterator[Disposition]:
        """Every disposition, ordered by id."""
        for batch in self.rows("dispositions").to_batches(max_chunksize=10_000):
            yield from (Disposition.model_validate(row) for row in batch.to_pylist())

    def ids(self) -> tuple[str, ...]:
        """Ids of every learning, sorted; reads no texts."""
        return self._reader.ids()

    def pending_ids(self, limit: int | None = None) -> tuple[str, ...]:
        """Ids of learnings without a disposition, earliest first; reads no texts."""
        return self._reader.pending_ids(limit)

    def learnings(self, ids: Sequence[str]) -> tuple[Learning, ...]:
        """These learnings, ordered by observed_at and id; reads only the row groups that may hold them."""
        return tuple(Learning.model_validate(row) for row in self._reader.learnings(ids).to_pylist())

    def known(self, table: StoredTable, ids: Iterable[str]) -> frozenset[str]:
        """Which of these ids the table has."""
        return self._reader.known(table, ids)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        path = self._settings.locks / "lake.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with filelock.FileLock(path, timeout=WAIT_SECONDS):
                yield
        except filelock.Timeout:
            raise BusyError(f"another process is loading into {path.parent}", "wait, then try again") from None

    def _sweep(self) -> None:
        """Remove what is left of loads that never completed; only under the lock."""
        # Sources can be read again, so no pipeline outlives its load: nothing pending can shadow new rows.
        shutil.rmtree(self._work, ignore_errors=True)
        for table in SCHEMAS:
            complete = set(self._reader.files(table))
            for path in (self._settings.lake / table).glob("*.parquet"):
                if path not in complete:
                    path.unlink()

    def _load(self, tables: dict[StoredTable, pa.Table]) -> None:
        self._sweep()
        try:
            _run_pipeline(self._settings.lake, self._work, tables)
        except Exception as error:  # dlt wraps whatever went wrong, several layers deep
            raise _plainly(error, self._settings.lake) from error
        finally:
            self._sweep()


def _arrow(name: StoredTable, rows: Iterable[BaseModel]) -> pa.Table:
    return pa.Table.from_pylist([row.model_dump(by_alias=True) for row in rows], schema=SCHEMAS[name])


def _run_pipeline(lake: Path, work: Path, tables: dict[StoredTable, pa.Table]) -> None:
    import dlt

    lake.parent.mkdir(parents=True, exist_ok=True)
    dlt.config["data_writer.row_group_size"] = ROW_GROUP
    dlt.config["load.raise_on_max_retries"] = 1
    dlt.config["restore_from_destination"] = False
    pipeline = dlt.pipeline(
        PIPELINE,
        pipelines_dir=str(work),
        destination=dlt.destinations.filesystem(
            bucket_url=str(lake.parent), layout="{table_name}/{load_id}.{file_id}.{ext}"
        ),
        dataset_name=lake.name,
    )
    resources = [dlt.resource([table], name=name, write_disposition="append") for name, table in tables.items()]
    info = pipeline.run(resources, loader_file_format="parquet")
    written = [path for load_id in info.loads_ids for path in lake.glob(f"*/*{load_id}*")]
    for path in (*written, *{path.parent for path in written}):
        to_disk(path)  # the staged files are removed next


def _plainly(error: BaseException, lake: Path) -> OSError | StoreError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return StoreError(f"the lake {lake} took no rows: {type(error).__name__}", "run the same command again")
