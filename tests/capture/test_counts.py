"""Counts of sessions arrive once each, the latest last, and say nothing but figures."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from orgmem.capture import counts
from orgmem.capture.deliver import Delivered
from orgmem.capture.state import candidates, counted, sessions
from orgmem.capture.state.sessions import Question
from schemas.session_count import SessionCount
from tests.capture.client import START, Client, a_change, names
from tests.capture.hub import Hub, Resets, Says

LATER = counts.PAUSE_SECONDS


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as started:
        yield started


def begin(client: Client, session: str = "s1", assistant: str = "claude-code") -> None:
    sessions.touch(client.db, session, assistant, client.now)


def a_session(client: Client, session: str = "s1") -> None:
    """Two edits, one question, one yes, one no."""
    begin(client, session)
    found = [candidates.add(client.db, a_change(number, session=session)) for number in (1, 2)]
    sessions.put_question(client.db, Question("n1", session, "Share?", "yes", "no", tuple(found), START))
    for number, yes in zip(found, (True, False), strict=True):
        candidates.decide(client.db, number, yes=yes, via="question", now=client.now)


def test_a_sessions_figures_go_along_with_its_learnings(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    a_session(client)
    begin(client, "s2", "Some/Thing")
    client.deliver(after=LATER)
    by_assistant = {each.assistant: each for each in hub.counts.values()}
    found = by_assistant["claude-code"]
    assert (found.version, found.with_edit, found.candidates) == (1, True, 2)
    assert (found.prompts_shown, found.approved, found.denied) == (1, 1, 1)
    assert found.day == client.clock().date()
    assert not by_assistant["unknown"].with_edit


def test_figures_hold_no_text_no_path_and_no_name(tmp_path: Path) -> None:
    client = Client(tmp_path)
    a_session(client, "session-id-of-ada")
    client.deliver(after=LATER)
    (file,) = (client.settings.staging / "counts").iterdir()
    sent = json.loads(file.read_text())
    assert file.name == f"{sent['id']}.json"
    assert sent.keys() == {name.rstrip("_") for name in SessionCount.model_fields}
    texts = [each for each in sent.values() if isinstance(each, str)]
    assert sorted(texts) == sorted([sent["id"], "claude-code", str(client.clock().date())])
    assert "session-id-of-ada" not in file.read_text()


def test_the_id_is_of_this_home_and_stays(tmp_path: Path) -> None:
    client, other = Client(tmp_path), Client(tmp_path / "other")
    first = counts.install_id(client.settings)
    file = client.settings.capture_folder / "install-id"
    assert file.stat().st_mode & 0o777 == 0o600
    assert counts.install_id(client.settings) == first != counts.install_id(other.settings)
    file.write_bytes(b"\xff")
    assert len(counts.install_id(client.settings)) == 32


def test_what_has_not_changed_is_sent_once_and_what_has_replaces_it(tmp_path: Path) -> None:
    client = Client(tmp_path)
    folder = client.settings.staging / "counts"
    a_session(client)
    client.deliver(after=LATER)
    (file,) = folder.iterdir()
    written = file.stat().st_mtime_ns
    client.deliver(after=LATER, all_due=True)
    assert file.stat().st_mtime_ns == written
    candidates.add(client.db, a_change(3))
    client.deliver(after=LATER)
    assert names(folder) == [file.name]
    found = SessionCount.model_validate_json(file.read_bytes())
    assert (found.version, found.candidates) == (2, 3)


def test_a_session_that_goes_on_is_not_counted_at_every_turn(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    for number in range(1, 30):
        begin(client)
        client.approve(number)
        client.deliver(after=30)
    (found,) = hub.counts.values()
    assert found.version == 1
    client.deliver(all_due=True)
    (found,) = hub.counts.values()
    assert (found.version, found.approved) == (2, 29)


def test_a_lost_answer_does_not_make_an_older_state_win(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    a_session(client)
    client.deliver(all_due=True)
    candidates.add(client.db, a_change(3))
    hub.faults.append(Resets(stored=True))
    client.deliver(all_due=True)
    (found,) = hub.counts.values()
    assert (found.version, found.candidates) == (2, 3)
    candidates.add(client.db, a_change(4))
    client.deliver(all_due=True)
    (found,) = hub.counts.values()
    assert (found.version, found.candidates) == (3, 4)


def test_the_counts_of_a_session_that_has_ended_go_at_once(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    a_session(client)
    assert not counted.wait(client.db, client.now)
    sessions.touch(client.db, "s1", "claude-code", client.now, ends=True)
    assert counted.wait(client.db, client.now)
    client.deliver()
    assert [each.candidates for each in hub.counts.values()] == [2]
    assert not counted.wait(client.db, client.now + 1)


def test_a_session_that_is_taken_up_again_goes_on(tmp_path: Path) -> None:
    client = Client(tmp_path)
    sessions.touch(client.db, "s1", "claude-code", client.now, ends=True)
    begin(client)
    assert not counted.wait(client.db, client.now)


def test_counts_of_sessions_without_a_learning_go_every_hour_too(tmp_path: Path) -> None:
    client = Client(tmp_path)
    assert not counted.wait(client.db, START)
    begin(client)
    assert not counted.wait(client.db, START + 3600)
    assert counted.wait(client.db, START + 3601)
    client.deliver(after=3601)
    assert len(names(client.settings.staging / "counts")) == 1
    assert not counted.wait(client.db, START + 90_000)
    candidates.decide(
        client.db, candidates.add(client.db, a_change(1)), yes=False, via="terminal", now=START + 4000
    )
    assert not counted.wait(client.db, START + 4000)
    assert counted.wait(client.db, START + 7300)


@pytest.mark.parametrize("fault", [Says(404), Says(422), Says(500), Resets()], ids=str)
def test_a_server_without_counts_gets_learnings_all_the_same(
    tmp_path: Path, hub: Hub, fault: Says | Resets
) -> None:
    client = Client(tmp_path, hub)
    a_session(client)
    begin(client, "s2")
    hub.faults += [Says(201), fault, fault, fault]
    assert client.deliver(after=LATER) == Delivered(1, 0, 0)
    assert client.states() == {"delivered": 1}
    client.approve(7)
    hub.faults.clear()
    assert client.deliver() == Delivered(1, 0, 0)


@pytest.mark.parametrize("wrong", [{"approved": 3}, {"with_edit": False}, {"assistant": "a b"}, {"id": "s1"}])
def test_figures_that_contradict_each_other_are_no_record(wrong: dict[str, object]) -> None:
    good = {
        "id": f"cnt_{'0' * 24}",
        "version": 1,
        "assistant": "claude-code",
        "day": "2026-03-01",
        "with_edit": True,
        "candidates": 2,
        "prompts_shown": 1,
        "approved": 1,
        "denied": 1,
    }
    assert SessionCount.model_validate_json(json.dumps(good)).candidates == 2
    with pytest.raises(ValidationError):
        SessionCount.model_validate_json(json.dumps({**good, **wrong}))
