"""The detached process: one at a time, no wake stranded, killed anywhere and run again to the same end."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from orgmem.capture import afterwards, drain, question, spool
from orgmem.capture.hook import CAPTURE, LOCK, SPOOL, SUFFIX, WARNING, packed
from orgmem.capture.payloads import Event
from orgmem.capture.reconcile import run
from orgmem.capture.state import candidates, deliveries, sessions
from orgmem.capture.state.replicas import checkouts
from orgmem.errors import BusyError, StoreError
from orgmem.identity import now
from tests.capture.running_hooks import HOOK
from tests.capture.workplace import Workplace, git, written


@pytest.fixture
def work(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def spooled(work: Workplace) -> Path:
    """Put what waits into the spool, as hooks do; the folder."""
    folder = work.settings.home / CAPTURE / SPOOL
    folder.mkdir(parents=True, exist_ok=True)
    for each in work.waiting:
        at = int(each.at * 1e9)
        said = (each.event, each.cwd, each.project_dir, each.entrypoint)
        (folder / f"{at:020}-{each.file}{SUFFIX}").write_bytes(packed(said, at, each.payload, whole=each.whole))
    work.waiting = []
    return folder


def waiting(work: Workplace) -> int:
    return len(spool.wakes(spool.folder(str(work.settings.home))))


def detached(work: Workplace, script: str = "", **variables: str) -> "subprocess.CompletedProcess[bytes]":
    """The process that a hook starts, or a script in its place, to its end."""
    words = ["-c", script] if script else ["-m", "orgmem.capture"]
    ours = {"ORGMEM_HOME": str(work.settings.home), "ORGMEM_CAPTURE": "0", "HOME": str(work.folder), **variables}
    done = subprocess.run(
        [sys.executable, "-P", *words], env={**os.environ, **ours}, capture_output=True, check=False, timeout=60
    )
    assert done.stdout == b""
    return done


def test_the_detached_process_says_nothing_and_leaves_no_wake(work: Workplace) -> None:
    shop = work.repository()
    work.wake("SessionStart", shop, source="startup")
    work.wake("UserPromptSubmit", shop, prompt="go on")
    work.edit(shop / "CLAUDE.md", "# Shop\na\n")
    spooled(work)
    done = detached(work)
    assert (done.returncode, done.stderr, waiting(work)) == (0, b"", 0)
    assert work.edits() == [("# Shop\n", "# Shop\na\n")]
    assert sessions.is_interactive(work.db, "s1")
    assert work.notices() == []


def test_wakes_that_can_have_changed_nothing_need_no_other_library(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    for _ in range(3):
        work.shell(shop)
        work.wake("UserPromptSubmit", shop, prompt="go on")
    spooled(work)
    script = (
        "import runpy, sys; runpy.run_module('orgmem.capture', run_name='__main__')\n"
        "names = {each.partition('.')[0] for each in sys.modules}\n"
        "sys.exit(str(names & {'pydantic', 'diff_match_patch', 'betterleaks', 'pathlib', 'subprocess', 'httpx'}))"
    )
    assert detached(work, script).stderr.strip() == b"set()"
    assert waiting(work) == 0


DIES = """
import os, signal, time
from orgmem.capture import drain
from orgmem.capture.state import database
from orgmem.settings import Settings
home, count = os.environ["ORGMEM_HOME"], int(os.environ.pop("DIES_AT"))
def tick(_):
    global count
    count -= 1
    if count == 0:
        os.kill(os.getpid(), signal.SIGKILL)
