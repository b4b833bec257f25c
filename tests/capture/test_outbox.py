"""Only what was approved leaves the outbox; whatever is killed, full or planted, each learning arrives once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from orgmem.capture import outbox
from orgmem.capture.deliver import Delivered
from orgmem.capture.state import deliveries
from orgmem.identity import now
from orgmem.store.staging import file_name
from tests.capture.client import Client, a_learning, names, staged_in
from tests.capture.hub import Hub, Says

KILLS = 20
KILLED = """
import os, random, signal, sys, time
import httpx
from orgmem.capture.deliver import deliver
from orgmem.capture.state import database
from orgmem.identity import now
from orgmem.settings import Settings

settings, chance = Settings.load(), random.Random(1)
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if not child:
        deliver(database.connect(settings.capture_folder), settings, now, all_due=True)
        os._exit(0)
    time.sleep(chance.uniform(0.0, float(sys.argv[2])))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


DELIVERS = """
from orgmem.capture.deliver import deliver
from orgmem.capture.state import database
from orgmem.identity import now
from orgmem.settings import Settings

settings = Settings.load()
deliver(database.connect(settings.capture_folder), settings, now)
"""


def environment_of(client: Client) -> dict[str, str]:
    """For a process that works in this home."""
    ours = {"ORGMEM_HOME": str(client.settings.home), "ORGMEM_ENDPOINT": client.settings.endpoint}
    return {**os.environ, **ours, "ORGMEM_TOKEN": client.settings.token.get_secret_value()}


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as started:
        yield started


