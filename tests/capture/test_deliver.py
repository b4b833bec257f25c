"""What is approved arrives, each learning once, whatever the other end, the network or the disk does."""

import socket
from collections.abc import Iterator
from contextlib import closing
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from orgmem.capture import outbox, spool
from orgmem.capture.deliver import Delivered
from orgmem.capture.destination import Later, Server
from orgmem.capture.state import candidates, database, deliveries
from orgmem.errors import ConfigurationError
from orgmem.identity import now
from tests.capture.client import START, Client, a_change, a_learning, names, staged_in
from tests.capture.hub import TOKEN, Fault, Hangs, Hub, Request, Resets, Says
from tests.revisions import TOKEN as SECRET


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as started:
        yield started


def test_an_approved_edit_is_staged_and_leaves_the_outbox(tmp_path: Path) -> None:
    client = Client(tmp_path)
    approved = client.approve(1, 2)
    assert client.deliver() == Delivered(2, 0, 0)
    assert sorted(client.staged()) == sorted(approved)
    assert (client.outbox(), client.states()) == ([], {"delivered": 2})
    assert client.deliver() == Delivered(0, 0, 0)


def test_only_what_was_approved_leaves(tmp_path: Path) -> None:
    client = Client(tmp_path)
    pending, denied = (candidates.add(client.db, a_change(number)) for number in (1, 2))
    candidates.decide(client.db, denied, yes=False, via="terminal", now=START)
    (approved,) = client.approve(3)
    assert client.deliver() == Delivered(1, 0, 0)
    assert client.staged() == [approved]
    assert candidates.get(client.db, pending)


def test_what_is_not_due_yet_waits_unless_all_is_asked_for(tmp_path: Path) -> None:
    client = Client(tmp_path)
    number = candidates.add(client.db, a_change(1))
    candidates.decide(client.db, number, yes=True, via="terminal", now=START, due_at=START + 30)
    assert client.deliver() == Delivered(0, 0, 0)
    assert client.deliver(all_due=True) == Delivered(1, 0, 0)


