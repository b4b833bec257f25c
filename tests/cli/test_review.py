"""`orgmem review`, on a real terminal and in scripts."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import typer
from rich.cells import cell_len
from rich.text import Text
from typer.testing import CliRunner, Result

from orgmem.capture.state import candidates, database, deliveries
from orgmem.cli import review
from orgmem.cli.client import client_database
from orgmem.errors import BusyError, NotFoundError, StoreError, UsageError
from orgmem.settings import Settings
from orgmem.store.staging import Staging, parse_learning
from schemas.learning import Learning
from tests.capture.asking import PROJECT, Asking, no_assistant
from tests.revisions import TOKEN

PROGRAM = "import typer; from orgmem.cli import review; app = typer.Typer(); review.register(app); app()"
OWN_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"


@pytest.fixture(autouse=True)
def _a_persons_own_terminal(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    no_assistant(monkeypatch)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("ORGMEM_HOME", str(settings.home))


@pytest.fixture
def work(settings: Settings) -> Iterator[Asking]:
    """Two edits that wait."""
    made = Asking(settings.capture_folder)
    made.edit("# Shop\n\n## Build\n- use npm\n", f"# Shop\n\n## Build\n- use pnpm\n- key {TOKEN}\n")
    made.edit("", "- a rule\n", "docs/AGENTS.md")
    yield made
    made.close()


def orgmem(*words: str) -> Result:
    app = typer.Typer()
    review.register(app)
    return CliRunner().invoke(app, words)


def on_a_terminal(answers: str, *words: str, size: int = 80, **environment: str) -> tuple[int, str]:
    """Exit code and all that is shown; a person types one answer a question, ^C and ^D among them, then Enter."""
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, size, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", OWN_TERMINAL + PROGRAM, *words],
        stdin=its, stdout=its, stderr=its, start_new_session=True,
        env={**os.environ, "PAGER": "cat", "TERM": "xterm-256color", **environment},
    )  # fmt: skip
    os.close(its)
    shown, replies = b"", iter(answers.encode().split(b"|"))
    for chunk in _chunks(mine):
        shown += chunk
        if shown.endswith((b"[?] ", b"to end ")):
            reply = next(replies, b"")
            os.write(mine, reply if reply in {b"\x03", b"\x04"} else reply + b"\n")
    os.close(mine)
    return child.wait(), shown.decode().replace("\r\n", "\n")


def _chunks(terminal: int) -> Iterator[bytes]:
    """What is written on a terminal until nobody has it open."""
    with suppress(OSError):
        while chunk := os.read(terminal, 65_536):
            yield chunk


def staged(settings: Settings) -> list[Learning]:
    rows = [parse_learning((settings.staging / name).read_bytes()) for name in Staging(settings).names()]
    return [row for row in rows if isinstance(row, Learning)]


def test_a_person_approves_and_denies_and_it_is_delivered(work: Asking, settings: Settings) -> None:
    code, shown = on_a_terminal("y|NO")
    assert code == 0
    assert work.statuses() == ["approved", "denied"]
    assert "approved 1, denied 1, 0 left\n" in shown
    assert "delivered 1\n" in shown
    assert "next: orgmem curate\n" in shown
    (learning,) = staged(settings)
    assert (learning.path, learning.approved_via) == ("CLAUDE.md", "terminal")


def test_what_leaves_is_shown_in_colour_and_in_eighty_columns(work: Asking) -> None:
    _, shown = on_a_terminal("q")
    assert "\x1b[32m- key [masked:github-pat]" in shown
    plain = Text.from_ansi(shown).plain
    assert max(map(cell_len, plain.splitlines())) <= 80
    assert "CLAUDE.md in github.com/acme/shop\nfound 2023-11-1" in plain
    assert "masked: 1 github-pat; 2 left\n" in plain
    assert TOKEN not in shown
    assert work.statuses() == ["pending", "pending"]


def test_no_color_is_honoured(work: Asking) -> None:
    _, shown = on_a_terminal("q", NO_COLOR="1")
    assert "\x1b[32m" not in shown
    assert "+ - key [masked:github-pat]" in Text.from_ansi(shown).plain


@pytest.mark.parametrize("answers", ["quit", "\x03", "s|\x04"])
def test_who_leaves_decides_nothing(work: Asking, answers: str) -> None:
    code, shown = on_a_terminal(answers)
    assert (code, work.statuses()) == (0, ["pending", "pending"])
    assert "approved 0, denied 0, 2 left\n" in shown


@pytest.mark.parametrize("answers", ["|q", "?|q", "y y|q"])
def test_what_is_no_answer_is_explained(work: Asking, answers: str) -> None:
    _, shown = on_a_terminal(answers)
    assert "s  skip: decide another time" in shown
    assert work.statuses() == ["pending", "pending"]


def test_undo_goes_back_a_step(work: Asking, settings: Settings) -> None:
    on_a_terminal("y|u|n|s")
    assert work.statuses() == ["denied", "pending"]
    assert staged(settings) == []


@pytest.mark.parametrize("last", ["y", "a", "A", "V"])
def test_the_last_step_can_be_undone_before_anything_is_handed_over(
    work: Asking, settings: Settings, last: str
) -> None:
    _, shown = on_a_terminal(f"s|{last}|u|q")
    assert "\nundone\n" in shown
    assert work.statuses() == ["pending", "pending"]
    assert staged(settings) == []
    assert orgmem("--rules").stdout == "nothing is decided unasked\n"


def test_another_wording_leaves_in_place_of_the_first(work: Asking, settings: Settings) -> None:
    _, shown = on_a_terminal("e|y|q", EDITOR="sed -i s/pnpm/yarn/")
    assert "reworded\n" in shown
    (learning,) = staged(settings)
    assert "use yarn" in learning.hunks[0].after
    assert TOKEN not in learning.model_dump_json()


def test_an_editor_that_fails_comes_back_to_the_same_edit(work: Asking) -> None:
    _, shown = on_a_terminal("e|n|q", VISUAL="false")
    assert "false ended with 1" in shown
    assert work.statuses() == ["denied", "pending"]
    assert "nothing was changed" in on_a_terminal("e|q", EDITOR="true")[1]


def test_always_and_never_are_remembered_and_can_be_forgotten(work: Asking) -> None:
    on_a_terminal("a|V")
    assert work.statuses() == ["approved", "denied"]
    assert orgmem("--rules").stdout == f"never  {PROJECT}\nalways {PROJECT}:CLAUDE.md\n"
    told = json.loads(orgmem("--rules", "--json").stdout)["rules"]
    assert told[1] == {"project": PROJECT, "path": "CLAUDE.md", "verdict": "always"}
    assert orgmem("--forget", f"{PROJECT}:CLAUDE.md", "--dry-run").stdout == "would be forgotten\n"
    assert orgmem("--forget", f"{PROJECT}:CLAUDE.md").exit_code == 0
    assert isinstance(orgmem("--forget", f"{PROJECT}:CLAUDE.md").exception, NotFoundError)
    assert orgmem("--forget", PROJECT).exit_code == 0
    assert orgmem("--rules").stdout == "nothing is decided unasked\n"


def test_a_yes_to_lines_that_were_cut_shows_them_first(work: Asking) -> None:
    work.edit("", "".join(f"- rule {number}\n" for number in range(100)), "long.md")
    _, shown = on_a_terminal("s|s|y|y")
    assert "not shown: 40 of 100 lines; p prints all" in shown
    assert shown.count("- rule 99") == 1
    assert work.statuses()[-1] == "approved"


def test_what_is_typed_ahead_answers_nothing(work: Asking) -> None:
    mine, its = pty.openpty()
    os.write(mine, b"y\ny\ny\ny\n")
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", OWN_TERMINAL + PROGRAM],
        stdin=its, stdout=its, stderr=its, start_new_session=True,
    )  # fmt: skip
    os.close(its)
    shown = b""
    for chunk in _chunks(mine):
        shown += chunk
        if shown.endswith(b"[?] "):
            os.write(mine, b"q\n")
    os.close(mine)
    assert child.wait() == 0
    assert work.statuses() == ["pending", "pending"]


def test_a_pipe_is_nobody_even_beside_a_terminal(work: Asking) -> None:
    """`yes | orgmem review`: there is a terminal, but the answers come from elsewhere."""
    _, its = pty.openpty()
    own = "import os, fcntl, termios; fcntl.ioctl(2, termios.TIOCSCTTY, 0);"
    done = subprocess.run(
        [sys.executable, "-P", "-c", own + PROGRAM],
        input=b"y\n" * 9, stdout=its, stderr=its, start_new_session=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    assert work.statuses() == ["pending", "pending"]


@pytest.mark.parametrize("words", [[], ["--no-input"]])
def test_without_a_terminal_it_says_what_to_do(work: Asking, words: list[str]) -> None:
    done = orgmem(*words)
    assert isinstance(done.exception, UsageError)
    assert done.exception.exit_code == 2
    assert "--json" in done.exception.hint
    assert work.statuses() == ["pending", "pending"]


def test_a_review_that_is_killed_keeps_what_was_decided(work: Asking) -> None:
    mine, its = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", OWN_TERMINAL + PROGRAM],
        stdin=its, stdout=its, stderr=its, start_new_session=True,
    )  # fmt: skip
    os.close(its)
    shown, asked = b"", 0
    for chunk in _chunks(mine):
        shown += chunk
        if shown.endswith(b"[?] "):
            asked += 1
            if asked == 1:
                os.write(mine, b"y\n")
            else:
                child.send_signal(signal.SIGKILL)
    os.close(mine)
    child.wait()
    assert work.statuses() == ["approved", "pending"]
    assert [each.state for each in deliveries.every(work.db)] == ["queued"]


def test_scripts_decide_by_the_ids_that_were_listed(work: Asking, settings: Settings) -> None:
    first, second = json.loads(orgmem("--json").stdout)["candidates"]
    assert (first["path"], first["project"], first["session"], first["status"]) == (
        "CLAUDE.md", PROJECT, "s1", "pending",
    )  # fmt: skip
    assert (first["masked"], first["rules"]) == (1, ["github-pat"])
    assert "+- key [masked:github-pat]\n" in first["diff"]
    told = json.loads(orgmem("--approve", first["id"], "--deny", second["id"], "--yes", "--json").stdout)
    assert {**told, "dry_run": False} == told
    assert (told["approved"], told["denied"], told["left"], told["delivered"]) == (1, 1, 0, 1)
    assert [each.approved_via for each in staged(settings)] == ["script"]
    listed = json.loads(orgmem("--json", "--all").stdout)["candidates"]
    assert [(each["status"], each["via"]) for each in listed] == [("approved", "script"), ("denied", "script")]
    assert json.loads(orgmem("--json").stdout) == {"candidates": []}


def test_an_id_covers_only_what_was_listed(work: Asking) -> None:
    (first, _) = json.loads(orgmem("--json").stdout)["candidates"]
    found = candidates.pending(work.db)[0]
    longer = found.change._replace(learning_id=f"lrn_{'0' * 24}", after="# Shop\nmore\n")
    candidates.extend(work.db, found.id, longer, empty=False)
    assert isinstance(orgmem("--approve", first["id"], "--yes").exception, NotFoundError)
    assert work.queued() == []


def test_yes_alone_approves_all_that_waits(work: Asking, settings: Settings) -> None:
    done = orgmem("--yes")
    assert (done.exit_code, done.stdout) == (0, "approved 2, denied 0, 0 left\ndelivered 2\n")
    assert {each.approved_via for each in staged(settings)} == {"script"}
    assert orgmem("--yes").stdout == "approved 0, denied 0, 0 left\n"


def test_a_dry_run_changes_nothing(work: Asking, settings: Settings) -> None:
    assert orgmem("--yes", "--dry-run").stdout == "approved 2, denied 0, 0 left\n"
    assert json.loads(orgmem("--yes", "--dry-run", "--json").stdout)["dry_run"] is True
    shown = orgmem("--dry-run").stdout
    assert "  + - a rule" in shown
    assert "\x1b" not in shown
    assert work.statuses() == ["pending", "pending"]
    assert work.stop() is not None  # and counts as shown to nobody
    assert staged(settings) == []


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--approve", "lrn_x"], UsageError),
        (["--approve", "lrn_x", "--yes"], NotFoundError),
        (["--deny", "lrn_x"], NotFoundError),
        (["--deny", "FIRST", "--approve", "FIRST", "--yes"], UsageError),
        (["--deny", "FIRST", "--deny", "lrn_x"], NotFoundError),
    ],
)
def test_a_wrong_id_decides_nothing(work: Asking, words: list[str], error: type[Exception]) -> None:
    first = candidates.pending(work.db)[0].change.learning_id
    assert isinstance(orgmem(*(first if word == "FIRST" else word for word in words)).exception, error)
    assert work.statuses() == ["pending", "pending"]


@pytest.mark.parametrize("words", [["--yes"], ["--deny", "x"], ["--forget", "x"], ["--approve", "x", "--yes"], []])
def test_an_assistant_may_look_and_decide_nothing(
    work: Asking, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    done = orgmem(*words)
    assert isinstance(done.exception, UsageError)
    assert done.exception.hint == "run orgmem review in a terminal of your own"
    assert work.statuses() == ["pending", "pending"]
    for looks in (["--json"], ["--all"], ["--rules"], ["--dry-run"]):
        assert orgmem(*looks).exit_code == 0


@pytest.mark.parametrize(
    "words", [[], ["--json"], ["--all"], ["--rules"], ["--yes"], ["--dry-run"], ["--no-input"]]
)
def test_where_nothing_waits_it_says_so_and_makes_nothing(settings: Settings, words: list[str]) -> None:
    done = orgmem(*words)
    assert done.exit_code == 0, done.exception
    assert not settings.home.exists()
    if not words:
        assert done.stdout == "no edit waits for your decision\n"
        assert done.stderr == "next: orgmem capture sync\n"


def test_what_cannot_be_delivered_stays_approved_and_is_told(
    work: Asking, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORGMEM_ENDPOINT", str(tmp_path / "missing"))
    done = orgmem("--yes")
    assert (done.exit_code, done.stdout) == (1, "approved 2, denied 0, 0 left\ndelivered 0\n")
    assert "next: orgmem status" in done.stderr
    assert work.statuses() == ["approved", "approved"]
    assert [each.state for each in deliveries.every(work.db)] == ["queued", "queued"]


def test_a_database_of_a_later_release_is_one_line(work: Asking, settings: Settings) -> None:
    work.db.execute("pragma user_version=99")
    done = orgmem("--json")
    assert isinstance(done.exception, StoreError)
    assert "capture doctor" in done.exception.hint


def decide_at_once(settings: Settings) -> None:
    """As the verb does, but without ten seconds of patience."""
    with client_database(settings, "orgmem review") as db:
        db.execute("pragma busy_timeout=10")
        candidates.decide(db, 1, yes=True, via="script", now=0.0)


def test_a_database_that_another_process_keeps_is_one_line(work: Asking, settings: Settings) -> None:
    with database.transaction(work.db), pytest.raises(BusyError) as caught:
        decide_at_once(settings)
    assert caught.value.hint == "orgmem review"
    assert work.statuses() == ["pending", "pending"]
