"""Which files are looked at and what they are taken for: links, renames, what can't be read, whose a file is."""

import os
from pathlib import Path

import pytest

from orgmem.capture.evidence import Evidence
from orgmem.capture.project import checkout_of
from orgmem.capture.rounds import Round
from orgmem.capture.state import replicas
from orgmem.capture.walk import Walk
from orgmem.capture.watch import Watch
from tests.capture.workplace import Workplace, git, written


@pytest.fixture
def work(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def test_a_memory_file_and_the_link_beside_it_are_one(work: Workplace) -> None:
    """openclaw 42519."""
    shop = work.repository()
    (shop / "AGENTS.md").symlink_to("CLAUDE.md")
    work.start(shop)
    work.edit(shop / "AGENTS.md", "# Shop\nthrough the link\n")
    work.reconcile()
    work.stop(shop)
    assert [(each.change.path, each.change.after) for each in work.all()] == [
        ("CLAUDE.md", "# Shop\nthrough the link\n")
    ]


def test_a_project_reached_through_a_link_is_the_same(work: Workplace) -> None:
    """hindsight 2324."""
    shop = work.repository()
    (work.folder / "alias").symlink_to(shop)
    work.start(work.folder / "alias")
    work.edit(work.folder / "alias" / "CLAUDE.md", "# Shop\na\n")
    work.reconcile()
    work.stop(shop)
    assert len(work.all()) == 1
    assert [each.root for each in replicas.checkouts(work.db)] == [str(shop)]


def test_a_renamed_file_takes_its_replica_along(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    (shop / "docs").mkdir()
    (shop / "CLAUDE.md").rename(shop / "docs" / "CLAUDE.md")
    work.stop(shop)
    assert work.all() == ()
    work.edit(shop / "docs" / "CLAUDE.md", "# Shop\nmoved\n")
    work.reconcile()
    assert [(each.change.path, each.change.before) for each in work.all()] == [("docs/CLAUDE.md", "# Shop\n")]


def test_a_file_that_gives_its_name_to_a_link_is_renamed(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    (shop / "CLAUDE.md").rename(shop / "AGENTS.md")
    (shop / "CLAUDE.md").symlink_to("AGENTS.md")
    work.stop(shop)
    assert work.all() == ()
    assert list(replicas.stamps_of(work.db, str(shop))) == [f"{shop}/AGENTS.md"]


def test_a_file_renamed_and_edited_at_once_ends_and_begins(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    (shop / "CLAUDE.md").rename(shop / "AGENTS.md")
    written(shop / "AGENTS.md", "# Other\n")
    work.stop(shop)
    assert sorted(work.edits()) == [("", "# Other\n"), ("# Shop\n", "")]


@pytest.mark.parametrize("content", [b"\xff\xfe\xff", b"x" * 2000, b"caf\xe9\n"])
def test_a_file_that_cant_be_read_is_said_and_its_whole_difference_found_later(
    tmp_path: Path, content: bytes
) -> None:
    work = Workplace(tmp_path, watch_max_bytes=1000)
    shop = work.repository()
    work.start(shop)
    file = written(shop / "CLAUDE.md", content)
    work.stop(shop)
    work.stop(shop)
    assert work.all() == ()
    assert work.notices() == [("skipped", str(file))]
    written(file, "# Shop\nmended\n")
    work.stop(shop)
    assert work.edits() == [("# Shop\n", "# Shop\nmended\n")]
    assert work.notices() == []


def test_a_file_unreadable_from_the_start_is_no_news_when_it_is_mended(work: Workplace) -> None:
    shop = work.repository(files={})
    file = written(shop / "CLAUDE.md", b"\xff\xfe\xff", ago=50)
    work.start(shop)
    written(file, "as it was\n")
    work.stop(shop)
    assert (work.all(), work.notices()) == ((), [])
    work.edit(file, "as it was\nand more\n")
    work.reconcile()
    assert work.edits() == [("as it was\n", "as it was\nand more\n")]


def test_a_link_out_of_the_project_is_said_and_not_read(work: Workplace) -> None:
    shop = work.repository(files={})
    outside = written(work.folder / "outside.md", "private\n")
    (shop / "AGENTS.md").symlink_to(outside)
    work.start(shop)
    written(outside, "private\nmore\n")
    work.stop(shop)
    assert work.all() == ()
    assert work.notices() == [("skipped", f"{shop}/AGENTS.md")]
    (shop / "AGENTS.md").unlink()
    work.stop(shop)
    assert work.notices() == []


def test_a_wider_watch_list_brings_no_old_files_as_news(work: Workplace) -> None:
    shop = work.repository(files={"docs/agents.md": "old\n", "CLAUDE.md": "x\n"})
    work.start(shop)
    work.settings = work.settings.model_copy(update={"watch": ("docs/*.md",)})
    work.stop(shop)
    assert work.all() == ()
    written(shop / "docs" / "agents.md", "old\nnew\n")
    written(shop / "docs" / "more.md", "first\n")
    work.stop(shop)
    assert sorted(work.edits()) == [("", "first\n"), ("old\n", "old\nnew\n")]


def test_a_file_that_is_ignored_from_now_on_was_not_deleted(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    work.settings = work.settings.model_copy(update={"watch_ignore": ("CLAUDE.md",)})
    written(shop / "CLAUDE.md", "# Shop\nignored\n")
    work.stop(shop)
    assert work.all() == ()


def test_a_repository_inside_a_folder_keeps_its_files(work: Workplace) -> None:
    outer = work.folder / "plain"
    written(outer / "CLAUDE.md", "outer\n", ago=50)
    work.start(outer)
    inner = work.repository("plain/inner")
    work.start(inner)
    work.edit(inner / "CLAUDE.md", "# Shop\ninner\n")
    work.reconcile()
    work.stop(outer)
    (found,) = work.all()
    assert (found.change.root, found.change.path) == (str(inner), "CLAUDE.md")


def test_a_folder_that_becomes_part_of_a_repository_hands_over_its_files(work: Workplace) -> None:
    folder = work.folder / "plain" / "part"
    written(folder / "CLAUDE.md", "part\n", ago=50)
    work.start(folder)
    git(work.folder / "plain", "init", "-q")
    work.start(folder)
    written(folder / "CLAUDE.md", "part\nmore\n")
    work.stop(folder)
    (found,) = work.all()
    assert (found.change.path, found.change.before) == ("part/CLAUDE.md", "part\n")


def test_an_edit_of_a_file_that_is_no_memory_file_makes_no_project_of_its_folder(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    work.edit(work.folder / "elsewhere" / "notes.md", "x\n", cwd=shop)
    work.reconcile()
    assert [each.root for each in replicas.checkouts(work.db)] == [str(shop)]
    assert work.all() == ()


def test_a_memory_file_of_another_project_is_found_in_that(work: Workplace) -> None:
    shop, tool = work.repository(), work.repository("tool")
    work.start(shop)
    work.edit(tool / "CLAUDE.md", "# Shop\nfor the tool\n", cwd=shop)
    work.reconcile()
    (found,) = work.all()
    assert (found.change.project, found.change.session) == ("github.com/acme/tool", "s1")


def test_personal_memory_is_found_only_while_the_user_wants_it(
    work: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(work.folder / "user"))
    mine = written(work.folder / "user" / ".claude" / "CLAUDE.md", "mine\n", ago=50)
    shop = work.repository()
    work.start(shop)
    work.edit(mine, "mine\nunseen\n", cwd=shop)
    work.reconcile()
    assert work.all() == ()
    work.settings = work.settings.model_copy(update={"watch_personal": True})
    work.stop(shop)
    work.edit(mine, "mine\nunseen\nseen\n", cwd=shop)
    work.reconcile()
    written(mine.parent / "rules" / "a.md", "a\n")
    work.stop(shop)
    assert [(each.change.project, each.change.path) for each in work.all()] == [
        ("personal", "~/.claude/CLAUDE.md"),
        ("personal", "~/.claude/rules/a.md"),
    ]
    assert work.edits()[0] == ("mine\nunseen\n", "mine\nunseen\nseen\n")
    work.settings = work.settings.model_copy(update={"watch_personal": False})
    written(mine, "mine\n")
    work.stop(shop)
    work.shell(shop)
    assert not work.reconcile()
    assert len(work.all()) == 2


def test_odd_texts_are_kept_or_refused_and_never_a_crash(work: Workplace) -> None:
    """hindsight 1891: lone surrogates, NUL, special tokens, marks of direction."""
    shop = work.repository()
    work.start(shop)
    text = "# Shop\na\0b <|endoftext|> \u202eabc\u202c 漢字"
    work.edit(shop / "CLAUDE.md", text)
    work.wake("PostToolUse", shop, "s\ud800", tool_name="Edit", tool_input={"file_path": f"{shop}/\udc80.md"})
    work.reconcile()
    written(shop / "CLAUDE.md", "\ud800".encode("utf-8", "surrogatepass"))
    work.stop(shop)
    assert work.edits() == [("# Shop\n", text)]
    assert work.notices() == [("skipped", f"{shop}/CLAUDE.md")]


def test_a_folder_without_rights_hides_its_files_and_deletes_none(work: Workplace) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    shop = work.repository(files={".claude/rules/a.md": "a\n"})
    work.start(shop)
    (shop / ".claude" / "rules").chmod(0)
    work.stop(shop)
    (shop / ".claude" / "rules").chmod(0o700)
    assert work.all() == ()


def test_a_file_that_cant_be_seen_was_not_deleted(work: Workplace) -> None:
    shop = work.repository(files={".claude/rules/a.md": "a\n"})
    work.start(shop)
    rules = shop / ".claude" / "rules"
    rules.rename(shop / "aside")
    rules.symlink_to(rules)  # without end: nobody can tell what is in it
    work.stop(shop)
    assert work.all() == ()
    assert work.notices() == [("skipped", f"{rules}/a.md")]
    rules.unlink()
    (shop / "aside").rename(rules)
    work.stop(shop)
    assert (work.all(), work.notices()) == ((), [])


def test_a_file_that_moves_while_it_is_looked_for_is_renamed(work: Workplace) -> None:
    shop = work.repository(files={"docs/CLAUDE.md": "docs\n"})
    work.start(shop)
    checkout = checkout_of(str(shop))
    assert checkout
    watch = Watch(work.settings)
    this = Round(work.db, watch, watch.digest, 1000, Evidence((), "hook", work.now()), work.now, work.now())
    (shop / "docs" / "CLAUDE.md").rename(shop / "CLAUDE.md")
    listings = iter([(), watch.find(checkout)])  # the first misses it in its old place and in its new one
    (step,) = Walk(this, checkout).walked(lambda: next(listings)).steps
    assert (step.change, step.moved_from) == (None, f"{shop}/docs/CLAUDE.md")