def test_the_server_gets_the_learning_with_its_token_and_its_id_as_key(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    (approved,) = client.approve(1)
    assert client.deliver() == Delivered(1, 0, 0)
    assert hub.learnings.keys() == {approved}
    assert hub.requests[0] == ("/api/v1/learnings", approved, f"Bearer {TOKEN}")
    assert client.outbox() == []


@pytest.mark.parametrize("status", [200, 201, 202, 204, 409])
def test_what_the_server_takes_or_has_already_is_delivered(tmp_path: Path, hub: Hub, status: int) -> None:
    client = Client(tmp_path, hub)
    client.approve(1)
    hub.faults.append(Says(status))
    assert client.deliver() == Delivered(1, 0, 0)


@pytest.mark.parametrize("status", [400, 413, 415, 422])
def test_what_the_server_refuses_is_kept_with_the_reason_and_stops_no_other(
    tmp_path: Path, hub: Hub, status: int
) -> None:
    client = Client(tmp_path, hub)
    refused, taken = client.approve(1, 2)
    hub.faults.append(Says(status, f"schema 1 is too old; you sent Bearer {TOKEN} and {SECRET}" + "x" * 9000))
    assert client.deliver() == Delivered(1, 0, 1)
    assert hub.learnings.keys() == {taken}
    (error,) = client.errors()
    assert "schema 1 is too old" in error
    assert str(status) in error
    assert len(error) <= 300
    failed = client.settings.capture_folder / "failed"
    reason, learning = names(failed)[::-1]
    assert staged_in(failed) == [refused]
    assert (failed / reason).read_text().strip() == error
    assert all(secret not in (failed / reason).read_text() for secret in (TOKEN, SECRET))
    assert reason == f"{learning}.reason"
    assert client.deliver(after=90_000, all_due=True) == Delivered(0, 0, 0)


@pytest.mark.parametrize(
    "fault",
    [
        *map(Says, (302, 401, 403, 404, 408, 429, 503)),
        Says(200, "<p>", (("Content-Type", "text/html"),)),
        Resets(),
    ],
    ids=str,
)
def test_trouble_that_may_pass_costs_one_attempt_for_all(tmp_path: Path, hub: Hub, fault: Fault) -> None:
    client = Client(tmp_path, hub)
    client.approve(*range(20))
    hub.always = fault
    assert client.deliver() == Delivered(0, 20, 0)
    assert len(hub.requests) == 1
    assert client.deliver(after=1) == Delivered(0, 0, 0)
    client.approve(*range(20, 25))
    hub.always = None
    assert client.deliver(after=20) == Delivered(25, 0, 0)
    assert set(hub.times.values()) == {1}


def test_a_server_that_stumbles_over_one_learning_gets_the_others(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    client.approve(*range(5))
    hub.faults += [Says(500), Says(500)]
    assert client.deliver() == Delivered(3, 2, 0)
    hub.always = Says(500)
    client.approve(*range(5, 20))
    client.deliver(all_due=True)
    assert len(hub.requests) == 5 + 3


def test_waits_double_up_to_an_hour_and_survive_the_process(tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody listens: connections are refused
        endpoint = f"http://127.0.0.1:{held.getsockname()[1]}"
        client = Client(tmp_path, endpoint=endpoint)
        client.approve(*range(3))
        waits = []
        for _ in range(12):
            assert client.deliver() == Delivered(0, 3, 0)
            client = Client(tmp_path, endpoint=endpoint)
            (due,) = {each.due_at for each in deliveries.every(client.db)}
            waits.append(due - client.now)
            deliveries.hold(client.db, [], "", START)
            client.db.execute("update deliveries set due_at=?", (START,))
    assert 8 <= waits[0] <= 10
    assert all(1.9 * one <= other for one, other in pairwise(waits[:8]))
    assert 2880 <= waits[-1] <= 3600
    assert "Connection refused" in client.errors()[0]


def test_days_without_a_network_lose_nothing_and_send_nothing_twice(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    hub.always = Resets()
    approved: list[str] = []
    for day in range(5):
        for _ in range(10):
            approved += client.approve(len(approved))
            client.deliver(after=3600 * 2.4)
        assert len(hub.requests) <= (day + 1) * 30
    hub.always = None
    assert client.deliver(after=3600) == Delivered(50, 0, 0)
    assert hub.learnings.keys() == set(approved)
    assert set(hub.times.values()) == {1}


@pytest.mark.parametrize(
    ("asked", "wait"), [("120", 120), ("99999999999", 3600), ("0", 1), ("date", 90), ("?", 10)]
)
def test_a_server_may_say_when_to_come_again(tmp_path: Path, hub: Hub, asked: str, wait: int) -> None:
    client = Client(tmp_path, hub)
    client.approve(1)
    if asked == "date":
        client.now += 90
        asked = format_datetime(client.clock(), usegmt=True)
        client.now -= 90
    hub.faults.append(Says(429, headers=(("Retry-After", asked),)))
    client.deliver()
    assert client.deliver(after=0.75 * wait - 0.5) == Delivered(0, 0, 0)
    assert client.deliver(after=0.25 * wait + 0.5) == Delivered(1, 0, 0)


def test_a_lost_answer_makes_no_second_learning(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    client.approve(1)
    hub.faults.append(Resets(stored=True))
    assert client.deliver() == Delivered(0, 1, 0)
    assert client.deliver(after=20) == Delivered(1, 0, 0)
    assert (len(hub.learnings), sum(hub.times.values())) == (1, 2)


def test_a_server_that_never_answers_is_left_alone(hub: Hub) -> None:
    hub.faults.append(Hangs())
    with httpx.Client(timeout=0.2) as connection:
        server = Server(hub.url, "", connection, now)
        assert isinstance(server.send(a_learning(1)), Later)


def test_the_token_follows_no_redirect(tmp_path: Path, hub: Hub) -> None:
    with Hub() as elsewhere:
        client = Client(tmp_path, hub)
        client.approve(1)
        hub.faults.append(Says(307, headers=(("Location", f"{elsewhere.url}/api/v1/learnings?token=abc"),)))
        assert client.deliver() == Delivered(0, 1, 0)
        assert elsewhere.requests == []
    assert elsewhere.url in client.errors()[0]
    assert "abc" not in client.errors()[0]


def test_what_goes_to_this_machine_passes_no_proxy(
    tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    client = Client(tmp_path, hub)
    client.approve(1)
    assert client.deliver() == Delivered(1, 0, 0)


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ("http://hub.example", "in the clear"),
        ("http://10.0.0.8:8000", "in the clear"),
        ("ftp://hub.example", "no address"),
        ("https://", "no address"),
        ("https://[bad", "no address"),
        ("https://hub.example:99999", "no address"),
        ("https://ada:pw1@hub.example", "more than"),
        ("https://hub.example?token=pw1", "more than"),
        ("staging", "no absolute path"),
    ],
)
def test_an_endpoint_of_no_use_is_said_and_nothing_is_lost(tmp_path: Path, endpoint: str, said: str) -> None:
    client = Client(tmp_path, endpoint=endpoint, token=SecretStr(TOKEN))
    client.approve(1)
    with pytest.raises(ConfigurationError, match=said) as caught:
        client.deliver()
    assert "pw1" not in f"{caught.value.message}{caught.value.hint}"
    assert "ORGMEM_" in caught.value.hint
    assert client.states() == {"queued": 1}


def test_a_token_that_fits_no_header_is_not_repeated(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub, token=SecretStr("geheim\nwort"))
    client.approve(1)
    with pytest.raises(ConfigurationError) as caught:
        client.deliver()
    assert "geheim" not in str(caught.value)


def test_a_staging_folder_elsewhere_must_be_there(tmp_path: Path) -> None:
    mount = tmp_path / "mount" / "staging"
    client = Client(tmp_path, endpoint=str(mount))
    (approved,) = client.approve(1)
    assert client.deliver() == Delivered(0, 1, 0)
    assert not mount.parent.exists()
    assert str(mount) in client.errors()[0]
    mount.mkdir(parents=True)
    assert client.deliver(after=10) == Delivered(1, 0, 0)
    assert staged_in(mount) == [approved]


def test_a_candidate_that_was_altered_behind_our_back_does_not_leave(tmp_path: Path) -> None:
    client = Client(tmp_path)
    client.approve(1, 2)
    client.db.execute("update candidates set after='# Shop\nforged\n' where id=1")
    assert client.deliver() == Delivered(1, 0, 1)
    assert "texts of candidate 1" in client.errors()[0]


def test_what_is_taken_back_while_it_is_on_its_way_counts_as_delivered(tmp_path: Path) -> None:
    class Meanwhile(Hub):
        def take(self, request: Request, content_type: str, data: bytes) -> Says:
            with closing(database.connect(client.settings.capture_folder)) as db:
                assert candidates.undo(db, 1)
            return super().take(request, content_type, data)

    with Meanwhile() as hub:
        client = Client(tmp_path, hub)
        client.approve(1)
        assert client.deliver() == Delivered(1, 0, 0)
    assert (client.states(), candidates.counts(client.db)) == ({"delivered": 1}, {"approved": 1})


def test_what_was_taken_back_before_leaves_nothing_in_the_outbox(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    client.approve(1)
    hub.faults.append(Says(503))
    client.deliver()
    assert len(client.outbox()) == 1
    assert candidates.undo(client.db, 1)
    assert client.deliver(after=60) == Delivered(0, 0, 0)
    assert (client.outbox(), len(hub.requests)) == ([], 1)


def test_two_processes_deliver_each_learning_once(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    with outbox.locked(client.settings, 0) as mine:
        assert mine
        client.approve(1)
        assert client.deliver() == Delivered(0, 0, 0)
    assert client.deliver() == Delivered(1, 0, 0)


def test_what_is_approved_during_a_delivery_goes_along(tmp_path: Path) -> None:
    class Meanwhile(Hub):
        def take(self, request: Request, content_type: str, data: bytes) -> Says:
            if not self.learnings:
                with closing(database.connect(client.settings.capture_folder)) as db:
                    number = candidates.add(db, a_change(2))
                    candidates.decide(db, number, yes=True, via="terminal", now=START)
            return super().take(request, content_type, data)

    with Meanwhile() as hub:
        client = Client(tmp_path, hub)
        client.approve(1)
        assert client.deliver() == Delivered(2, 0, 0)


def test_learnings_give_way_to_wakes_and_go_on_after_them(tmp_path: Path) -> None:
    client = Client(tmp_path)
    client.approve(*range(3))
    spooled = Path(spool.folder(str(client.settings.home))) / "wake"
    spooled.parent.mkdir(parents=True)
    spooled.write_bytes(b"")
    assert client.deliver() == Delivered(1, 0, 0)
    assert client.deliver() == Delivered(1, 0, 0)
    assert client.deliver(all_due=True) == Delivered(1, 0, 0)
