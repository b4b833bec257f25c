"""`orgmem backfill`, as a shell sees it."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import typer
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from orgmem.cli import backfill
from orgmem.errors import NotFoundError, UsageError
from orgmem.settings import Settings
from orgmem.store.staging import Staging, parse_learning
from schemas.learning import ApprovedVia, Learning
from tests.capture.commits import Work
from tests.revisions import TOKEN

OF_ASSISTANTS = (
    "CLAUDE",
    "CODEX",
    "GEMINI",
    "CURSOR",
    "COPILOT",
    "OPENCODE",
    "WINDSURF",
    "CLINE",
    "AGENT",
    "AI_AGENT",
)
PROGRAM = "import typer; from orgmem.cli import backfill, main; app = typer.Typer(); backfill.register(app);"
PROGRAM += "main.build = lambda: app; main.run()"


@pytest.fixture(autouse=True)
def _surroundings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """This test's home, and no assistant around, even if one runs the tests."""
    monkeypatch.setenv("ORGMEM_HOME", str(settings.home))
    for name in [name for name in os.environ if name.startswith(OF_ASSISTANTS)]:
        monkeypatch.delenv(name)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    made = Work(tmp_path / "work", "https://example.org/acme/payments.git")
    made.commit({"CLAUDE.md": "# Tests\n"})
    made.commit({"CLAUDE.md": f"# Tests\n- 毎回 {'規則' * 60}\n\x1b[31mred\n- key {TOKEN}\n"})
    made.commit({"AGENTS.md": b"\xff\xfe\xfa"})
    return made


def orgmem(*words: str | Path) -> Result:
    app = typer.Typer()
    backfill.register(app)
    return CliRunner().invoke(app, [str(word) for word in words])


def on_a_terminal(answers: str, *words: str | Path) -> tuple[int, str]:
    """Exit code and all output of the verb; on its controlling terminal a person types one answer a question."""
    mine, its = pty.openpty()
    own_it = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", own_it + PROGRAM, *words],
        stdin=its, stdout=its, stderr=its, start_new_session=True,
        env={**os.environ, "COLUMNS": "80", "PAGER": "cat", "TERM": "dumb"},
    )  # fmt: skip
    os.close(its)
    shown, replies = b"", iter(answers.encode().split(b"|"))
    for chunk in _chunks(mine):
        shown += chunk
        if shown.endswith(b"[s]how all: "):
            os.write(mine, next(replies) + b"\n")
    os.close(mine)
    return child.wait(), shown.decode()


def _chunks(terminal: int) -> Iterator[bytes]:
    """What is written on a terminal until nobody has it open."""
    with suppress(OSError):
        while chunk := os.read(terminal, 65_536):
            yield chunk


def staged(settings: Settings) -> list[Learning]:
    rows = [parse_learning((settings.staging / name).read_bytes()) for name in Staging(settings).names()]
    return [row for row in rows if isinstance(row, Learning)]


def test_it_shows_what_would_leave_in_eighty_columns(work: Work) -> None:
    shown = orgmem(work.folder, "--dry-run").stdout
    assert "project   example.org/acme/payments\n" in shown
    assert "edits     2 in 3 commits, up to " in shown
    assert "dates     2026-01-02 to 2026-01-03\n" in shown
    assert "masked    1 github-pat\n" in shown
    assert "       2  CLAUDE.md\n" in shown
    assert "left out  1: neither UTF-8 nor UTF-16\n" in shown
    assert "- key [masked:github-pat]" in shown
    paths = ("goes to", "   ")
    assert max(cell_len(line) for line in shown.splitlines() if not line.startswith(paths)) <= 80
    assert TOKEN not in shown
    assert "\x1b" not in shown


def test_a_dry_run_leaves_no_trace(work: Work, settings: Settings) -> None:
    assert orgmem(work.folder, "--dry-run", "--yes").exit_code == 0
    assert not settings.home.exists()


def test_with_yes_a_script_hands_over(work: Work, settings: Settings) -> None:
    done = orgmem(work.folder, "--yes")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "handed over 2 edits")
    assert done.stderr.endswith("next: orgmem curate\n")
    assert {row.approved_via for row in staged(settings)} == {ApprovedVia.SCRIPT}


