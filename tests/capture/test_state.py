"""The client's database: what it keeps, and that a decision is taken once."""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from orgmem.capture.state import candidates, database, deliveries, replicas, sessions
from orgmem.capture.state.candidates import Change
from orgmem.capture.state.replicas import Checkout, Replica, Stamp

A_CHANGE = Change(
    "lrn_1", "acme/shop", "CLAUDE.md", "/shop", "/shop/CLAUDE.md", "a\n", "b\n", 1, ("r1", "r2"), "hook", "s1", 5.0
)
SHOP = Checkout("/shop", "acme/shop", "/shop/.git")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    opened = database.connect(tmp_path / "capture")
    yield opened
    opened.close()


def status_of(db: sqlite3.Connection, number: int) -> str:
    found = candidates.get(db, number)
    assert found
    return found.status


def test_the_database_is_for_its_owner_only_and_opens_again(tmp_path: Path, db: sqlite3.Connection) -> None:
    candidates.add(db, A_CHANGE)
    file = tmp_path / "capture" / "capture.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    again = database.connect(tmp_path / "capture")
    assert [each.change for each in candidates.in_order(again)] == [A_CHANGE]
    again.close()


def test_a_database_of_a_later_release_is_left_alone(tmp_path: Path, db: sqlite3.Connection) -> None:
    db.execute("pragma user_version=99")
    with pytest.raises(sqlite3.DatabaseError, match="version 99"):
        database.connect(tmp_path / "capture")


def test_what_is_no_database_is_refused_and_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "capture" / "capture.db"
    file.parent.mkdir()
    file.write_bytes(b"my diary " * 500)
    with pytest.raises(sqlite3.DatabaseError):
        database.connect(tmp_path / "capture")
    assert file.read_bytes() == b"my diary " * 500


def test_a_transaction_is_all_or_nothing_and_may_hold_another(db: sqlite3.Connection) -> None:
    with suppress(KeyboardInterrupt), database.transaction(db):
        candidates.add(db, A_CHANGE)
        raise KeyboardInterrupt
    assert not db.in_transaction
    assert not candidates.in_order(db)
    with database.transaction(db), database.transaction(db):
        candidates.add(db, A_CHANGE)
    assert len(candidates.in_order(db)) == 1


def test_a_candidate_is_kept_as_it_was_found(db: sqlite3.Connection) -> None:
    odd = A_CHANGE._replace(before="nul \0 漢字\n", after="", rules=(), session=None, commit_id="c1")
    number = candidates.add(db, odd)
    found = candidates.get(db, number)
    assert found
    assert found.change == odd
    assert (found.status, found.via, found.decided_at, found.shown_at) == ("pending", None, None, None)


def test_the_same_learning_is_offered_once_whatever_was_decided(db: sqlite3.Connection) -> None:
    first = candidates.add(db, A_CHANGE)
    assert status_of(db, candidates.add(db, A_CHANGE._replace(root="/elsewhere"))) == "repeated"
    candidates.decide(db, first, yes=False, via="terminal", now=6.0)
    assert status_of(db, candidates.add(db, A_CHANGE)) == "repeated"
    assert candidates.counts(db) == {"denied": 1, "repeated": 2}


def test_what_arrived_is_never_asked_about_and_no_known_learning(db: sqlite3.Connection) -> None:
    assert status_of(db, candidates.add(db, A_CHANGE, arrived=True)) == "arrived"
    assert status_of(db, candidates.add(db, A_CHANGE)) == "pending"


def test_a_rule_of_the_file_goes_before_one_of_the_project(db: sqlite3.Connection) -> None:
    candidates.set_rule(db, "acme/shop", "", "never", 1.0)
    candidates.set_rule(db, "acme/shop", "CLAUDE.md", "always", 1.0)
    approved = candidates.add(db, A_CHANGE)
    denied = candidates.add(db, A_CHANGE._replace(learning_id="lrn_2", path="AGENTS.md"))
    assert (status_of(db, approved), status_of(db, denied)) == ("approved", "denied")
    assert [each.candidate for each in deliveries.due(db, 5.0)] == [approved]
    assert candidates.drop_rule(db, "acme/shop", "CLAUDE.md")
    assert not candidates.drop_rule(db, "acme/shop", "CLAUDE.md")
    assert candidates.rules(db) == (("acme/shop", "", "never"),)


