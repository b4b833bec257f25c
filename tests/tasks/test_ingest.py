"""Staging to the lake: nothing lost, nothing twice, whatever happens in between."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from orgmem.errors import StoreError
from orgmem.settings import Settings
from orgmem.store.lake import Lake
from orgmem.store.staging import Staging
from tasks import ingest
from tasks.ingest import Ingested, grouped, loaded, sorted_out
from tests.samples import OBSERVED, a_learning


@pytest.fixture
def staging(settings: Settings) -> Staging:
    return Staging(settings)


@pytest.fixture
def lake(settings: Settings) -> Lake:
    return Lake(settings)


def stage(staging: Staging, count: int) -> tuple[str, ...]:
    return tuple(sorted(staging.write(a_learning(f"Line {number}.\n")) for number in range(count)))


def validated(staging: Staging) -> tuple[str, ...]:
    return sorted_out(staging, staging.names(), lambda: OBSERVED)


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


def test_valid_files_are_loaded_and_invalid_ones_kept_with_their_reason(staging: Staging, lake: Lake) -> None:
    stage(staging, 2)
    (staging.folder / "strange.json").write_text('{"schema": 1}')
    fit = validated(staging)
    assert loaded(staging, lake, fit) == Ingested(files=3, learnings=2, rejects=1)
    (bad,) = lake.rows("rejects").to_pylist()
    assert (bad["source"], bad["line"], bad["raw"]) == ("strange.json", None, '{"schema": 1}')
    assert bad["reason"].startswith("id: Field required")
    (aside,) = (staging.folder / "rejected").iterdir()
    assert aside.read_text() == '{"schema": 1}'


def test_validating_twice_is_validating_once(staging: Staging) -> None:
    stage(staging, 1)
    (staging.folder / "strange.json").write_text("{")
    assert validated(staging) == validated(staging)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_put_aside(staging: Staging) -> None:
    (name,) = stage(staging, 1)
    (staging.folder / name).chmod(0)
    (reject,) = validated(staging)
    assert reject.startswith("rej_")


def test_a_file_that_another_run_took_is_passed_over(staging: Staging, lake: Lake) -> None:
    first, second = stage(staging, 2)
    staging.discard([first])
    assert sorted_out(staging, (first, second), lambda: OBSERVED) == (second,)
    staging.discard([second])
    assert loaded(staging, lake, (second,)).learnings == 0


def test_a_file_that_changed_under_the_load_stops_it(staging: Staging, lake: Lake) -> None:
    (name,) = stage(staging, 1)
    (staging.folder / name).write_text("{")
    with pytest.raises(StoreError, match="changed under the load"):
        loaded(staging, lake, (name,))
    assert lake.rows("learnings").num_rows == 0


def test_a_load_that_was_not_discarded_is_loaded_again_without_a_trace(staging: Staging, lake: Lake) -> None:
    stage(staging, 3)
    loaded(staging, lake, validated(staging))
    before = lake.rows("learnings")
    loaded(staging, lake, validated(staging))
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
        fit = sorted_out(staging, (name,), lambda: OBSERVED)
        tick()
        loaded(staging, lake, fit)
        tick()
        staging.discard(fit)


def test_killed_and_run_again_the_lake_is_that_of_an_undisturbed_run(tmp_path: Path) -> None:
    undisturbed, killed = (Settings(home=tmp_path / name) for name in ("undisturbed", "killed"))
    for settings in (undisturbed, killed):
        stage(Staging(settings), 3)
        (settings.staging / "strange.json").write_text("{")
    process = multiprocessing.get_context("spawn").Process(target=ingest_until_killed, args=(killed.home, 5))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    assert 0 < Staging(killed).count() < 4
    for settings in (undisturbed, killed):
        loaded(Staging(settings), Lake(settings), validated(Staging(settings)))
    for table in ("learnings", "hunks", "sightings", "rejects"):
        assert Lake(killed).rows(table) == Lake(undisturbed).rows(table)
