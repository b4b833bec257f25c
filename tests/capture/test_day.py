"""A short scripted day; benchmarks/day.py lives through a long one."""

import os
from pathlib import Path

from tests.capture.day import Day, check
from tests.capture.running_hooks import HOOK


def test_nothing_is_missed_and_nothing_is_there_twice_whatever_is_killed(tmp_path: Path) -> None:
    """hindsight 3412: state wiped by a kill; claude-mem 1469: events dropped while nothing listened."""
    day = Day(Path(os.path.realpath(tmp_path)), HOOK, seed=3)
    day.run(edits=30, kills=12)
    found = check(day)
    assert found["pending"] > 5
    assert day.done["hook killed"] + day.done["reconcile killed"] >= 12
