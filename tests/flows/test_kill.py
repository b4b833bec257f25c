"""Killed anywhere and run again, the pipeline ends in the tables of an undisturbed run."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orgmem.settings import Settings
from orgmem.store.row_sets import row_sets

KILLS = 20
HOMES = 5
ORGMEM = Path(sys.executable).with_name("orgmem")


def environment(home: Path, server: str) -> dict[str, str]:
    return {**os.environ, "ORGMEM_HOME": str(home), "PREFECT_API_URL": server, "ORGMEM_BATCH_SIZE": "20"}


def finish(home: Path, server: str, *words: str) -> float:
    """Run a verb to its end; how long it took."""
    began = time.monotonic()
    done = subprocess.run(
        [ORGMEM, *words], env=environment(home, server), capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began


def kill_during_curate(home: Path, server: str, seconds: float) -> bool:
    """Start curate, kill it after so many seconds; whether it was still at work."""
    process = subprocess.Popen(
        [ORGMEM, "curate"],
        env=environment(home, server),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return process.returncode == -signal.SIGKILL


def tables(home: Path) -> dict[str, Counter[str]]:
    return row_sets(Settings(home=home))


@pytest.mark.timeout(900)
def test_twenty_kills_at_random_moments_change_no_table(
    prefect_server: str, tmp_path: Path, checkout: Path
) -> None:
    staged, undisturbed = tmp_path / "staged", tmp_path / "undisturbed"
    finish(staged, prefect_server, "import", str(checkout / "examples" / "acme" / "revisions.jsonl"))
    shutil.copytree(staged, undisturbed)
    whole = finish(undisturbed, prefect_server, "curate")
    wanted = tables(undisturbed)
    assert wanted["memories"]
    seed = random.randrange(2**32)
    moments = random.Random(seed).choices([whole * part / 100 for part in range(15, 100)], k=KILLS)

    def killed_again_and_again(number: int) -> int:
        """Each kill is followed by a run, which meets the next kill, and the last one by a run to the end."""
        home = tmp_path / f"killed-{number}"
        shutil.copytree(staged, home)
        at_work = sum(kill_during_curate(home, prefect_server, seconds) for seconds in moments[number::HOMES])
        finish(home, prefect_server, "curate")
        assert tables(home) == wanted, f"seed {seed}, home {number} of {HOMES}"
        return at_work

    with ThreadPoolExecutor(2) as both_cores:
        at_work = sum(both_cores.map(killed_again_and_again, range(HOMES)))
    assert at_work >= KILLS // 2, "too few kills met a process at work"
