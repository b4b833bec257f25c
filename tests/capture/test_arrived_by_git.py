"""What git brought, against what the user has just made."""

import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from orgmem.capture.project import arrived_by_git, checkout_of, head_of
from tests.capture.repositories import COLLEAGUE, LONG_AGO, commit, git, repository

FILE = "CLAUDE.md"
SINCE = LONG_AGO + 1000.7
BEFORE, AFTER = LONG_AGO + 500, LONG_AGO + 2000
"""When commits are made, before the last look and after it."""


class Clone(NamedTuple):
    """A clone whose files were last looked at at SINCE, when HEAD was `head`."""

    root: Path
    head: str | None

    def arrived(self, path: str = FILE) -> bool:
        """Whether what the file is now came by git."""
        checkout = checkout_of(str(self.root))
        assert checkout is not None
        file = self.root / path
        content = file.read_bytes() if file.exists() else None
        return arrived_by_git(checkout, path, content, since=SINCE, old_head=self.head)


def looked_at(root: Path) -> Clone:
    """The clone as it is now."""
    checkout = checkout_of(str(root))
    assert checkout is not None
    return Clone(root, head_of(checkout))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A colleague's repository with one old commit of the user's."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    hub = repository(tmp_path / "hub")
    commit(hub, {FILE: "- one\n- two\n- three\n"}, at=LONG_AGO)
    return hub


@pytest.fixture
def clone(hub: Path) -> Clone:
    """The user's clone of it."""
    git(hub, "clone", "--quiet", str(hub), "../clone")
    root = hub.parent / "clone"
    git(root, "config", "user.email", "Me@Example.com")
    return looked_at(root)