def test_a_second_time_there_is_nothing_new_and_nobody_is_asked(work: Work) -> None:
    orgmem(work.folder, "--yes")
    again = orgmem(work.folder)
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (0, "nothing new to hand over")
    assert "known     2 of them are there already\n" in again.stdout


def test_without_anybody_to_ask_it_shows_and_stops(work: Work, settings: Settings) -> None:
    done = orgmem(work.folder, "--no-input")
    assert "edits     2" in done.stdout
    assert isinstance(done.exception, UsageError)
    assert "--yes" in done.exception.hint
    assert not settings.home.exists()


def test_without_a_controlling_terminal_piped_words_are_no_approval(work: Work, settings: Settings) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, work.folder],
        input="y\ny\n", text=True, capture_output=True, start_new_session=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "nobody could be asked" in done.stderr
    assert not settings.home.exists()


@pytest.mark.parametrize(("answers", "via"), [("y", "terminal"), ("YES", "terminal"), ("n", None), ("", None)])
def test_a_person_at_a_terminal_says_yes_or_no(
    work: Work, settings: Settings, answers: str, via: str | None
) -> None:
    code, shown = on_a_terminal(answers, work.folder)
    assert code == 0
    assert "Hand over 2 edits?" in shown
    assert [row.approved_via for row in staged(settings)] == ([via] * 2 if via else [])
    assert ("nothing was handed over" in shown) == (via is None)


def test_a_person_can_read_all_of_it_first(work: Work, settings: Settings) -> None:
    for number in range(20):
        work.commit({"docs/CLAUDE.md": f"rule {number}\n"})
    code, shown = on_a_terminal("s|y", work.folder)
    assert code == 0
    assert all(f"+ rule {number}\r\n" in shown for number in range(20))
    assert len(staged(settings)) == 22


@pytest.mark.parametrize("words", [[], ["--yes"], ["--yes", "--json"]])
def test_inside_an_assistant_nobody_approves(
    work: Work, settings: Settings, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    done = orgmem(work.folder, *words)
    assert isinstance(done.exception, UsageError)
    assert "terminal of your own" in done.exception.hint
    assert not settings.home.exists()
    assert orgmem(work.folder, "--dry-run").exit_code == 0
    assert orgmem(work.folder, "--json").exit_code == 0


def test_json_holds_all_of_it_and_asks_nobody(work: Work, settings: Settings) -> None:
    done = orgmem(work.folder, "--json")
    told = json.loads(done.stdout)
    assert (told["learnings"], told["new"], told["approved_via"], told["staged"]) == (2, 2, None, 0)
    assert [Learning.model_validate(each).path for each in told["edits"]] == ["CLAUDE.md"] * 2
    assert told["left_out"] == [{"name": "neither UTF-8 nor UTF-16", "count": 1}]
    assert not settings.home.exists()
    told = json.loads(orgmem(work.folder, "--json", "--yes").stdout)
    assert (told["approved_via"], told["staged"]) == ("script", 2)


def test_the_history_of_here_is_the_default(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work.folder)
    assert "edits     2 in 3 commits" in orgmem("--dry-run").stdout


def test_since_and_limit_narrow_it(work: Work) -> None:
    assert json.loads(orgmem(work.folder, "--json", "--since", "2026-01-03").stdout)["learnings"] == 1
    assert json.loads(orgmem(work.folder, "--json", "--limit", "1").stdout)["learnings"] == 1
    error = orgmem(work.folder, "--since", "yesterday").exception
    assert isinstance(error, UsageError)
    assert "2026-01-31" in error.hint


def test_a_history_without_memory_files_says_so(tmp_path: Path) -> None:
    work = Work(tmp_path / "work")
    work.commit({"main.py": "x"})
    done = orgmem(work.folder)
    assert (done.exit_code, done.stdout.count("\n")) == (0, 1)
    assert "no edit of a memory file in 1 commit" in done.stdout


def test_a_shallow_clone_is_told(work: Work, tmp_path: Path) -> None:
    work.git("clone", "-q", "--depth", "2", f"file://{work.folder}", str(tmp_path / "shallow"))
    assert "git fetch --unshallow" in orgmem(tmp_path / "shallow", "--dry-run").stdout


def test_no_repository_is_not_found(tmp_path: Path) -> None:
    assert isinstance(orgmem(tmp_path).exception, NotFoundError)