def test_a_decision_is_taken_once_and_can_be_undone_until_delivery(db: sqlite3.Connection) -> None:
    number = candidates.add(db, A_CHANGE)
    assert candidates.decide(db, number, yes=True, via="terminal", now=6.0, due_at=9.0)
    assert not candidates.decide(db, number, yes=False, via="question", now=7.0)
    assert not deliveries.due(db, 8.0)
    assert candidates.undo(db, number)
    assert not candidates.undo(db, number)
    assert (status_of(db, number), deliveries.every(db)) == ("pending", ())
    candidates.decide(db, number, yes=True, via="terminal", now=6.0)
    deliveries.delivered(db, number, 7.0)
    assert not candidates.undo(db, number)
    assert deliveries.last_success(db) == 7.0


def test_a_candidate_that_grows_into_a_known_learning_repeats_it(db: sqlite3.Connection) -> None:
    candidates.add(db, A_CHANGE)
    number = candidates.add(db, A_CHANGE._replace(learning_id="lrn_2", root="/two"))
    candidates.extend(db, number, A_CHANGE._replace(root="/two"), empty=False)
    assert status_of(db, number) == "repeated"


def test_the_repetition_of_a_candidate_that_grows_is_offered_in_its_place(db: sqlite3.Connection) -> None:
    first = candidates.add(db, A_CHANGE)
    second = candidates.add(db, A_CHANGE._replace(root="/two"))
    third = candidates.add(db, A_CHANGE._replace(root="/three"))
    candidates.extend(db, first, A_CHANGE._replace(learning_id="lrn_2", after="c\n"), empty=False)
    assert [status_of(db, each) for each in (first, second, third)] == ["pending", "pending", "repeated"]


def test_the_repetition_of_a_candidate_that_is_withdrawn_is_offered_in_its_place(db: sqlite3.Connection) -> None:
    first = candidates.add(db, A_CHANGE)
    second = candidates.add(db, A_CHANGE._replace(root="/two"))
    candidates.extend(db, first, A_CHANGE._replace(learning_id="lrn_0", after="a\n"), empty=True)
    assert [status_of(db, each) for each in (first, second)] == ["withdrawn", "pending"]
    latest = candidates.latest_of(db, A_CHANGE.real_path)
    assert latest
    assert latest.id == second


def test_only_what_nobody_was_asked_about_is_unshown(db: sqlite3.Connection) -> None:
    mine = candidates.add(db, A_CHANGE)
    nobodys = candidates.add(db, A_CHANGE._replace(learning_id="lrn_2", session=None))
    candidates.add(db, A_CHANGE._replace(learning_id="lrn_3", session="s2"))
    candidates.add(db, A_CHANGE._replace(learning_id="lrn_4", session=None, root="/other"))
    assert [each.id for each in candidates.unshown(db, "s1", ["/shop"])] == [mine, nobodys]
    assert [each.id for each in candidates.unshown(db, "s1", [])] == [mine]
    candidates.mark_shown(db, [mine], 7.0)
    candidates.mark_shown(db, [mine], 8.0)
    assert [each.id for each in candidates.unshown(db, "s1", ["/shop"])] == [nobodys]
    found = candidates.get(db, mine)
    assert found
    assert found.shown_at == 7.0


def test_the_innermost_checkout_counts_and_a_gone_one_comes_back(db: sqlite3.Connection) -> None:
    inner = Checkout("/shop/tool", "acme/tool", None)
    replicas.put_checkout(db, SHOP, 1.0, watched="w", head="h")
    replicas.put_checkout(db, inner, 2.0)
    assert replicas.checkout_above(db, "/shop/tool/CLAUDE.md") == inner
    assert replicas.checkout_above(db, "/shop/toolbox/CLAUDE.md") == SHOP
    assert replicas.checkout_above(db, "/sho") is None
    assert replicas.last_sight(db, "/shop") == (1.0, "w", "h", False)
    assert replicas.last_sight(db, "/elsewhere") is None
    replicas.mark_gone(db, "/shop", 3.0)
    assert replicas.checkouts(db) == (inner,)
    assert replicas.find_checkout(db, "/shop") == SHOP
    sight = replicas.last_sight(db, "/shop")
    assert sight
    assert sight.gone
    replicas.put_checkout(db, SHOP, 4.0)
    assert replicas.checkouts(db) == (SHOP, inner)


