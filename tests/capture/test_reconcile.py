"""What is found: each edit once, in order, whoever made it and however it was noticed."""

import os
import shutil
from pathlib import Path

import pytest

from orgmem.capture.state import candidates, replicas
from tests.capture.workplace import Workplace, git, written
from tests.revisions import TOKEN


@pytest.fixture
def work(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def test_the_first_sight_at_a_sessions_start_is_silent(work: Workplace) -> None:
    shop = work.repository()
    written(shop / "AGENTS.md", "untracked\n", ago=50)
    written(shop / "CLAUDE.md", "# Shop\nnot committed\n", ago=50)
    work.start(shop)
    work.stop(shop)
    assert work.all() == ()
    assert replicas.stamps_of(work.db, str(shop)).keys() == {f"{shop}/AGENTS.md", f"{shop}/CLAUDE.md"}


def test_an_edit_with_the_edit_tool_is_found_once(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    work.edit(shop / "CLAUDE.md", "# Shop\nUse make.\n")
    work.reconcile()
    work.stop(shop)
    (found,) = work.all()
    assert (found.change.before, found.change.after) == ("# Shop\n", "# Shop\nUse make.\n")
    assert (found.change.project, found.change.path) == ("github.com/acme/shop", "CLAUDE.md")
    assert (found.change.session, found.change.origin, found.status) == ("s1", "hook", "pending")
    assert found.change.observed_at == pytest.approx((shop / "CLAUDE.md").stat().st_mtime, abs=0.01)


def test_an_edit_by_a_command_is_found_and_belongs_to_its_session(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    written(shop / "CLAUDE.md", "# Shop\nby sed\n")
    work.shell(shop)
    assert work.reconcile()
    assert work.edits() == [("# Shop\n", "# Shop\nby sed\n")]
    assert work.all()[0].change.session == "s1"


def test_a_command_that_changes_nothing_costs_no_walk(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    work.shell(shop)
    assert not work.reconcile()


def test_an_edit_outside_every_session_is_found_by_the_next_one(work: Workplace) -> None:
    """claude-mem 1080: another launcher runs no hooks."""
    shop = work.repository()
    work.start(shop)
    written(shop / "CLAUDE.md", "# Shop\nby hand\n")
    work.start(shop, "s2")
    assert work.edits() == [("# Shop\n", "# Shop\nby hand\n")]


def test_an_edit_outside_every_session_is_found_by_sync(work: Workplace) -> None:
    shop = work.repository()
    work.sync(here=shop)
    written(shop / "CLAUDE.md", "# Shop\nby hand\n")
    work.sync()
    (found,) = work.all()
    assert (found.change.origin, found.change.session) == ("sync", None)


def test_an_edit_that_keeps_size_and_time_is_found_by_sync(work: Workplace) -> None:
    shop = work.repository()
    file = shop / "CLAUDE.md"
    written(file, "aaaa\n", ago=50)
    before = file.stat()
    work.sync(here=shop)
    written(file, "bbbb\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_ino == before.st_ino
    work.sync()
    assert work.edits() == [("aaaa\n", "bbbb\n")]


def test_two_edits_within_one_tick_of_the_clock_are_both_found(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    file = shop / "CLAUDE.md"
    work.edit(file, "aaaa\n")
    work.reconcile()
    stamp = file.stat()
    written(file, "bbbb\n")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    work.shell(shop)
    assert work.reconcile()
    assert work.edits() == [("# Shop\n", "bbbb\n")]


def test_without_a_sessions_start_the_payload_tells_what_was_before(work: Workplace) -> None:
    """claude-mem 1480: the start never ran, later events must count all the same."""
    shop = work.repository(files={})
    file = written(shop / "CLAUDE.md", "# Untracked\n", ago=50)
    work.edit(file, "# Untracked\nnew\n", session=None)
    work.reconcile()
    (found,) = work.all()
    assert (found.change.before, found.change.after) == ("# Untracked\n", "# Untracked\nnew\n")
    assert found.change.session is None


def test_without_a_sessions_start_the_commit_tells_what_was_before(work: Workplace) -> None:
    shop = work.repository(files={"CLAUDE.md": "one\n", "AGENTS.md": "two\n"})
    written(shop / "CLAUDE.md", "one\nby a command\n")
    work.shell(shop, "s1")
    work.reconcile()
    assert work.edits() == [("one\n", "one\nby a command\n")]


def test_an_edit_made_before_the_first_look_was_over_is_found(work: Workplace) -> None:
    shop = work.repository()
    work.wake("SessionStart", shop, source="startup")
    work.edit(shop / "CLAUDE.md", "# Shop\nquick\n")
    work.reconcile()
    assert work.edits() == [("# Shop\n", "# Shop\nquick\n")]


def test_an_edit_told_of_after_the_first_look_had_seen_it_is_found_once(work: Workplace) -> None:
    shop = work.repository(files={})
    file = written(shop / "CLAUDE.md", "# Shop\n", ago=50)
    written(file, "# Shop\nquick\n")
    work.start(shop)
    assert work.all() == ()
    for _ in range(2):  # hooks may be installed twice
        work.tell_edit(file, "# Shop\n", "# Shop\nquick\n")
        work.reconcile()
    assert work.edits() == [("# Shop\n", "# Shop\nquick\n")]


def test_a_new_file_is_an_edit_of_nothing_and_a_removed_one_ends_in_nothing(work: Workplace) -> None:
    shop = work.repository(files={})
    work.start(shop)
    rule = written(shop / ".claude" / "rules" / "api.md", "Use REST.\n")
    work.shell(shop)
    assert work.reconcile()
    rule.unlink()
    work.shell(shop, "s2")
    work.reconcile()
    assert work.edits() == [("", "Use REST.\n"), ("Use REST.\n", "")]
    work.check_chain(rule, "")


def test_a_new_file_is_new_although_the_first_payload_tells_of_its_second_edit(work: Workplace) -> None:
    shop = work.repository(files={})
    work.start(shop)
    file = written(shop / "AGENTS.md", "by a command whose hook was killed\n")
    work.edit(file, "then by the tool\n")
    work.reconcile()
    assert work.edits() == [("", "then by the tool\n")]


def test_a_file_that_comes_and_goes_unseen_leaves_nothing(work: Workplace) -> None:
    shop = work.repository(files={})
    work.start(shop)
    work.edit(shop / "AGENTS.md", "short-lived\n")
    (shop / "AGENTS.md").unlink()
    work.reconcile()
    assert work.all() == ()


def test_further_edits_of_a_session_extend_its_candidate_and_the_way_back_withdraws_it(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    file = shop / "CLAUDE.md"
    for text in ("# Shop\na\n", f"# Shop\n{TOKEN}\n", "# Shop\na\nb\n"):
        work.edit(file, text)
        work.reconcile()
    (found,) = work.all()
    assert (found.change.before, found.change.after, found.status) == ("# Shop\n", "# Shop\na\nb\n", "pending")
    work.edit(file, "# Shop\n")
    work.reconcile()
    assert [each.status for each in work.all()] == ["withdrawn"]
    work.edit(file, "# Shop\nc\n")
    work.reconcile()
    assert work.edits(status="pending") == [("# Shop\n", "# Shop\nc\n")]
    work.check_chain(file, "# Shop\n")


def test_what_a_person_has_seen_is_not_changed_behind_their_back(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    work.edit(shop / "CLAUDE.md", "# Shop\na\n")
    work.reconcile()
    candidates.mark_shown(work.db, [work.all()[0].id], work.now())
    work.edit(shop / "CLAUDE.md", "# Shop\na\nb\n")
    work.reconcile()
    assert work.edits(status="pending") == [("# Shop\n", "# Shop\na\n"), ("# Shop\na\n", "# Shop\na\nb\n")]


def test_an_edit_of_an_approved_learning_is_a_new_one(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    work.edit(shop / "CLAUDE.md", "# Shop\na\n")
    work.reconcile()
    assert candidates.decide(work.db, work.all()[0].id, yes=True, via="terminal", now=work.now())
    work.edit(shop / "CLAUDE.md", "# Shop\na\nb\n")
    work.reconcile()
    assert [each.status for each in work.all()] == ["approved", "pending"]
    work.check_chain(shop / "CLAUDE.md", "# Shop\n")


def test_two_sessions_in_parallel_keep_their_edits_apart(work: Workplace) -> None:
    shop = work.repository(files={"CLAUDE.md": "one\n", "AGENTS.md": "two\n"})
    work.start(shop, "s1")
    work.start(shop, "s2")
    work.edit(shop / "CLAUDE.md", "one\nof the first\n", "s1")
    work.edit(shop / "AGENTS.md", "two\nof the second\n", "s2")
    work.reconcile()
    assert {each.change.path: each.change.session for each in work.all()} == {"CLAUDE.md": "s1", "AGENTS.md": "s2"}
    work.edit(shop / "CLAUDE.md", "one\nof the first\nof the second\n", "s2")
    work.reconcile()
    assert [each.change.session for each in work.all() if each.change.path == "CLAUDE.md"] == ["s1", "s2"]
    work.check_chain(shop / "CLAUDE.md", "one\n")


def test_twenty_events_about_one_file_are_all_there_and_none_twice(work: Workplace) -> None:
    """hindsight 3395: concurrent appends lost turns."""
    shop = work.repository()
    work.start(shop)
    text = "# Shop\n"
    for number in range(20):
        text += f"- lesson {number}\n"
        work.edit(shop / "CLAUDE.md", text)
    work.reconcile()
    assert work.edits() == [("# Shop\n", text)]


def test_an_edit_in_a_worktree_is_found_once_and_is_no_news_where_it_is_merged(work: Workplace) -> None:
    """claude-mem 551: worktrees are one project."""
    shop = work.repository()
    tree = work.worktree(shop, "feature")
    work.start(shop)
    work.start(tree, "s2")
    work.edit(tree / "CLAUDE.md", "# Shop\nfrom the worktree\n", "s2")
    work.reconcile()
    git(tree, "commit", "-q", "-am", "lesson", ago=-5)
    git(shop, "merge", "-q", "--ff-only", "feature")
    work.stop(shop)
    assert [(each.change.root, each.status) for each in work.all()] == [
        (str(tree), "pending"),
        (str(shop), "repeated"),
    ]
    assert {each.change.project for each in work.all()} == {"github.com/acme/shop"}


def test_several_edits_of_a_worktree_merged_at_once_are_no_news(work: Workplace) -> None:
    shop = work.repository()
    tree = work.worktree(shop, "feature")
    work.start(shop)
    work.start(tree, "s2")
    for session, text in (("s2", "# Shop\na\n"), ("s3", "# Shop\na\nb\n")):
        work.edit(tree / "CLAUDE.md", text, session)
        work.reconcile()
    git(tree, "commit", "-q", "-am", "lessons", ago=-5)
    git(shop, "merge", "-q", "--ff-only", "feature")
    work.stop(shop)
    assert [each.status for each in work.all()] == ["pending", "pending", "arrived"]


def test_what_a_pull_or_a_switch_of_branches_brings_is_asked_of_nobody(work: Workplace) -> None:
    shop = work.repository()
    git(shop, "switch", "-q", "-c", "other")
    written(shop / "CLAUDE.md", "# Shop\nof a colleague\n")
    git(shop, "-c", "user.email=bob@acme.example", "commit", "-q", "-am", "his", ago=60)
    git(shop, "switch", "-q", "main")
    work.start(shop)
    git(shop, "switch", "-q", "other")
    work.shell(shop)
    work.reconcile()
    git(shop, "switch", "-q", "main")
    work.shell(shop)
    work.reconcile()
    assert [each.status for each in work.all()] == ["arrived", "arrived"]
    work.check_chain(shop / "CLAUDE.md", "# Shop\n")


def test_a_removed_project_deletes_nothing_and_can_come_back(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    shutil.rmtree(shop)
    work.sync()
    assert work.all() == ()
    assert replicas.checkouts(work.db) == ()
    work.repository(files={"CLAUDE.md": "# Shop\nsecond\n"})
    work.start(shop)
    assert [each.status for each in work.all()] == ["arrived"]
    work.edit(shop / "CLAUDE.md", "# Shop\nthird\n")
    work.reconcile()
    work.check_chain(shop / "CLAUDE.md", "# Shop\n")
