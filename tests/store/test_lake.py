"""The lake: appended by dlt, deduplicated when read, whole loads only."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import filelock
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from orgmem.errors import BusyError
from orgmem.settings import Settings
from orgmem.store import lake as lake_module
from orgmem.store.lake import Lake, Table
from orgmem.store.lake_tables import FIRST, PIPELINE, SCHEMAS, StoredTable
from orgmem.store.rejects import reject
from orgmem.store.staging import sightings_of
from schemas.disposition import Disposition, Stage
from schemas.learning import Learning, Reject, Sighting
from tests.samples import OBSERVED, a_disposition, a_learning

DAY = timedelta(days=1)


TABLES: tuple[Table, ...] = ("learnings", "hunks", "sightings", "rejects", "dispositions")


@pytest.fixture
def lake(settings: Settings) -> Lake:
    return Lake(settings)


def several(count: int) -> list[Learning]:
    return [a_learning(f"Line {number}.\n", observed_at=OBSERVED - number * DAY) for number in range(count)]


def test_an_empty_lake_has_every_table(lake: Lake) -> None:
    for table in TABLES:
        assert lake.rows(table).num_rows == 0
    assert (lake.ids(), lake.pending_ids(), lake.learnings(["lrn_x"]), list(lake.dispositions())) == (
        (),
        (),
        (),
        [],
    )
    assert lake.known("learnings", ["lrn_x"]) == frozenset()


@pytest.mark.parametrize(
    ("table", "model"),
    [("learnings", Learning), ("sightings", Sighting), ("rejects", Reject), ("dispositions", Disposition)],
)
def test_a_table_has_a_column_for_each_field(
    table: StoredTable, model: type[Learning | Sighting | Reject | Disposition]
) -> None:
    fields = {info.serialization_alias or name for name, info in model.model_fields.items()}
    assert set(SCHEMAS[table].names) == fields
    assert set(FIRST[table].split(", ")) <= fields


def test_rows_come_back_as_they_were(lake: Lake) -> None:
    learning = a_learning("Zürich, 漢字, \0 and 'quotes'.\n", external_ids=("a",), commit="abc", contributor="p-1")
    bad = reject("a.jsonl", 3, "bad", b"x", rejected_at=OBSERVED)
    said = a_disposition(related=("mem_1",))
    count = lake.append(learnings=[learning], sightings=sightings_of(learning), rejects=[bad], dispositions=[said])
    assert count == 4
    assert lake.learnings([learning.id]) == (learning,)
    assert tuple(lake.dispositions()) == (said,)
    assert Reject.model_validate(lake.rows("rejects").to_pylist()[0]) == bad
    assert (Sighting.model_validate(lake.rows("sightings").to_pylist()[0]),) == sightings_of(learning)
    assert lake.rows("hunks").to_pylist() == [
        {
            "id": f"{learning.id}.0",
            "learning_id": learning.id,
            "ordinal": 0,
            **learning.hunks[0].model_dump(mode="json"),
        }
    ]


def test_loading_again_changes_nothing_that_a_reader_sees(lake: Lake) -> None:
    rows = several(3)
    sightings = [sighting for learning in rows for sighting in sightings_of(learning)]
    lake.append(learnings=rows, sightings=sightings)
    before = {table: lake.rows(table) for table in TABLES}
    lake.append(learnings=reversed(rows), sightings=sightings)
    assert {table: lake.rows(table) for table in before} == before


def test_the_earliest_sighting_gives_the_row_and_all_give_their_names(lake: Lake) -> None:
    late = a_learning(external_ids=("late",), commit="b")
    early = late.model_copy(update={"observed_at": OBSERVED - DAY, "external_ids": ("early",), "commit": "a"})
    for learning in (late, early):
        lake.append(learnings=[learning], sightings=sightings_of(learning))
    (found,) = lake.learnings([late.id])
    assert (found.observed_at, found.commit, found.external_ids) == (
        early.observed_at,
        "a",
        ("early", "late"),
    )
    assert lake.rows("learnings")["external_ids"].to_pylist() == [["early", "late"]]
    assert lake.rows("sightings").num_rows == 2


def test_of_rows_that_differ_by_the_clock_the_first_counts(lake: Lake) -> None:
    for days in (2, 1, 3):
        moment = OBSERVED + days * DAY
        lake.append(
            learnings=[a_learning(approved_at=moment)],
            rejects=[reject("a.jsonl", 3, "bad", b"x", rejected_at=moment)],
            dispositions=[a_disposition(decided_at=moment, run_id=f"run_{days}")],
        )
    first = OBSERVED + DAY
    assert lake.rows("learnings")["approved_at"].to_pylist() == [first]
    assert lake.rows("rejects")["rejected_at"].to_pylist() == [first]
    assert lake.rows("dispositions")["decided_at"].to_pylist() == [first]


def test_pending_are_those_without_a_disposition_earliest_first(lake: Lake) -> None:
    rows = several(4)
    lake.append(learnings=rows, dispositions=[a_disposition(Stage.ENRICH, learning_id=rows[1].id)])
    expected = (rows[3].id, rows[2].id, rows[0].id)
    assert lake.pending_ids() == expected
    assert lake.pending_ids(2) == expected[:2]
    assert lake.ids() == tuple(sorted(learning.id for learning in rows))


def test_learnings_are_found_over_files_and_row_groups(settings: Settings) -> None:
    lake = Lake(settings)
    rows = several(lake_module.ROW_GROUP * 2 + 10)
    lake.append(learnings=rows[::2])
    lake.append(learnings=rows[1::2])
    wanted = rows[5:265:13]
    found = lake.learnings([learning.id for learning in wanted])
    assert found == tuple(sorted(wanted, key=lambda learning: learning.observed_at))
    assert lake.known("learnings", ["lrn_x", wanted[0].id]) == {wanted[0].id}


def test_files_of_a_load_that_never_completed_are_not_read_and_swept_by_the_next(
    lake: Lake, settings: Settings
) -> None:
    lake.append(learnings=several(2))
    (complete,) = (settings.lake / "learnings").iterdir()
    left = complete.with_name("1700000000.5.0123456789.parquet")
    shutil.copy(complete, left)
    half = complete.with_name("1700000001.5.0123456789.parquet")
    half.write_bytes(complete.read_bytes()[:100])
    assert lake.rows("learnings").num_rows == 2
    lake.append(learnings=several(3))
    assert not left.exists()
    assert not half.exists()
    assert complete.exists()
    assert lake.rows("learnings").num_rows == 3


def test_a_pending_package_of_a_killed_load_does_not_shadow_new_rows(lake: Lake, settings: Settings) -> None:
    import dlt

    killed = dlt.pipeline(
        PIPELINE,
        pipelines_dir=str(settings.home / "dlt" / "loads" / settings.tenant),
        destination=dlt.destinations.filesystem(bucket_url=str(settings.root)),
        dataset_name="lake",
    )
    killed.extract([{"id": "old"}], table_name="learnings", loader_file_format="parquet")
    killed.normalize()
    assert killed.has_pending_data
    lake.append(learnings=several(3))
    assert lake.ids() == tuple(sorted(learning.id for learning in several(3)))


def test_nothing_is_left_of_a_load_but_rows(lake: Lake, settings: Settings) -> None:
    lake.append(learnings=several(1))
    assert not (settings.home / "dlt" / "loads" / settings.tenant).exists()
    assert {path.name for path in settings.root.iterdir()} == {"lake", "locks"}


def test_what_the_file_system_refuses_is_an_os_error_and_leaves_no_rows(lake: Lake, settings: Settings) -> None:
    lake.append(learnings=several(1))
    blocked = settings.lake / "rejects"
    blocked.write_text("a file where the table's folder should be")
    with pytest.raises(OSError, match="rejects"):
        lake.append(rejects=[reject("a.jsonl", 1, "bad", b"x", rejected_at=OBSERVED)])
    blocked.unlink()
    assert lake.rows("rejects").num_rows == 0
    assert lake.rows("learnings").num_rows == 1


def test_a_load_waits_for_another_and_then_gives_up(
    lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lake_module, "WAIT_SECONDS", 0)
    settings.locks.mkdir(parents=True)
    with filelock.FileLock(settings.locks / "lake.lock"), pytest.raises(BusyError, match="another process"):
        lake.append(learnings=several(1))


def test_loads_at_once_lose_nothing(settings: Settings) -> None:
    with ThreadPoolExecutor(3) as threads:
        counts = threads.map(lambda learning: Lake(settings).append(learnings=[learning]), several(3))
    assert list(counts) == [1, 1, 1]
    assert Lake(settings).rows("learnings").num_rows == 3


def test_a_path_with_signs_of_patterns_and_quotes_is_a_path(tmp_path: Path) -> None:
    lake = Lake(Settings(home=tmp_path / "it's [a] *home"))
    lake.append(learnings=several(2))
    assert lake.rows("learnings").num_rows == 2
    assert len(lake.learnings(lake.pending_ids())) == 2


def test_dlt_says_nothing_and_heeds_no_configuration_of_the_current_folder(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".dlt").mkdir()
    (tmp_path / ".dlt" / "config.toml").write_text('[destination.filesystem]\nlayout = "stolen/{file_id}.{ext}"\n')
    monkeypatch.chdir(tmp_path)
    lake.append(learnings=several(2))
    assert capfd.readouterr() == ("", "")
    assert lake.rows("learnings").num_rows == 2


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, list[Learning]]:
    lake = Lake(Settings(home=tmp_path_factory.mktemp("shared")))
    rows = several(6)
    lake.append(learnings=rows[:4])
    lake.append(learnings=rows[2:])
    return lake, rows


@effort(max_examples=15)
@given(st.sets(st.integers(0, 8)))
def test_any_choice_of_learnings_is_found_in_order(shared: tuple[Lake, list[Learning]], chosen: set[int]) -> None:
    lake, rows = shared
    ids = [rows[number].id if number < len(rows) else f"lrn_{number:024x}" for number in chosen]
    expected = [rows[number].id for number in sorted(chosen, reverse=True) if number < len(rows)]
    assert [learning.id for learning in lake.learnings(ids)] == expected
    assert isinstance(lake.rows("learnings"), pa.Table)
