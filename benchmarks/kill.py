"""Kill curation of a whole corpus at random moments, again and again, and compare the tables in the end.

    python -P benchmarks/kill.py CORPUS.jsonl.gz [--kills 20] [--seed N]

One home is curated undisturbed. Another is killed (SIGKILL) while it works, run again, killed again, and so on;
the last run may finish. Prints each kill's moment and what the journal held, and whether every table is equal.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from orgmem.settings import Settings
from orgmem.store.row_sets import row_sets

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
        return "it had finished"
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
        undisturbed, killed = Path(folder) / "undisturbed", Path(folder) / "killed"
        for home in (undisturbed, killed):
            run(home, "import", str(given.corpus))
        whole = run(undisturbed, "curate")
        print(f"undisturbed: {whole:.0f} s; seed {given.seed}")
        # Kills are spread over the whole work, since each run goes on where the last was killed.
        moments = random.Random(given.seed)
        for number in range(given.kills):
            seconds = moments.uniform(0, whole / 5)  # long enough for a batch, or no run gets on
            print(f"kill {number + 1:2} after {seconds:5.1f} s of work: {kill(killed, seconds)}", flush=True)
        print(f"the last run: {run(killed, 'curate'):.0f} s")
        wanted, found = row_sets(Settings(home=undisturbed)), row_sets(Settings(home=killed))
        for table, rows in wanted.items():
            print(f"{table:13} {rows.total():6} rows  {'equal' if found[table] == rows else 'DIFFERENT'}")
        return int(found != wanted)


if __name__ == "__main__":
    sys.exit(main())
