"""What a history says, read from real repositories that git has made."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orgmem.capture.backfill_git import Lost, TooLarge
from orgmem.capture.backfill_history import Repository, Revision, open_repository, revisions
from orgmem.errors import InputError, NotFoundError, OrgmemError
from tests.capture.commits import DAY, FIRST, Work


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "work")


def read(place: Path | Repository, longest: int = 1000) -> list[Revision]:
    repository = open_repository(place) if isinstance(place, Path) else place
    return list(revisions(repository, lambda path: path.endswith(".md"), longest, lambda _: None))


def texts(found: list[Revision]) -> list[tuple[str, object, object]]:
    return [(each.path, each.before, each.after) for each in found]


def test_each_commit_of_a_memory_file_is_a_revision_in_order(work: Work) -> None:
    one = work.commit({"CLAUDE.md": "a\n", "main.py": "x"})
    work.commit({"main.py": "y"})
    two = work.commit({"CLAUDE.md": "a\nb\n"}, author=FIRST)
    assert read(work.folder) == [
        Revision(one, FIRST + DAY, FIRST + DAY, "CLAUDE.md", None, b"a\n"),
        Revision(two, FIRST, FIRST + 3 * DAY, "CLAUDE.md", b"a\n", b"a\nb\n"),
    ]


def test_a_pure_rename_changes_nothing_and_a_further_edit_is_seen_as_one(work: Work) -> None:
    work.commit({"RULES.md": "a\nb\nc\n"})
    work.commit({"RULES.md": None, "CLAUDE.md": "a\nb\nc\n"})
    work.commit({"CLAUDE.md": None, "docs/AGENTS.md": "a\nb\nc\nd\n"})
    assert texts(read(work.folder))[1:] == [
        ("CLAUDE.md", b"a\nb\nc\n", b"a\nb\nc\n"),
        ("docs/AGENTS.md", b"a\nb\nc\n", b"a\nb\nc\nd\n"),
    ]


def test_of_several_removed_files_the_most_similar_one_was_renamed(work: Work) -> None:
    work.commit({"a.md": "1\n2\n3\n4\n", "b.md": "1\n2\n3\nx\n", "c.md": "nothing\nalike\n"})
    work.commit({"a.md": None, "b.md": None, "c.md": None, "d.md": "1\n2\n3\n4\n5\n", "e.md": "new\n"})
    assert texts(read(work.folder))[3:] == [
        ("d.md", b"1\n2\n3\n4\n", b"1\n2\n3\n4\n5\n"),
        ("e.md", None, b"new\n"),
        ("b.md", b"1\n2\n3\nx\n", None),
        ("c.md", b"nothing\nalike\n", None),
    ]


def test_a_file_that_moves_out_of_the_watch_list_was_deleted(work: Work) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    work.commit({"CLAUDE.md": None, "CLAUDE.txt": "a\n"})
    work.commit({"CLAUDE.txt": None, "AGENTS.md": "a\n"})
    assert texts(read(work.folder))[1:] == [("CLAUDE.md", b"a\n", None), ("AGENTS.md", None, b"a\n")]


def test_a_merge_says_nothing_that_its_branches_have_not_said(work: Work) -> None:
    work.commit({"CLAUDE.md": "1\n2\n3\n4\n5\n"})
    work.git("checkout", "-q", "-b", "side")
    work.commit({"CLAUDE.md": "side\n2\n3\n4\n5\n"})
    work.git("checkout", "-q", "main")
    work.commit({"CLAUDE.md": "1\n2\n3\n4\nmain\n"})
    work.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    merged = b"side\n2\n3\n4\nmain\n"
    assert (work.folder / "CLAUDE.md").read_bytes() == merged
    work.commit({"CLAUDE.md": "side\n2\nafter\n4\nmain\n"})
    assert [each.after for each in read(work.folder)] == [
        b"1\n2\n3\n4\n5\n", b"side\n2\n3\n4\n5\n", b"1\n2\n3\n4\nmain\n", b"side\n2\nafter\n4\nmain\n",
    ]  # fmt: skip
    assert read(work.folder)[-1].before == merged


def test_a_parent_comes_before_its_child_whatever_the_clock_said(work: Work) -> None:
    work.commit({"CLAUDE.md": "a\n"}, day=9)
    work.commit({"CLAUDE.md": "b\n"}, day=1)
    work.commit({"CLAUDE.md": "c\n"}, day=5)
    assert [each.after for each in read(work.folder)] == [b"a\n", b"b\n", b"c\n"]


def test_a_symlink_and_a_submodule_are_no_memory_files(work: Work) -> None:
    work.commit({"AGENTS.md": "a\n"})
    (work.folder / "CLAUDE.md").symlink_to("AGENTS.md")
    work.commit({})
    commit = work.git("rev-parse", "HEAD")
    work.git("update-index", "--add", "--cacheinfo", f"160000,{commit},module.md")
    work.git("commit", "-q", "-m", "a submodule")
    assert texts(read(work.folder)) == [("AGENTS.md", None, b"a\n")]


def test_a_file_that_becomes_a_symlink_to_its_new_name_was_renamed(work: Work) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    (work.folder / "CLAUDE.md").unlink()
    (work.folder / "CLAUDE.md").symlink_to("AGENTS.md")
    work.commit({"AGENTS.md": "a\n"})
    assert texts(read(work.folder))[1:] == [("AGENTS.md", b"a\n", b"a\n")]


@pytest.mark.parametrize(
    "name", ["項目 a/ü.md", "with\nline end.md", 'quo"te\\back.md', ":100644.md", "-n.md", "\x1e.md"]
)
def test_a_path_may_hold_any_character(work: Work, name: str) -> None:
    work.commit({name: "a\n", "CLAUDE.md": "b\n"})
    assert {each.path for each in read(work.folder)} == {name, "CLAUDE.md"}


def test_a_name_that_is_no_utf8_is_kept_apart_from_others(work: Work) -> None:
    work.commit({os.fsdecode(b"\xff.md"): "a\n"})
    assert [os.fsencode(each.path) for each in read(work.folder)] == [b"\xff.md"]


def test_a_version_over_the_limit_is_not_read_and_the_next_one_is(work: Work) -> None:
    work.commit({"CLAUDE.md": "x" * 3_000_000})
    work.commit({"CLAUDE.md": b"y" * 1000})
    assert texts(read(work.folder)) == [
        ("CLAUDE.md", None, TooLarge(3_000_000)),
        ("CLAUDE.md", TooLarge(3_000_000), b"y" * 1000),
    ]


def test_a_bare_repository_a_worktree_and_a_subfolder_tell_the_same(work: Work, tmp_path: Path) -> None:
    work.commit({"docs/CLAUDE.md": "a\n"})
    work.commit({"docs/CLAUDE.md": "b\n"})
    work.git("worktree", "add", "-q", str(tmp_path / "tree"))
    work.git("clone", "-q", "--bare", str(work.folder), str(tmp_path / "bare.git"))
    told = read(work.folder)
    assert len(told) == 2
    for place in (work.folder / "docs", tmp_path / "tree", tmp_path / "tree" / "docs", tmp_path / "bare.git"):
        assert read(place) == told


def test_what_a_shallow_clone_begins_with_is_no_news(work: Work, tmp_path: Path) -> None:
    for text in ("a\n", "a\nb\n", "a\nb\nc\n"):
        work.commit({"CLAUDE.md": text})
    work.git("clone", "-q", "--depth", "2", f"file://{work.folder}", str(tmp_path / "shallow"))
    repository = open_repository(tmp_path / "shallow")
    assert repository.boundary
    assert texts(read(repository)) == [("CLAUDE.md", b"a\nb\n", b"a\nb\nc\n")]


def test_a_partial_clone_lacks_versions_and_fetches_none(work: Work, tmp_path: Path) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    work.commit({"CLAUDE.md": "b\n"})
    work.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    work.git("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{work.folder}", str(clone))
    assert texts(read(clone)) == [("CLAUDE.md", None, Lost()), ("CLAUDE.md", Lost(), Lost())]


def test_a_damaged_version_costs_only_itself(work: Work) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    blob = work.git("rev-parse", "HEAD:CLAUDE.md")
    work.commit({"CLAUDE.md": "b\n"})
    work.commit({"CLAUDE.md": "c\n"})
    file = work.folder / ".git" / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(b"damaged")
    assert texts(read(work.folder)) == [
        ("CLAUDE.md", None, Lost()),
        ("CLAUDE.md", Lost(), b"b\n"),
        ("CLAUDE.md", b"b\n", b"c\n"),
    ]


def test_nothing_that_the_repository_configures_is_run(work: Work, tmp_path: Path) -> None:
    work.commit({"CLAUDE.md": "a\n", ".gitattributes": "*.md diff=spy filter=spy\n"})
    work.commit({"CLAUDE.md": "b\n"})
    traces = tmp_path / "traces"
    traces.mkdir()
    spy = tmp_path / "spy"
    spy.write_text(f'#!/bin/sh\ntouch "{traces}/$(basename "$0")-$$"\n')
    spy.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.pager", "pager.log", "diff.external", "diff.spy.textconv", "diff.spy.command",
        "filter.spy.smudge", "gpg.program", "core.sshCommand", "core.editor", "core.askPass", "alias.log",
    ):  # fmt: skip
        work.git("config", key, str(spy))
    for key in ("log.showSignature", "log.follow", "diff.relative"):
        work.git("config", key, "true")
    work.git("config", "core.hooksPath", str(tmp_path))
    for hook in ("post-index-change", "reference-transaction"):
        (tmp_path / hook).symlink_to(spy)
    before = sorted(traces.iterdir())  # of what git itself ran while this test set the stage
    assert len(read(work.folder)) == 2
    assert sorted(traces.iterdir()) == before


def test_variables_of_git_do_not_lead_elsewhere(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, "/nowhere")
    assert len(read(work.folder)) == 1


def test_the_repository_is_left_as_it_was(work: Work) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    (work.folder / "CLAUDE.md").write_text("not committed\n")
    snapshot = {path: path.stat().st_mtime_ns for path in work.folder.rglob("*")}
    assert texts(read(work.folder)) == [("CLAUDE.md", None, b"a\n")]
    assert {path: path.stat().st_mtime_ns for path in work.folder.rglob("*")} == snapshot


def test_a_reader_that_stops_early_leaves_no_process(work: Work) -> None:
    for number in range(3):
        work.commit({"CLAUDE.md": f"{number}\n"})
    told = revisions(open_repository(work.folder), lambda _: True, 1000, lambda _: None)
    next(told)
    del told
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda folder: folder / "missing", NotFoundError, "there is no folder"),
        (lambda folder: folder, NotFoundError, "in no git repository"),
        (lambda folder: Work(folder / "empty").folder, InputError, "no commit yet"),
    ],
    ids=["missing", "no-repository", "empty"],
)
def test_where_there_is_no_history_one_line_says_so(
    tmp_path: Path, make: Callable[[Path], Path], kind: type[OrgmemError], message: str
) -> None:
    with pytest.raises(kind, match=message) as raised:
        open_repository(make(tmp_path))
    assert raised.value.hint


def test_without_git_one_line_says_so(work: Work, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFoundError, match="git is not installed"):
        read(work.folder)


def test_of_a_damaged_repository_one_line_says_so(work: Work) -> None:
    commit = work.commit({"CLAUDE.md": "a\n"})
    next((work.folder / ".git" / "objects").glob(f"{commit[:2]}/*")).unlink()
    with pytest.raises(InputError, match="git can't read") as raised:
        read(work.folder)
    assert raised.value.hint
