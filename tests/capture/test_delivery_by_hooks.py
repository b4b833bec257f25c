"""From a hook to the server and back to status: real hooks, the detached process, a server that fails."""

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orgmem.capture.hook import LOCK
from orgmem.capture.reconcile import run
from orgmem.capture.state import candidates
from orgmem.capture.status import Status, status
from orgmem.capture.warning import waiting
from orgmem.identity import now
from tests.capture.hub import TOKEN, Hangs, Hub, Says
from tests.capture.running_hooks import HOOK
from tests.capture.workplace import Workplace, written


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as started:
        yield started


class Day:
    """A session in a repository whose edits are always shared, with real hooks."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        self.work = Workplace(folder, endpoint=hub.url, token=TOKEN)
        self.shop = self.work.repository()
        candidates.set_rule(self.work.db, "github.com/acme/shop", "", "always", 1.0)
        ours = {"ORGMEM_HOME": str(self.work.settings.home), "ORGMEM_ENDPOINT": hub.url, "ORGMEM_TOKEN": TOKEN}
        self.environment = {**os.environ, "HOME": str(folder), **ours}

    def tell(self, event: str, **payload: object) -> None:
        """Run a hook, which is to say nothing, whatever the server does."""
        given = {"hook_event_name": event, "cwd": str(self.shop), "session_id": "s1", **payload}
        command = [sys.executable, str(HOOK), event]
        done = subprocess.run(
            command, input=json.dumps(given).encode(), env=self.environment, capture_output=True, check=True
        )
        assert (done.stdout, done.stderr) == (b"", b"")

    def edit(self, number: int) -> None:
        """An edit by a command, in a file of its own."""
        written(self.shop / f"part{number}" / "CLAUDE.md", f"# Part {number}\n")
        self.tell("PostToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_response={"stdout": ""})

    def rest(self) -> None:
        """Wait until no detached process is at work any more."""
        until = time.monotonic() + 60
        while waiting(str(self.work.settings.home)).number and time.monotonic() < until:
            time.sleep(0.05)
        for name in (LOCK, "deliver.lock"):
            with (self.work.settings.capture_folder / name).open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)

    def status(self) -> Status:
        return status(self.work.db, self.work.settings, now)


def test_every_edit_ends_as_delivered_queued_or_refused(tmp_path: Path, hub: Hub) -> None:
    """claude-mem 2533: nothing disappears while the other end rejects it."""
    day = Day(tmp_path, hub)
    day.tell("SessionStart", source="startup")
    day.rest()
    hub.faults += [Says(422)] * 3 + [Says(201)] * 2
    hub.always = Says(503)
    for number in range(12):
        day.edit(number)
    day.rest()
    run(day.work.settings, now, full=True, origin="sync")
    found = day.status()
    assert (found.captured, found.approved) == (12, 12)
    assert found.queued + found.delivered + found.failed == 12
    assert (found.failed, found.delivered, len(found.failures)) == (3, 2, 3)
    assert found.queued == 7
    assert {each.next for each in found.problems} >= {"orgmem capture sync", "orgmem capture sync --retry-failed"}


def test_an_edit_is_noticed_while_a_delivery_hangs(tmp_path: Path) -> None:
    with Hub() as asleep:
        day = Day(tmp_path, asleep)
        asleep.always = Hangs()
        day.tell("SessionStart", source="startup")
        day.rest()
        day.edit(1)
        day.tell("Stop")
        until = time.monotonic() + 60
        while not asleep.requests and time.monotonic() < until:
            time.sleep(0.05)
        day.edit(2)
        day.tell("Stop")
        with (day.work.settings.capture_folder / "deliver.lock").open("a") as lock:
            while day.status().captured < 2 and time.monotonic() < until:
                time.sleep(0.05)
            assert day.status().captured == 2
            with pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the first delivery still waits for an answer
    day.rest()


def test_a_hook_does_not_wait_for_a_server_that_sleeps(tmp_path: Path) -> None:
    """hindsight 2854, claude-mem 1469: what a hook told of arrives when the server is back, once."""
    with Hub() as asleep:
        day = Day(tmp_path, asleep)
        asleep.always = Hangs()
        day.tell("SessionStart", source="startup")
        day.rest()
        for number in range(3):
            day.edit(number)  # returns, although nobody answers until this hub is closed
    day.rest()
    with Hub() as awake:
        settings = day.work.settings.model_copy(update={"endpoint": awake.url})
        day.work.db.execute("update deliveries set due_at=0")
        run(settings, now, full=True, origin="sync")
        assert len(awake.learnings) == day.status().delivered == 3
        assert set(awake.times.values()) == {1}