def test_a_replica_is_kept_to_the_byte_and_moves_with_its_file(db: sqlite3.Connection) -> None:
    content = b"\xef\xbb\xbf\0\r\n" + "漢".encode()
    replica = Replica("/shop/A.md", "/shop", "acme/shop", "A.md", content, Stamp(1, 2, 3), "h", None)
    absent = Replica("/shop/B.md", "/shop", "acme/shop", "B.md", None, None)
    replicas.put_replica(db, replica, 1.0)
    replicas.put_replica(db, absent, 1.0)
    assert replicas.get_replica(db, "/shop/A.md") == replica
    assert replicas.stamps_of(db, "/shop") == {"/shop/A.md": Stamp(1, 2, 3), "/shop/B.md": None}
    moved = replica._replace(real_path="/shop/C.md", path="C.md")
    replicas.move_replica(db, "/shop/A.md", moved, 2.0)
    assert replicas.replicas_of(db, "/shop") == (absent, moved)


def test_a_stamp_may_have_an_inode_of_sixty_four_bits(db: sqlite3.Connection) -> None:
    replica = Replica("/a", "/", "p", "a", b"", Stamp(2**62, 2**40, 2**64 - 1))
    replicas.put_replica(db, replica, 1.0)
    assert replicas.stamps_of(db, "/") == {"/a": replica.stamp}
    replicas.put_replica(db, replica._replace(stamp=Stamp(2**63, 1, 1)), 1.0)  # the year 2262
    assert replicas.get_replica(db, "/a") != replica


def test_one_sign_against_a_person_at_the_keyboard_outweighs_all_others(db: sqlite3.Connection) -> None:
    sessions.touch(db, "s1", "claude-code", 1.0)
    assert not sessions.is_interactive(db, "s1")
    sessions.touch(db, "s1", "claude-code", 2.0, interactive=True)
    sessions.touch(db, "s1", "claude-code", 3.0)
    assert sessions.is_interactive(db, "s1")
    sessions.touch(db, "s1", "claude-code", 4.0, interactive=False)
    sessions.touch(db, "s1", "claude-code", 5.0, interactive=True)
    assert not sessions.is_interactive(db, "s1")
    assert not sessions.is_interactive(db, "unknown")


def test_a_question_is_answered_once(db: sqlite3.Connection) -> None:
    question = sessions.Question("n1", "s1", "Share?", "yes", "no", (1, 2), 3.0)
    sessions.put_question(db, question)
    assert sessions.open_questions(db, "s1") == (question,)
    assert sessions.open_questions(db, "s2") == ()
    assert sessions.use_question(db, "n1", 4.0)
    assert not sessions.use_question(db, "n1", 5.0)
    assert sessions.open_questions(db, "s1") == ()


def test_a_session_counts_what_was_asked_and_decided_in_it(db: sqlite3.Connection) -> None:
    sessions.touch(db, "s1", "claude-code", 1.0)
    sessions.touch(db, "s1", "claude-code", 9.0)
    candidates.decide(db, candidates.add(db, A_CHANGE), yes=True, via="question", now=6.0)
    candidates.add(db, A_CHANGE._replace(learning_id="lrn_2"))
    candidates.add(db, A_CHANGE._replace(learning_id="lrn_3"), arrived=True)  # by a pull: no edit of the session
    sessions.put_question(db, sessions.Question("n1", "s1", "Share?", "yes", "no", (1,), 3.0))
    assert sessions.session_counts(db) == (sessions.SessionCount("s1", "claude-code", 1.0, 9.0, 2, 1, 1, 0),)


def test_a_notice_is_said_once_and_can_be_settled(db: sqlite3.Connection) -> None:
    sessions.notify(db, "skipped", "/a", "too large", 1.0)
    sessions.notify(db, "skipped", "/a", "no text", 2.0)
    sessions.notify(db, "failed", "/a", "?", 1.5)
    assert [each.detail for each in sessions.notices(db)] == ["?", "no text"]
    sessions.settle(db, "skipped", "/a")
    assert [each.kind for each in sessions.notices(db)] == ["failed"]


def test_a_delivery_waits_fails_and_is_tried_again(db: sqlite3.Connection) -> None:
    number = candidates.add(db, A_CHANGE)
    candidates.decide(db, number, yes=True, via="terminal", now=6.0)
    deliveries.postponed(db, number, "refused", 20.0)
    assert deliveries.due(db, 19.0) == ()
    (due,) = deliveries.due(db, 20.0)
    assert (due.attempts, due.error) == (1, "refused")
    deliveries.failed(db, number, "unknown schema")
    assert deliveries.counts(db) == {"failed": 1}
    deliveries.requeue(db, number, 30.0)
    assert len(deliveries.due(db, 30.0)) == 1
