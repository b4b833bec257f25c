"""Worktrees that are removed before anybody looked: what payloads tell is saved, the rest is said."""

import shutil
from pathlib import Path

import pytest

from orgmem.capture.state import replicas, sessions
from tests.capture.workplace import Workplace, git, written


@pytest.fixture
def work(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def test_an_edit_in_a_worktree_that_is_gone_is_taken_from_its_payload(work: Workplace) -> None:
    """claude-code 24382."""
    shop = work.repository()
    tree = work.worktree(shop, "feature")
    work.start(tree)
    work.edit(tree / "CLAUDE.md", "# Shop\na\n")
    work.edit(tree / "CLAUDE.md", "# Shop\na\nb\n")
    waiting = list(work.waiting)
    git(shop, "worktree", "remove", "--force", str(tree))
    work.stop(shop)
    (found,) = work.all()
    assert (found.change.before, found.change.after) == ("# Shop\n", "# Shop\na\nb\n")
    assert (found.change.project, found.change.path) == ("github.com/acme/shop", "CLAUDE.md")
    assert [each.root for each in replicas.checkouts(work.db)] == [str(shop)]
    work.waiting = waiting  # killed before the wakes were dropped
    work.reconcile()
    assert len(work.all()) == 1


def test_a_worktree_that_nobody_ever_saw_is_of_the_project_around_it(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    tree = shop / ".claude" / "worktrees" / "one"
    git(shop, "worktree", "add", "-q", "-b", "one", str(tree))
    work.edit(tree / "CLAUDE.md", "# Shop\na\n", cwd=tree)
    work.edit(tree / "sub" / "AGENTS.md", "new\n", cwd=tree)
    git(shop, "worktree", "remove", "--force", str(tree))
    work.reconcile()
    assert {
        (each.change.project, each.change.path, each.change.before, each.change.after) for each in work.all()
    } == {
        ("github.com/acme/shop", "CLAUDE.md", "# Shop\n", "# Shop\na\n"),
        ("github.com/acme/shop", "sub/AGENTS.md", "", "new\n"),
    }
    work.stop(shop)
    assert len(work.all()) == 2


def test_a_worktree_beside_the_project_is_known_by_where_the_session_began(work: Workplace) -> None:
    shop = work.repository()
    tree = work.worktree(shop, "feature")
    work.edit(tree / "CLAUDE.md", "# Shop\na\n", cwd=tree)
    work.waiting = [each._replace(project_dir=str(shop)) for each in work.waiting]
    shutil.rmtree(tree)
    work.reconcile()
    assert [each.change.project for each in work.all()] == ["github.com/acme/shop"]


def test_a_file_new_since_the_last_look_is_new_in_a_worktree_that_is_gone(work: Workplace) -> None:
    shop = work.repository(files={})
    tree = work.worktree(shop, "feature")
    work.start(tree)
    file = written(tree / "AGENTS.md", "by a command\n")
    work.edit(file, "then by the tool\n")
    shutil.rmtree(tree)
    work.reconcile()
    assert work.edits() == [("", "then by the tool\n")]


def test_a_folder_that_is_gone_and_of_no_known_project_is_a_project_of_its_own(work: Workplace) -> None:
    folder = work.folder / "scratch"
    work.edit(folder / "CLAUDE.md", "a\n")
    shutil.rmtree(folder)
    work.reconcile()
    (found,) = work.all()
    assert found.change.project.startswith("local/scratch-")
    assert found.change.path == "CLAUDE.md"


def test_a_command_in_a_worktree_that_is_gone_is_said_to_be_lost(work: Workplace) -> None:
    shop = work.repository()
    tree = work.worktree(shop, "feature")
    work.start(tree)
    written(tree / "CLAUDE.md", "# Shop\nby sed\n")
    work.shell(tree, command="sed -i s/a/b/ CLAUDE.md")
    shutil.rmtree(tree)
    assert work.reconcile()
    assert work.all() == ()
    (notice,) = sessions.notices(work.db)
    assert (notice.kind, notice.subject) == ("lost", str(tree))
    assert "sed" not in notice.detail


def test_an_edit_whose_payload_does_not_tell_enough_is_said_to_be_lost(work: Workplace) -> None:
    shop = work.repository()
    tree = work.worktree(shop, "feature")
    work.start(tree)
    given = {"file_path": f"{tree}/CLAUDE.md", "old_string": "Shop", "new_string": "Stop"}
    work.wake("PostToolUse", tree, tool_name="Edit", tool_input=given, tool_response={})
    shutil.rmtree(tree)
    work.reconcile()
    assert work.all() == ()
    assert [kind for kind, _ in work.notices()] == ["lost"]


def test_a_folder_removed_inside_a_project_is_a_removal_of_its_files(work: Workplace) -> None:
    shop = work.repository(files={"CLAUDE.md": "x\n", "docs/CLAUDE.md": "docs\n"})
    work.start(shop)
    work.edit(shop / "docs" / "CLAUDE.md", "docs\nmore\n")
    shutil.rmtree(shop / "docs")
    work.shell(shop)
    work.reconcile()
    assert work.edits() == [("docs\n", "")]
    assert work.notices() == []


def test_the_files_of_a_worktree_that_is_gone_were_deleted_by_nobody(work: Workplace) -> None:
    shop = work.repository()
    tree = work.worktree(shop, "feature")
    work.start(tree)
    git(shop, "worktree", "remove", str(tree))
    work.start(shop)
    work.sync()
    assert (work.all(), work.notices()) == ((), [])


def test_a_worktree_made_anew_at_the_same_place_is_no_news(work: Workplace) -> None:
    shop = work.repository()
    tree = work.worktree(shop, "feature")
    work.start(tree)
    work.edit(tree / "CLAUDE.md", "# Shop\na\n")
    git(shop, "worktree", "remove", "--force", str(tree))
    work.stop(shop)
    git(shop, "worktree", "add", "-q", str(tree), "feature")
    work.start(tree)
    assert [each.status for each in work.all()] == ["pending", "arrived"]
    work.edit(tree / "CLAUDE.md", "# Shop\nb\n")
    work.reconcile()
    assert work.edits(status="pending") == [("# Shop\n", "# Shop\na\n"), ("# Shop\n", "# Shop\nb\n")]
