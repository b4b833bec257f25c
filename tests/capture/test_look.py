"""The quick look: a change of a known file is never missed, and what can't have changed anything costs no walk."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orgmem.capture import look
from orgmem.capture.state import replicas
from orgmem.capture.state.replicas import Stamp
from tests.capture.workplace import Workplace, git, written


@pytest.fixture
def work(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def wants_more(work: Workplace) -> bool:
    return look.can_have_changed(work.db, work.occurrences(), work.now())


@pytest.mark.parametrize("event", ["SessionStart", "Stop", "SessionEnd", "FileChanged"])
def test_these_events_ask_for_a_full_walk(work: Workplace, event: str) -> None:
    shop = work.repository()
    work.start(shop)
    work.wake(event, shop)
    assert wants_more(work)


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreCompact", "Notification"])
def test_other_events_ask_for_none(work: Workplace, event: str) -> None:
    shop = work.repository()
    work.start(shop)
    work.wake(event, shop)
    assert not wants_more(work)


def test_an_unknown_checkout_is_worth_a_walk_wherever_it_lies(work: Workplace) -> None:
    shop = work.repository()
    work.shell(shop)
    assert wants_more(work)
    work.start(shop)
    (shop / "src").mkdir()
    work.shell(shop / "src")
    assert not wants_more(work)
    git(shop, "init", "-q", "vendored")
    work.shell(shop / "vendored")
    assert wants_more(work)


@pytest.mark.parametrize(
    "new", ["AGENTS.md", ".claude/rules/api.md", ".github/copilot-instructions.md", ".cursorrules"]
)
def test_a_new_file_in_a_usual_place_is_seen(work: Workplace, new: str) -> None:
    shop = work.repository()
    work.start(shop)
    written(shop / new, "new\n")
    work.shell(shop)
    assert wants_more(work)


def test_a_new_file_beside_a_known_one_is_seen(work: Workplace) -> None:
    shop = work.repository(files={"docs/CLAUDE.md": "x\n", "memory-bank/a.md": "y\n"})
    work.start(shop)
    work.shell(shop)
    assert not wants_more(work)
    written(shop / "docs" / "AGENTS.md", "new\n")
    work.shell(shop)
    assert wants_more(work)
    (shop / "docs" / "AGENTS.md").unlink()
    written(shop / "memory-bank" / "b.md", "new\n")
    work.shell(shop)
    assert wants_more(work)


def test_other_documents_and_links_to_known_files_are_nothing_new(work: Workplace) -> None:
    shop = work.repository(files={"CLAUDE.md": "x\n", "docs/CLAUDE.md": "x\n"})
    work.start(shop)
    written(shop / "README.md", "x\n")
    written(shop / "docs" / "guide.md", "x\n")
    written(shop / ".github" / "PULL_REQUEST_TEMPLATE.md", "x\n")
    (shop / "AGENTS.md").symlink_to("CLAUDE.md")
    work.shell(shop)
    assert not wants_more(work)


def test_an_edit_of_what_may_be_a_memory_file_is_worth_a_walk(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    work.tell_edit(shop / "deep" / "rules.mdc", None, "x")
    assert wants_more(work)
    work.tell_edit(shop / "main.py", "x", "y", cwd=shop)
    assert not wants_more(work)


def test_a_command_in_a_folder_that_is_gone_is_worth_a_walk(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    work.shell(work.folder / "gone")
    assert wants_more(work)
    work.wake("UserPromptSubmit", work.folder / "gone")
    assert not wants_more(work)


def test_a_change_in_any_known_checkout_is_seen_from_any_other(work: Workplace) -> None:
    shop, tool = work.repository(), work.repository("tool")
    work.start(shop)
    work.start(tool)
    written(tool / "CLAUDE.md", "# Tool\n")
    work.shell(shop)
    assert wants_more(work)


def test_a_file_that_was_touched_or_restored_costs_no_walk_and_gets_its_stamp(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    file = written(shop / "CLAUDE.md", "# Shop\n", ago=10)
    work.shell(shop)
    assert not wants_more(work)
    known = replicas.stamps_of(work.db, str(shop))[str(file)]
    assert known == look.stamp_of(str(file))


def test_a_stamp_of_just_now_is_not_trusted(work: Workplace) -> None:
    shop = work.repository()
    file = written(shop / "CLAUDE.md", "aaaa\n")
    work.start(shop)
    assert replicas.stamps_of(work.db, str(shop)) == {str(file): None}
    work.now = lambda: file.stat().st_mtime + 3
    work.shell(shop)
    assert not wants_more(work)
    assert replicas.stamps_of(work.db, str(shop)) == {str(file): look.stamp_of(str(file))}
    assert look.is_racy(Stamp(5_000_000_000, 0, 0), 6.0)
    assert not look.is_racy(Stamp(5_000_000_000, 0, 0), 7.1)


@pytest.mark.parametrize("what", ["removed", "a link", "a folder", "shorter", "skipped", "the root is gone"])
def test_whatever_becomes_of_a_known_file_is_seen(tmp_path: Path, what: str) -> None:
    work = Workplace(tmp_path, watch_max_bytes=100)
    shop = work.repository(files={"CLAUDE.md": "# Shop\n", "AGENTS.md": "# Shop\n"})
    work.start(shop)
    file = shop / "CLAUDE.md"
    file.unlink()
    match what:
        case "a link":
            file.symlink_to("AGENTS.md")
        case "a folder":
            file.mkdir()
        case "shorter":
            written(file, "#")
        case "skipped":
            written(file, "x" * 101)
        case "the root is gone":
            shutil.rmtree(shop)
        case _:
            pass
    work.shell(work.folder)
    assert look.has_altered(work.db, str(shop), work.now())
    work.sync()
    known = [each.root for each in replicas.checkouts(work.db)]
    assert not any(look.has_altered(work.db, root, work.now()) for root in known) or what == "skipped"


def test_a_skipped_file_is_not_looked_at_again_until_it_changes(tmp_path: Path) -> None:
    work = Workplace(tmp_path, watch_max_bytes=100)
    shop = work.repository()
    work.start(shop)
    file = written(shop / "CLAUDE.md", "x" * 101, ago=10)
    work.stop(shop)
    work.shell(shop)
    assert not wants_more(work)
    written(file, "x" * 102, ago=9)
    work.shell(shop)
    assert wants_more(work)


@pytest.mark.parametrize("path", ["/nul\0byte", "/" + "x" * 5000, "\udcff", ""])
def test_what_can_be_no_path_is_no_file(path: str) -> None:
    assert look.stamp_of(path) is None
    assert not look.is_folder(path)


def test_the_quick_look_needs_the_standard_library_only() -> None:
    script = (
        "import sys; before = set(sys.modules); import orgmem.capture.drain\n"
        "print(*sorted(each.partition('.')[0] for each in set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= sys.stdlib_module_names | {"orgmem"}