def test_only_files_with_a_known_approval_are_sent(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    planted = a_learning(7)
    box = client.settings.capture_folder / "outbox"
    outside = tmp_path / "outside.json"
    outside.write_text(planted.model_dump_json())
    box.mkdir()
    (box / file_name(planted)).write_text(planted.model_dump_json())
    (box / "notes.txt").write_text("junk")
    (box / "link.json").symlink_to(outside)
    (box / "folder").mkdir()
    os.mkfifo(box / "pipe")
    (box / ".tmp-123-x").write_text("of a killed process")
    (approved,) = client.approve(1)
    assert client.deliver() == Delivered(1, 0, 0)
    assert hub.learnings.keys() == {approved}
    assert client.outbox() == ["folder", "link.json", "pipe"]
    assert names(client.settings.capture_folder / "foreign") == [file_name(planted), "notes.txt"]
    assert {kind for kind, _ in client.notices()} == {"skipped"}
    assert len(client.notices()) == 5
    assert outside.exists()
    (box / "link.json").unlink()
    client.deliver(all_due=True)
    assert len(client.notices()) == 4


def test_a_candidates_file_says_what_was_approved_whatever_lies_in_the_outbox(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    (approved,) = client.approve(1)
    hub.faults.append(Says(503))
    client.deliver()
    (name,) = client.outbox()
    file = client.settings.capture_folder / "outbox" / name
    stolen = tmp_path / "stolen"
    stolen.write_text("private")
    file.unlink()
    file.symlink_to(stolen)
    assert client.deliver(after=60) == Delivered(1, 0, 0)
    assert hub.learnings[approved].hunks[0].after == "- rule 1\n"
    assert stolen.read_text() == "private"


def test_the_outbox_is_its_owners_alone(tmp_path: Path) -> None:
    client = Client(tmp_path)
    box = client.settings.capture_folder / "outbox"
    box.mkdir(mode=0o777)
    box.chmod(0o777)
    client.approve(1)
    client.deliver()
    assert box.stat().st_mode & 0o777 == 0o700


def test_a_backfill_is_queued_once_and_delivered_in_order(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    learnings = [a_learning(number) for number in range(5)]
    assert outbox.put(client.settings, (each for each in [*learnings, learnings[0]]), client.clock) == 5
    assert outbox.put(client.settings, learnings, client.clock) == 0
    assert len(client.outbox()) == 5
    assert client.deliver() == Delivered(5, 0, 0)
    assert list(hub.learnings) == [each.id for each in learnings]
    assert (client.outbox(), client.states()) == ([], {})
    assert deliveries.counts(client.db, backfilled=True) == {"delivered": 5}
    assert outbox.put(client.settings, [*learnings, a_learning(9)], client.clock) == 1


def test_a_backfills_file_that_is_not_what_was_approved_is_not_sent(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    first, second = a_learning(1), a_learning(2)
    outbox.put(client.settings, [first, second], client.clock)
    box = client.settings.capture_folder / "outbox"
    (box / file_name(first)).write_text(a_learning(3).model_dump_json())
    assert client.deliver() == Delivered(1, 0, 0)
    assert hub.learnings.keys() == {second.id}
    assert client.notices() == [("lost", first.id)]
    assert outbox.put(client.settings, [first, second], client.clock) == 1
    assert [kind for kind, _ in client.notices()] == ["skipped"]
    assert client.deliver(after=5) == Delivered(1, 0, 0)
    assert hub.learnings.keys() == {first.id, second.id}


def test_a_refused_one_comes_back_when_it_is_asked_for(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    outbox.put(client.settings, [a_learning(8)], client.clock)
    client.approve(1)
    hub.faults += [Says(422), Says(422)]
    assert client.deliver() == Delivered(0, 0, 2)
    assert len(names(client.settings.capture_folder / "failed")) == 4
    assert outbox.retry_failed(client.db, client.settings, client.clock) == 2
    assert client.deliver() == Delivered(2, 0, 0)
    assert names(client.settings.capture_folder / "failed") == []
    assert len(hub.learnings) == 2


def test_processes_that_deliver_at_once_send_each_learning_once(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    approved = client.approve(*range(30))
    command = [sys.executable, "-P", "-c", DELIVERS]
    several = [subprocess.Popen(command, env=environment_of(client)) for _ in range(3)]
    assert [each.wait() for each in several] == [0, 0, 0]
    assert hub.times == dict.fromkeys(approved, 1)
    assert client.states() == {"delivered": 30}


@pytest.mark.parametrize(("to", "longest"), [("folder", "0.15"), ("server", "0.8")])
def test_a_delivery_killed_at_any_moment_ends_with_each_learning_once(
    tmp_path: Path, hub: Hub, to: str, longest: str
) -> None:
    """hindsight 3412: no re-send, nothing skipped, whatever is killed when."""
    hub.pause = 0.005
    client = Client(tmp_path, hub if to == "server" else None)
    earlier = [a_learning(number) for number in range(100, 120)]
    approved = [*client.approve(*range(60)), *(each.id for each in earlier)]
    outbox.put(client.settings, earlier)
    environment = environment_of(client)
    subprocess.run([sys.executable, "-P", "-c", KILLED, str(KILLS), longest], env=environment, check=True)
    client.now = now().timestamp()
    client.deliver(all_due=True)
    client.deliver(all_due=True)
    assert sorted(hub.learnings if to == "server" else client.staged()) == sorted(approved)
    assert (client.outbox(), client.notices(), deliveries.queued(client.db)) == ([], [], ())


def test_a_full_disk_loses_nothing(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    approved = client.approve(*range(3))
    box = client.settings.capture_folder / "outbox"
    with small_disk(box):
        filler = box / "folder" / "filler"
        filler.parent.mkdir()
        with suppress(OSError):
            filler.write_bytes(b"x" * 10_000_000)
        assert client.deliver() == Delivered(0, 3, 0)
        assert "No space left" in client.errors()[0]
        filler.unlink()
        assert client.deliver(after=10) == Delivered(3, 0, 0)
    assert hub.learnings.keys() == set(approved)


def test_a_staging_folder_that_is_full_or_read_only_is_tried_again(tmp_path: Path) -> None:
    staging = tmp_path / "staging"
    client = Client(tmp_path, endpoint=str(staging))
    approved = client.approve(*range(3))
    with small_disk(staging):
        subprocess.run(["mount", "-o", "remount,ro", staging], check=True)
        assert client.deliver() == Delivered(0, 3, 0)
        assert "Read-only" in client.errors()[0]
        subprocess.run(["mount", "-o", "remount,rw", staging], check=True)
        with suppress(OSError):
            (staging / "filler.tmp").write_bytes(b"x" * 10_000_000)
        assert client.deliver(after=10) == Delivered(0, 3, 0)
        assert "No space left" in client.errors()[0]
        assert names(staging) == ["filler.tmp"]
        (staging / "filler.tmp").unlink()
        assert client.deliver(after=60) == Delivered(3, 0, 0)
        assert sorted(staged_in(staging)) == sorted(approved)


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A disk of 256 KiB at this place; only root may mount one."""
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