settings = Settings(home=home, capture=True)
db = database.connect(os.path.join(home, "capture"))
db.set_trace_callback(tick)
means = drain.Means(db, home, lambda: settings, time.time, tick)
drain.take_turns(home, lambda: not drain.drain(means).stuck)
"""


def a_busy_moment(work: Workplace) -> list[tuple[Path, str]]:
    """Two sessions, an edit, a removal, a new file, and a worktree that goes; files with their first texts."""
    shop = work.repository(files={"CLAUDE.md": "one\n", "AGENTS.md": "two\n"})
    tree = work.worktree(shop, "feature")
    work.start(shop)
    work.edit(shop / "CLAUDE.md", "one\nmore\n")
    (shop / "AGENTS.md").unlink()
    work.shell(shop, "s2")
    work.edit(tree / "CLAUDE.md", "one\nfrom the tree\n", "s2")
    work.edit(shop / "GEMINI.md", "new\n", "s2")
    git(shop, "worktree", "remove", "--force", str(tree))
    spooled(work)
    return [(shop / "CLAUDE.md", "one\n"), (shop / "AGENTS.md", "two\n"), (shop / "GEMINI.md", "")]


def check_it_came_to_the_same(work: Workplace, files: list[tuple[Path, str]]) -> None:
    work.sync()
    assert waiting(work) == 0
    assert sorted(work.edits()) == [
        ("", "new\n"),
        ("one\n", "one\nfrom the tree\n"),
        ("one\n", "one\nmore\n"),
        ("two\n", ""),
    ]
    for path, text in files:
        work.check_chain(path, text)


@pytest.mark.parametrize("first", [8, 21, 34, 47])
def test_killed_at_any_statement_and_run_again_it_comes_to_the_same(work: Workplace, first: int) -> None:
    files = a_busy_moment(work)
    assert detached(work, DIES, DIES_AT=str(first)).returncode == -signal.SIGKILL
    detached(work, DIES, DIES_AT=str(first + 3))
    assert detached(work).returncode == 0
    check_it_came_to_the_same(work, files)


@pytest.mark.parametrize("last", range(1, 14))
def test_ended_between_any_two_steps_and_run_again_it_comes_to_the_same(work: Workplace, last: int) -> None:
    files = a_busy_moment(work)
    steps: list[str] = []

    def tick(step: str) -> None:
        steps.append(step)
        if len(steps) == last:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        drain.drain(work.means(tick))
    drain.drain(work.means())
    check_it_came_to_the_same(work, files)


def test_while_one_is_at_work_another_leaves(work: Workplace) -> None:
    shop = work.repository()
    work.wake("SessionStart", shop)
    spooled(work)
    with (work.settings.capture_folder / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert detached(work).returncode == 0
    assert waiting(work) == 1


def test_a_wake_that_comes_while_the_lock_is_held_is_seen_by_the_holder(work: Workplace) -> None:
    shop = work.repository()
    turns: list[int] = []

    def turn() -> bool:
        turns.append(drain.drain(work.means()).wakes)
        if len(turns) == 1:  # after the last look into the spool, before the lock is free
            work.wake("SessionStart", shop)
            spooled(work)
        return True

    assert drain.take_turns(str(work.settings.home), turn)
    assert turns == [0, 1]


def test_a_fault_that_keeps_the_wakes_is_not_tried_again_at_once(work: Workplace) -> None:
    shop = work.repository()
    work.wake("SessionStart", shop)
    spooled(work)
    written(work.settings.home / "orgmem.toml", "watch = 3\n")
    assert detached(work).returncode == 0
    assert waiting(work) == 1
    (notice,) = sessions.notices(work.db)
    assert (notice.kind, notice.subject) == ("failed", drain.SELF)
    assert "watch" in notice.detail
    warning = json.loads((work.settings.capture_folder / WARNING).read_bytes())
    assert list(warning) == ["systemMessage"]
    (work.settings.home / "orgmem.toml").unlink()
    detached(work)
    assert (waiting(work), work.notices()) == (0, [])
    assert not (work.settings.capture_folder / WARNING).exists()


def test_capture_switched_off_in_the_settings_file_drops_wakes_unread(work: Workplace) -> None:
    shop = work.repository()
    written(work.settings.home / "orgmem.toml", "capture = false\n")
    work.edit(shop / "CLAUDE.md", "# Shop\na\n")
    spooled(work)
    detached(work)
    assert (waiting(work), work.all()) == (0, ())


def test_a_database_that_cant_be_opened_is_said_at_the_next_sessions_start(work: Workplace) -> None:
    work.wake("SessionStart", work.folder)
    spooled(work)
    work.db.execute("pragma user_version=99")
    work.db.close()
    assert detached(work).returncode == 0
    assert waiting(work) == 1
    warning = json.loads((work.settings.capture_folder / WARNING).read_bytes())
    assert "capture.db" in warning["systemMessage"]
    with pytest.raises(StoreError, match="version 99"):
        run(work.settings, now)


def test_a_fault_of_a_hook_becomes_a_notice(work: Workplace) -> None:
    log = written(work.settings.capture_folder / afterwards.HOOK_ERRORS, "earlier\n2026 'Stop': disk full\n")
    afterwards.afterwards(work.means())
    assert [(each.subject, each.detail) for each in sessions.notices(work.db)] == [
        ("orgmem-hook", "2026 'Stop': disk full")
    ]
    assert not log.exists()


def test_what_is_due_is_delivered_and_what_cant_be_is_said(tmp_path: Path) -> None:
    work = Workplace(tmp_path, endpoint="ftp://nowhere")
    shop = work.repository()
    work.start(shop)
    work.edit(shop / "CLAUDE.md", "# Shop\na\n")
    work.reconcile()
    candidates.decide(work.db, work.all()[0].id, yes=True, via="terminal", now=work.now())
    assert afterwards.afterwards(work.means()) == 0
    assert work.notices() == [("failed", "delivery")]
    work.settings = work.settings.model_copy(update={"endpoint": ""})
    assert afterwards.afterwards(work.means()) == 1
    assert work.notices() == []
    assert deliveries.counts(work.db) == {"delivered": 1}
    assert len(list(work.settings.staging.glob("*.json"))) == 1


def test_sync_waits_for_its_turn_works_off_the_spool_and_looks_where_one_stands(work: Workplace) -> None:
    shop, tool, other = work.repository(), work.repository("tool"), work.repository("other")
    work.start(tool)
    work.edit(shop / "CLAUDE.md", "# Shop\nby a session\n")
    spooled(work)
    written(tool / "CLAUDE.md", "# Shop\nby hand\n")
    with (work.settings.capture_folder / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        threading.Timer(0.2, lambda: fcntl.flock(lock, fcntl.LOCK_UN)).start()
        off = work.settings.model_copy(update={"capture": False})  # which is a word to hooks
        done = run(off, now, full=True, origin="sync", here=str(other))
    assert (done.new, done.skipped, done.lost, done.decided, done.delivered) == (2, 0, 0, 0, 0)
    assert waiting(work) == 0
    assert {each.root for each in checkouts(work.db)} == {str(shop), str(tool), str(other)}


def test_a_reconcile_that_never_ends_is_said(work: Workplace) -> None:
    with (work.settings.capture_folder / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BusyError):
            run(work.settings, now, wait=0.1)


def test_an_answer_of_the_user_decides_and_is_delivered_in_the_same_run(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    work.wake("UserPromptSubmit", shop, prompt="go on")
    work.edit(shop / "CLAUDE.md", "# Shop\na\n")
    spooled(work)
    assert drain.drain(work.means()).decided == 0
    stop = Event(kind="stop", assistant="claude-code", session="s1", cwd=str(shop))
    assert question.stop_output(work.db, stop, work.now())
    (asked,) = sessions.open_questions(work.db, "s1")
    given = {"questions": [], "answers": {asked.text: question.YES}}
    for _ in range(2):
        work.wake("PostToolUse", shop, tool_name="AskUserQuestion", tool_input={}, tool_response=given)
    spooled(work)
    done = run(work.settings, now)
    assert (done.decided, done.delivered) == (1, 1)
    (found,) = work.all()
    assert (found.status, found.via) == ("approved", "question")


def test_twenty_hooks_at_once_lose_nothing(work: Workplace) -> None:
    """hindsight 3395, with real processes."""
    shop = work.repository()
    work.start(shop)
    text = "# Shop\n"
    for number in range(20):
        text += f"- lesson {number}\n"
        work.edit(shop / "CLAUDE.md", text, session=f"s{number % 2}")
    environment = {**os.environ, "ORGMEM_HOME": str(work.settings.home), "HOME": str(work.folder)}
    hooks = []
    for each in work.waiting:
        command = [sys.executable, str(HOOK), "PostToolUse"]
        hooks.append(subprocess.Popen(command, env=environment, cwd=shop, stdin=subprocess.PIPE))
        assert hooks[-1].stdin
        hooks[-1].stdin.write(each.payload)
    for hook in hooks:
        hook.communicate(timeout=60)
    run(work.settings, now, full=True)
    assert waiting(work) == 0
    work.check_chain(shop / "CLAUDE.md", "# Shop\n")
    assert work.all()[-1].change.after == text


def test_a_payload_at_which_we_stumble_keeps_no_other_back(work: Workplace) -> None:
    shop = work.repository()
    work.start(shop)
    spool_folder = spooled(work)
    for number, payload in enumerate((b"", b"\xff\0{", b"[1]", b'{"session_id": {"a": 1}}', b"{" * 100_000)):
        name = f"{number:020}-1{SUFFIX}"
        spool_folder.mkdir(exist_ok=True)
        said = ("PostToolUse", str(shop), "", "")
        (spool_folder / name).write_bytes(packed(said, number, payload, whole=True))
    work.edit(shop / "CLAUDE.md", "# Shop\na\n")
    spooled(work)
    assert not drain.drain(work.means()).stuck
    assert work.edits() == [("# Shop\n", "# Shop\na\n")]
    assert waiting(work) == 0


def test_a_fault_with_one_file_keeps_no_other_back(work: Workplace) -> None:
    """A text that our own code stumbles over is skipped and said, without a word of it."""
    shop = work.repository(files={"CLAUDE.md": "one\n", "AGENTS.md": "two\n"})
    work.start(shop)
    work.db.execute("update replicas set content=x'fffeff' where path='CLAUDE.md'")  # no text any more
    work.edit(shop / "CLAUDE.md", "one\nmore\n")
    work.edit(shop / "AGENTS.md", "two\nmore\n")
    work.reconcile()
    assert work.edits() == [("two\n", "two\nmore\n")]
    assert work.notices() == [("failed", f"{shop}/CLAUDE.md")]
