"""Killed anywhere and run again, the pipeline ends in the tables of an undisturbed run."""

import multiprocessing
import random
import shutil
import signal
import time
from collections import Counter
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from orgmem.settings import Settings
from orgmem.store.row_sets import row_sets
from tests.warm import orgmem

HOMES = 5
KILLS = 4
"""A home; a run that is killed late leaves little for the next."""
WARM = multiprocessing.get_context("forkserver")
WARM.set_forkserver_preload(["tests.warm"])


def started(home: Path, server: str, *words: str) -> ForkServerProcess:
    """A process of its own that runs a verb."""
    process = WARM.Process(target=orgmem, args=(home, server, *words))
    process.start()
    return process


def finish(home: Path, server: str, *words: str) -> float:
    """Run a verb to its end; how long it took."""
    began = time.monotonic()
    process = started(home, server, *words)
    process.join(timeout=200)
    assert process.exitcode == 0
    return time.monotonic() - began


def kill_during_curate(home: Path, server: str, seconds: float) -> bool:
    """Start curate, kill it after so many seconds; whether it was still at work."""
    process = started(home, server, "curate")
    process.join(timeout=seconds)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def tables(home: Path) -> dict[str, Counter[str]]:
    return row_sets(Settings(home=home))


@dataclass(frozen=True)
class Undisturbed:
    """A home with the sample staged, how long a run over it takes (seconds), and the tables that it ends in."""

    staged: Path
    whole: float
    tables: dict[str, Counter[str]]


@pytest.fixture(scope="module")
def undisturbed(prefect_server: str, tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    staged, curated = folder / "staged", folder / "curated"
    finish(staged, prefect_server, "import", str(checkout / "examples" / "acme" / "revisions.jsonl"))
    shutil.copytree(staged, curated)
    whole = finish(curated, prefect_server, "curate")
    return Undisturbed(staged, whole, tables(curated))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("number", range(HOMES))
def test_kills_at_random_moments_change_no_table(
    prefect_server: str, undisturbed: Undisturbed, tmp_path: Path, number: int
) -> None:
    """Four kills a home, twenty in all. Each is followed by a run, which meets the next; the last one ends."""
    seed = random.randrange(2**32)
    moments = random.Random(seed).choices([undisturbed.whole * part / 100 for part in range(5, 100)], k=KILLS)
    home = tmp_path / "killed"
    shutil.copytree(undisturbed.staged, home)
    at_work = sum(kill_during_curate(home, prefect_server, seconds) for seconds in moments)
    finish(home, prefect_server, "curate")
    assert undisturbed.tables["memories"]
    assert tables(home) == undisturbed.tables, f"seed {seed}"
    assert at_work, f"no kill met a process at work, seed {seed}"
