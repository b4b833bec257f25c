"""Staging to the lake: nothing lost, nothing twice, whatever happens in between."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from orgmem.settings import Settings
from orgmem.store.lake import Lake
from orgmem.store.staging import Staging
from schemas.learning import Learning, Reject
from tasks import ingest
from tasks.ingest import Ingested, grouped, loaded, rows_of
from tests.samples import OBSERVED, a_learning


@pytest.fixture
def staging(settings: Settings) -> Staging:
    return Staging(settings)


@pytest.fixture
def lake(settings: Settings) -> Lake:
    return Lake(settings)


def stage(staging: Staging, count: int) -> tuple[str, ...]:
    return tuple(sorted(staging.write(a_learning(f"Line {number}.\n")) for number in range(count)))


def load_all(settings: Settings) -> Ingested:
    staging = Staging(settings)
    return loaded(staging, Lake(settings), staging.names(), lambda: OBSERVED)


def read_all(staging: Staging) -> dict[str, Learning | Reject]:
    return rows_of(staging, staging.names(), lambda: OBSERVED)


def test_groups_hold_every_file_once_and_keep_to_their_limits(
    staging: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = stage(staging, 7)
    assert tuple(grouped(staging)) == (names,)
    monkeypatch.setattr(ingest, "MOST_FILES", 3)
    assert [len(group) for group in grouped(staging)] == [3, 3, 1]
    monkeypatch.setattr(ingest, "MOST_BYTES", 10)
    assert [len(group) for group in grouped(staging)] == [1] * 7
    assert tuple(name for group in grouped(staging) for name in group) == names


def test_an_empty_staging_has_no_groups(staging: Staging) -> None:
    assert tuple(grouped(staging)) == ()


def test_valid_files_are_loaded_and_invalid_ones_kept_with_their_reason(
    settings: Settings, staging: Staging, lake: Lake
) -> None:
    stage(staging, 2)
    (staging.folder / "strange.json").write_text('{"schema": 1}')
    done = load_all(settings)
    assert (done.learnings, done.rejects) == (2, 1)
    assert done.files == staging.names()
    (bad,) = lake.rows("rejects").to_pylist()
    assert (bad["source"], bad["line"], bad["raw"]) == ("strange.json", None, '{"schema": 1}')
    assert bad["reason"].startswith("id: Field required")
    (aside,) = (staging.folder / "rejected").iterdir()
    assert aside.read_text() == '{"schema": 1}'


def test_reading_twice_is_reading_once(staging: Staging) -> None:
    stage(staging, 1)
    (staging.folder / "strange.json").write_text("{")
    assert read_all(staging) == read_all(staging)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_put_aside(staging: Staging) -> None:
    (name,) = stage(staging, 1)
    (staging.folder / name).chmod(0)
    (row,) = read_all(staging).values()
    assert isinstance(row, Reject)


def test_a_file_that_another_run_took_is_passed_over(staging: Staging, lake: Lake) -> None:
    first, second = stage(staging, 2)
    staging.discard([first])
    done = loaded(staging, lake, (first, second), lambda: OBSERVED)
    assert (done.files, done.learnings) == ((second,), 1)


def test_a_load_that_was_not_discarded_is_loaded_again_without_a_trace(
    settings: Settings, staging: Staging, lake: Lake
) -> None:
    stage(staging, 3)
    load_all(settings)
    before = lake.rows("learnings")
    load_all(settings)
    assert lake.rows("learnings") == before


def ingest_until_killed(home: Path, step: int) -> None:
    """Ingest file by file; die at the nth step."""
    settings = Settings(home=home)
    staging, lake = Staging(settings), Lake(settings)
    steps = iter(range(step + 1))

    def tick() -> None:
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in staging.names():
        tick()
        done = loaded(staging, lake, (name,), lambda: OBSERVED)
        tick()
        staging.discard(done.files)


def test_killed_and_run_again_the_lake_is_that_of_an_undisturbed_run(tmp_path: Path) -> None:
    undisturbed, killed = (Settings(home=tmp_path / name) for name in ("undisturbed", "killed"))
    for settings in (undisturbed, killed):
        stage(Staging(settings), 3)
        (settings.staging / "strange.json").write_text("{")
    process = multiprocessing.get_context("spawn").Process(target=ingest_until_killed, args=(killed.home, 3))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    assert 0 < Staging(killed).count() < 4
    for settings in (undisturbed, killed):
        load_all(settings)
    for table in ("learnings", "hunks", "sightings", "rejects"):
        assert Lake(killed).rows(table) == Lake(undisturbed).rows(table)