def test_a_colleagues_commit_that_is_pulled_arrived(hub: Path, clone: Clone) -> None:
    commit(hub, {FILE: "- one\n- two\n- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet")
    assert clone.arrived()


def test_a_file_that_a_colleague_made_or_removed_arrived(hub: Path, clone: Clone) -> None:
    commit(hub, {FILE: None, "AGENTS.md": "- new\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet")
    assert clone.arrived()
    assert clone.arrived("AGENTS.md")


def test_the_users_own_commit_of_a_new_edit_did_not_arrive(clone: Clone) -> None:
    commit(clone.root, {FILE: "- mine\n"}, at=AFTER)
    assert not clone.arrived()
    commit(clone.root, {FILE: None})
    assert not clone.arrived()


def test_a_commit_in_the_very_second_of_the_last_look_is_new(clone: Clone) -> None:
    commit(clone.root, {FILE: "- mine\n"}, at=int(SINCE))
    assert not Clone(clone.root, clone.head).arrived()


def test_an_assistant_that_commits_under_its_own_name_makes_new_work(clone: Clone) -> None:
    commit(clone.root, {FILE: "- by the assistant\n"}, author="assistant@vendor.example", at=AFTER)
    assert not clone.arrived()


def test_an_edit_that_is_not_committed_did_not_arrive(hub: Path, clone: Clone) -> None:
    (clone.root / FILE).write_text("- mine\n")
    assert not clone.arrived()
    (clone.root / FILE).unlink()
    assert not clone.arrived()


def test_a_further_edit_on_top_of_a_pull_did_not_arrive(hub: Path, clone: Clone) -> None:
    commit(hub, {FILE: "- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet")
    (clone.root / FILE).write_text("- theirs\n- mine\n")
    assert not clone.arrived()


def test_a_file_that_git_never_had_was_removed_by_somebody_else(hub: Path, clone: Clone) -> None:
    commit(hub, {FILE: "- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet")
    assert not clone.arrived("untracked.md")


def test_a_switch_to_an_old_branch_brings_its_files_and_takes_others(hub: Path) -> None:
    git(hub, "branch", "old")
    commit(hub, {FILE: "- newer\n", "AGENTS.md": "- only here\n"}, at=BEFORE)
    clone = looked_at(hub)
    git(hub, "checkout", "--quiet", "old")
    assert clone.arrived()
    assert clone.arrived("AGENTS.md")
    back = looked_at(hub)
    git(hub, "checkout", "--quiet", "main")
    assert back.arrived()
    assert back.arrived("AGENTS.md")


def test_a_reset_to_an_earlier_commit_brings_the_earlier_file(clone: Clone) -> None:
    commit(clone.root, {FILE: "- mine\n"}, at=BEFORE)
    newer = looked_at(clone.root)
    git(clone.root, "reset", "--quiet", "--hard", "HEAD~1")
    assert newer.arrived()


def test_a_switch_to_unrelated_history_brings_its_file(hub: Path, clone: Clone) -> None:
    git(hub, "checkout", "--quiet", "--orphan", "other")
    commit(hub, {FILE: "- other\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "fetch", "--quiet")
    git(clone.root, "checkout", "--quiet", "other")
    assert clone.arrived()


def test_a_merge_that_git_makes_alone_brings_the_others_lines(hub: Path, clone: Clone) -> None:
    commit(clone.root, {FILE: "- mine\n- two\n- three\n"}, at=BEFORE)
    looked = looked_at(clone.root)
    commit(hub, {FILE: "- one\n- two\n- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet", "--no-rebase", "--no-edit")
    assert (clone.root / FILE).read_text() == "- mine\n- two\n- theirs\n"
    assert looked.arrived()


def test_a_merge_with_a_commit_of_just_now_did_not_arrive(hub: Path, clone: Clone) -> None:
    commit(clone.root, {FILE: "- mine\n- two\n- three\n"}, at=AFTER)
    commit(hub, {FILE: "- one\n- two\n- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet", "--no-rebase", "--no-edit")
    assert not clone.arrived()


def test_a_conflict_that_the_user_solved_did_not_arrive(hub: Path, clone: Clone) -> None:
    commit(clone.root, {FILE: "- mine\n"}, at=BEFORE)
    looked = looked_at(clone.root)
    commit(hub, {FILE: "- theirs\n"}, author=COLLEAGUE, at=AFTER)
    with pytest.raises(AssertionError):
        git(clone.root, "pull", "--quiet", "--no-rebase", "--no-edit")
    commit(clone.root, {FILE: "- mine and theirs\n"})
    assert not looked.arrived()


def test_a_rebase_of_work_that_was_there_brings_the_others_lines_only(hub: Path, clone: Clone) -> None:
    lines = [f"- rule {number}\n" for number in range(20)]
    commit(hub, {FILE: "".join(lines)}, at=LONG_AGO)
    git(clone.root, "pull", "--quiet")
    commit(clone.root, {FILE: "".join(["- mine\n", *lines])}, at=BEFORE)
    looked = looked_at(clone.root)
    commit(hub, {FILE: "".join([*lines, "- theirs\n"])}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet", "--rebase")
    assert (clone.root / FILE).read_text() == "".join(["- mine\n", *lines, "- theirs\n"])
    assert looked.arrived()


def test_a_rebase_of_a_commit_of_just_now_did_not_arrive(hub: Path, clone: Clone) -> None:
    commit(clone.root, {FILE: "- mine\n- two\n- three\n"})
    commit(hub, {FILE: "- one\n- two\n- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet", "--rebase")
    assert not clone.arrived()


def test_an_own_edit_below_a_colleagues_commit_is_not_lost(hub: Path, clone: Clone) -> None:
    """Both came between two looks: the last commit is the colleague's."""
    commit(clone.root, {FILE: "- mine\n- two\n- three\n"}, at=AFTER)
    git(clone.root, "push", "--quiet", "origin", "HEAD:refs/heads/mine")
    git(hub, "merge", "--quiet", "mine")
    commit(hub, {FILE: "- mine\n- two\n- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet")
    assert not clone.arrived()


def test_amending_with_a_new_edit_did_not_arrive_though_its_author_date_is_old(clone: Clone) -> None:
    commit(clone.root, {FILE: "- mine\n- two\n- three\n"}, at=BEFORE)
    looked = looked_at(clone.root)
    (clone.root / FILE).write_text("- mine\n- two\n- mine too\n")
    git(clone.root, "commit", "--quiet", "--all", "--amend", "--no-edit")
    assert not looked.arrived()


def test_picking_a_colleagues_commit_arrived_and_an_own_one_is_asked_about(hub: Path, clone: Clone) -> None:
    git(hub, "checkout", "--quiet", "-b", "side")
    theirs = commit(hub, {"AGENTS.md": "- theirs\n"}, author=COLLEAGUE, at=BEFORE)
    mine = commit(hub, {"GEMINI.md": "- mine\n"}, at=BEFORE)
    git(clone.root, "fetch", "--quiet")
    git(clone.root, "-c", "user.name=Me", "cherry-pick", theirs, mine)
    assert clone.arrived("AGENTS.md")
    assert not clone.arrived("GEMINI.md")


def test_without_an_address_the_log_of_head_tells_who_made_a_commit(hub: Path, clone: Clone) -> None:
    git(clone.root, "config", "--unset", "user.email")
    commit(hub, {FILE: "- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet")
    assert clone.arrived()
    looked = looked_at(clone.root)
    commit(clone.root, {FILE: "- mine\n"}, author=COLLEAGUE, at=AFTER)
    assert not looked.arrived()


def test_without_address_and_log_only_old_commits_arrived(hub: Path, clone: Clone) -> None:
    git(clone.root, "config", "--unset", "user.email")
    for moment, arrived in ((BEFORE, True), (AFTER, False)):
        looked = looked_at(clone.root)
        commit(hub, {FILE: f"- theirs at {moment}\n"}, author=COLLEAGUE, at=moment)
        git(clone.root, "-c", "core.logAllRefUpdates=false", "pull", "--quiet")
        for log in (clone.root / ".git" / "logs").rglob("HEAD"):
            log.unlink()
        assert looked.arrived() is arrived


def test_a_head_that_git_has_forgotten_falls_back_on_the_last_commit(hub: Path, clone: Clone) -> None:
    commit(hub, {FILE: "- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet")
    for old in ("0" * 40, "f" * 40, None):
        assert Clone(clone.root, old).arrived()
    commit(clone.root, {FILE: "- mine\n"}, at=AFTER)
    for old in ("0" * 40, "f" * 40, None):
        assert not Clone(clone.root, old).arrived()


@pytest.mark.parametrize("way", ["crlf", "utf-16"])
def test_line_ends_and_encoding_of_the_working_tree_do_not_hide_where_a_file_came_from(
    hub: Path, clone: Clone, way: str
) -> None:
    if way == "crlf":
        git(clone.root, "config", "core.autocrlf", "true")
    else:
        commit(hub, {".gitattributes": "*.md working-tree-encoding=UTF-16\n"}, author=COLLEAGUE, at=AFTER)
        git(clone.root, "pull", "--quiet")
        (hub / ".gitattributes").unlink()
        git(hub, "config", "core.attributesFile", "/dev/null")
        git(hub, "rm", "--quiet", "--cached", ".gitattributes")
    git(hub, "checkout", "--quiet", "HEAD", "--", FILE)
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin", "--no-filters"],
        cwd=hub,
        input="- theirs, größer\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    git(hub, "reset", "--quiet", "--hard")
    git(hub, "update-index", "--cacheinfo", f"100644,{blob},{FILE}")
    git(hub, "commit", "--quiet", "-m", "change", author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet")
    assert b"\n" not in (clone.root / FILE).read_bytes().replace(b"\r\n", b"").replace(b"\n\0", b"")
    assert clone.arrived()


def test_without_git_nothing_arrived(hub: Path, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(hub, {FILE: "- theirs\n"}, author=COLLEAGUE, at=AFTER)
    git(clone.root, "pull", "--quiet")
    monkeypatch.setenv("PATH", "")
    assert not clone.arrived()
    assert not clone.arrived("gone.md")


def test_nothing_arrives_in_a_plain_folder(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("- mine\n")
    checkout = checkout_of(os.path.realpath(tmp_path))
    assert checkout is not None
    assert not arrived_by_git(checkout, FILE, b"- mine\n", since=time.time(), old_head=None)
