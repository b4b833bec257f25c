"""Live through a long scripted day, and see whether capture missed anything or saw anything twice.

    python -P benchmarks/day.py [--edits 500] [--kills 200] [--seed N] [--keep]

The day itself, and the law that is checked, are tests/capture/day.py: the test run lives through a short one.
Prints what was done, which processes were killed, and what was found; the exit code is 1 where the law fails.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=500)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    given = parser.parse_args()
    sys.path.insert(0, str(CHECKOUT))  # the day is among the tests, which are no package
    from tests.capture.day import Day, check

    folder = Path(os.path.realpath(tempfile.mkdtemp()))
    print(f"seed {given.seed}, {folder}", flush=True)
    day = Day(folder, CHECKOUT / "scripts" / "orgmem-hook", given.seed)
    began = time.monotonic()
    try:
        day.run(given.edits, given.kills)
        found = check(day)
    except AssertionError as error:
        print(f"after {dict(day.done)}: {error}")
        return 1
    finally:
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{time.monotonic() - began:.0f} s; done {dict(day.done)}")
    print(f"candidates {found}; {len(day.gone)} files known from payloads only, {len(day.lost)} folders lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
