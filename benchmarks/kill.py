"""Kill curation of a whole corpus at random moments, again and again, and compare the tables in the end.

    python -P benchmarks/kill.py CORPUS.jsonl.gz [--kills 20] [--seed N]

One home is curated undisturbed. Another is killed (SIGKILL) while it works, run again, killed again, and so on
until a run finishes; then another home. Prints each kill's moment and what the journal held, and for each finished
home whether every table is equal.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from orgmem.settings import Settings
from orgmem.store.row_sets import row_sets

FINISHED = "none, it had finished"
ORGMEM = Path(sys.executable).with_name("orgmem")


def run(home: Path, *words: str) -> float:
    """Run a verb to its end; seconds."""
    began = time.monotonic()
    subprocess.run([ORGMEM, *words], env={**os.environ, "ORGMEM_HOME": str(home)}, check=True, capture_output=True)
    return time.monotonic() - began


def at_work(home: Path, began: float) -> bool:
    """Whether a run that began then has touched lake or journal: its start-up is over."""
    places = (home / "default" / name for name in ("lake/_dlt_loads", "journal", "locks/curate.lock"))
    return any(place.exists() and place.stat().st_mtime > began for place in places)


def kill(home: Path, seconds: float) -> str:
    """Curate, and kill it when it has been at work for so many seconds; what was left."""
    began = time.time()
    process = subprocess.Popen(
        [ORGMEM, "curate"],
        env={**os.environ, "ORGMEM_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not at_work(home, began):
        time.sleep(0.01)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
    journal = home / "default" / "journal"
    batches = sorted(journal.glob("*")) if journal.exists() else []
    if process.returncode == 0:
        return FINISHED
    if not batches:
        return "no batch in the journal"
    files = sorted(batches[-1].iterdir(), key=lambda path: path.stat().st_mtime)
    return f"{len(batches)} batches in the journal, last written {files[-1].name if files else 'nothing'}"


def main() -> int:
    """Run it; exit code 1 when a table differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        staged, undisturbed, killed = (Path(folder) / name for name in ("staged", "undisturbed", "killed"))
        run(staged, "import", str(given.corpus))
        shutil.copytree(staged, undisturbed)
        whole = run(undisturbed, "curate")
        print(f"undisturbed: {whole:.0f} s; seed {given.seed}")
        wanted, moments, kills, equal = row_sets(Settings(home=undisturbed)), random.Random(given.seed), 0, True
        while kills < given.kills:
            if not killed.exists():
                shutil.copytree(staged, killed)
            # Each run goes on where the last was killed; long enough for a batch, or none would get on.
            seconds = moments.uniform(0, whole / 5)
            left = kill(killed, seconds)
            kills += left != FINISHED
            print(f"kill {kills:2} after {seconds:5.1f} s of work: {left}", flush=True)
            if left == FINISHED:
                equal &= same(killed, wanted)
                shutil.rmtree(killed)
        print(f"the last run: {run(killed, 'curate') if killed.exists() else 0:.0f} s")
        return int(not (equal and (not killed.exists() or same(killed, wanted))))


def same(home: Path, wanted: dict[str, Counter[str]]) -> bool:
    """Whether every table is that of the undisturbed run; prints a line a table."""
    found = row_sets(Settings(home=home))
    for table, rows in wanted.items():
        print(
            f"  {table:13} {rows.total():6} rows  {'equal' if found[table] == rows else 'DIFFERENT'}", flush=True
        )
    return found == wanted


if __name__ == "__main__":
    sys.exit(main())
