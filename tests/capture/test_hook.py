"""orgmem-hook, run as an assistant runs it: whatever comes, it exits with 0, is silent, and loses nothing."""

import ast
import json
import os
import pty
import re
import resource
import shutil
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder

from orgmem.capture import hook
from orgmem.capture.state.database import connect
from orgmem.settings import Settings
from tests.capture.running_hooks import CHECKOUT, HOOK, Hooks, without_rights

PAYLOADS = tuple(sorted((CHECKOUT / "tests" / "capture" / "payloads").glob("*.json")))
EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop", "PreCompact",
    "SessionEnd", "FileChanged", "afterFileEdit", "post_write_code",
)  # fmt: skip
EDIT = {"session_id": "s1", "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": {}}
ODD_STDIN = {
    "empty": b"",
    "binary": bytes(range(256)) * 40,
    "NULs": b"\0" * 100,
    "cut": json.dumps(EDIT).encode()[:-9],
    "a list": b"[1, 2]",
    "a surrogate": b'{"cwd": "\\ud800"}',
    "UTF-16": json.dumps(EDIT).encode("utf-16"),
    **{f"no {name}": json.dumps({**EDIT, name: None}).encode() for name in EDIT},
}


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


@pytest.fixture
def quiet(hooks: Hooks) -> Iterator[Hooks]:
    """Hooks that start no reconcile."""
    with hooks.busy():
        yield hooks


# What it keeps


@pytest.mark.parametrize("file", PAYLOADS, ids=lambda file: file.stem)
def test_every_real_payload_is_kept_as_it_came(file: Path, quiet: Hooks) -> None:
    event = file.name.partition(".")[0]
    quiet.silent(event, payload=file.read_bytes())
    (wake,) = quiet.wakes()
    assert (wake.event, wake.payload, wake.whole) == (event, file.read_bytes(), True)
    assert not quiet.errors()


@pytest.mark.parametrize("payload", ODD_STDIN.values(), ids=ODD_STDIN)
def test_whatever_stands_on_stdin_is_kept(payload: bytes, quiet: Hooks) -> None:
    quiet.silent("PostToolUse", payload=payload)
    assert [wake.payload for wake in quiet.wakes()] == [payload]


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_is_spooled_though_none_came_before_it(event: str, quiet: Hooks) -> None:
    quiet.silent(event)
    assert [wake.event for wake in quiet.wakes()] == [event]


def test_a_wake_says_where_and_when_it_was(quiet: Hooks) -> None:
    quiet.environment |= {"CLAUDE_PROJECT_DIR": "/some/where", "CLAUDE_CODE_ENTRYPOINT": "cli"}
    quiet.silent("Stop")
    (wake,) = quiet.wakes()
    said = (wake.cwd, wake.project_dir, wake.entrypoint)
    assert said == (str(quiet.cwd), "/some/where", "cli")
    assert abs(wake.at - (quiet.spool / wake.file).stat().st_mtime) < 5


def test_a_folder_that_is_gone_or_has_an_impossible_name_is_no_hindrance(quiet: Hooks) -> None:
    odd = quiet.cwd / os.fsdecode(b"new\nline \xff")
    odd.mkdir()
    quiet.silent("Stop", cwd=odd)
    script = 'cd "$1"; rmdir "$1"; shift; exec "$@"'
    command = ("sh", "-c", script, "sh", str(odd), *quiet.command("Stop"))
    done = subprocess.run(command, env=quiet.environment, input=b"", capture_output=True, check=True)
    assert done.stdout == done.stderr == b""
    assert [wake.cwd for wake in quiet.wakes()] == [str(odd), ""]


def test_of_fifty_megabytes_the_first_eight_are_kept_in_little_memory(quiet: Hooks) -> None:
    line = b"0123456789abcdef" * 2**16
    little = 'ulimit -v 150000 2>&-; exec "$@"'  # KiB; not every system has that limit
    command = ("sh", "-c", little, "sh", *quiet.command("PostToolUse"))
    done = subprocess.run(command, env=quiet.environment, input=line * 50, capture_output=True, check=True)
    assert done.stdout == done.stderr == b""
    (wake,) = quiet.wakes()
    assert (wake.payload, wake.whole) == (line * 8, False)


def test_whoever_writes_too_much_is_not_disturbed(quiet: Hooks) -> None:
    process = subprocess.Popen(quiet.command("PostToolUse"), env=quiet.environment, stdin=subprocess.PIPE)
    assert process.stdin
    for _ in range(20):
        process.stdin.write(bytes(2**20))  # a broken pipe would be an error
    process.stdin.close()
    assert process.wait(60) == 0


def test_a_stdin_that_does_not_end_is_taken_as_far_as_it_came(quiet: Hooks) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"so far")
    try:
        quiet.silent("PostToolUse", stdin=reader)
    finally:
        os.close(reader)
        os.close(writer)
    (wake,) = quiet.wakes()
    assert (wake.payload, wake.whole) == (b"so far", False)


def test_nobody_waits_for_a_terminal(quiet: Hooks) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"typed\n")
    try:
        quiet.silent("PostToolUse", stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert [wake.payload for wake in quiet.wakes()] == [b""]


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "</dev/null"])
def test_streams_that_are_closed_or_no_streams_are_no_hindrance(streams: str, quiet: Hooks) -> None:
    quiet.silent("SessionStart")
    (quiet.capture / "session-start.json").write_text('{"systemMessage": "look"}')
    for event in ("SessionStart", "PostToolUse"):
        command = ("sh", "-c", f'"$@" {streams}', "sh", *quiet.command(event))
        done = subprocess.run(command, env=quiet.environment, input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
    assert len(quiet.wakes()) == 3


def test_an_assistant_that_reads_no_answer_is_no_hindrance(quiet: Hooks) -> None:
    (quiet.capture / "session-start.json").write_text('{"systemMessage": "look"}')
    reader, writer = os.pipe()
    os.close(reader)
    done = quiet.run("SessionStart", capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(quiet.wakes()) == 1


# Where it keeps it


@pytest.mark.parametrize("words", [(), ("",), ("--help",), ("--home",), ("a\nb",), ("Stop", "more"), ("\udcff",)])
def test_a_command_line_without_sense_is_spooled_all_the_same(words: tuple[str, ...], quiet: Hooks) -> None:
    quiet.silent(*words)
    (wake,) = quiet.wakes()
    assert wake.event == ("" if words in ((), ("--home",)) else words[0])


def test_the_option_names_the_home_before_the_variable_and_that_before_the_usual_place(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    homes = tmp_path / "~x", tmp_path / "b", tmp_path / "home", tmp_path / "relative", tmp_path / ".orgmem"
    hooks.silent("Stop", "--home", str(homes[0]))
    hooks.silent(f"--home={homes[1]}", "Stop")
    hooks.silent("Stop")
    hooks.silent("Stop", "--home", "../relative")
    del hooks.environment["ORGMEM_HOME"]
    hooks.silent("Stop", "--home", "")
    for hooks.home in homes:
        assert len(hooks.wakes()) == 1
        assert hooks.told()["capture"] == "0"


@pytest.mark.parametrize("home", ["s3://bucket/home", "file:/home", "~nobody-of-this-name/home"])
def test_what_is_no_local_folder_makes_none_in_the_project(home: str, hooks: Hooks) -> None:
    hooks.silent("Stop", "--home", home)
    assert not list(hooks.cwd.iterdir())


@pytest.mark.parametrize("off", ["0", "false", "off", "no", "OFF", "False"])
def test_nothing_is_done_where_capture_is_off(off: str, hooks: Hooks) -> None:
    hooks.environment["ORGMEM_CAPTURE"] = off
    hooks.silent("Stop")
    assert not hooks.home.exists()
    assert Settings.model_validate({"capture": off}).capture is False


def test_what_it_makes_is_its_owners_alone(hooks: Hooks) -> None:
    hooks.silent("Stop", umask=0)
    hooks.told()
    paths = (hooks.home, *hooks.home.rglob("*"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in paths}
    (name,) = (wake.file for wake in hooks.wakes())
    assert modes == {"home": 0o700, "capture": 0o700, "spool": 0o700, name: 0o600, "reconcile.lock": 0o600}


# What goes wrong


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB, without a byte to spare."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk))
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a disk")
    try:
        yield disk
    finally:
        subprocess.run(("umount", str(disk)), check=True)


def test_on_a_full_disk_nothing_half_is_left(full_disk: Path, hooks: Hooks) -> None:
    hooks.home = full_disk / "home"
    hooks.environment["ORGMEM_HOME"] = str(hooks.home)
    with hooks.busy():
        hooks.silent("PostToolUse", payload=b"x" * 10_000)
        hooks.silent("PostToolUse", payload=b"x" * 100_000)
        assert [len(wake.payload) for wake in hooks.wakes()] == [10_000]
        assert len(list(hooks.spool.iterdir())) == 1
        assert hooks.errors()[0].endswith("'PostToolUse': No space left on device")
        with pytest.raises(OSError, match="No space"):
            (full_disk / "rest").write_bytes(b"x" * 100_000)
        hooks.silent("PostToolUse")
        hooks.silent("Stop")


def test_a_write_that_stops_half_way_leaves_nothing(quiet: Hooks) -> None:
    quiet.silent(
        "Stop", payload=b"x" * 9_999, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5_000,) * 2)
    )
    assert not list(quiet.spool.iterdir())
    assert quiet.errors()[0].endswith("'Stop': File too large")


@pytest.mark.parametrize(
    ("read_only", "wakes", "faults"), [("", 0, 0), ("capture", 1, 0), ("capture/spool", 0, 1)]
)
def test_a_home_without_rights_is_no_trouble_of_the_assistants(
    read_only: str, wakes: int, faults: int, quiet: Hooks
) -> None:
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("root may do everything")
    quiet.spool.mkdir()
    if not read_only:
        shutil.rmtree(quiet.capture)
    folder = quiet.home / read_only
    folder.chmod(0o500)
    try:
        command = without_rights(quiet.command("PostToolUse"))
        done = subprocess.run(command, env=quiet.environment, input=b"{}", capture_output=True, check=False)
    finally:
        folder.chmod(0o700)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (len(quiet.wakes()), len(quiet.errors())) == (wakes, faults)


@pytest.mark.parametrize("file", ["home", "home/capture"])
def test_a_file_in_the_place_of_a_folder_is_no_trouble_of_the_assistants(file: str, hooks: Hooks) -> None:
    place = hooks.home.parent / file
    place.parent.mkdir(exist_ok=True)
    place.write_text("mine")
    hooks.silent("SessionStart")
    hooks.silent("Stop")
    assert place.read_text() == "mine"


def test_a_fault_is_a_line_for_status_and_the_lines_do_not_pile_up(quiet: Hooks) -> None:
    quiet.spool.write_text("no folder")
    quiet.silent("Stop\nx")
    (line,) = quiet.errors()
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ 'Stop\\nx': Not a directory", line)
    (quiet.capture / "hook-errors.log").write_text(f"{line}\n" * 1000)
    quiet.silent("Stop")
    assert len(quiet.errors()) == 1


def test_an_installation_that_is_broken_is_no_trouble_of_the_assistants(hooks: Hooks) -> None:
    for source in ("raise SystemError", "def main(: pass", "import sys; sys.exit(7)", "main = 3"):
        hooks.stand_in("hook", source)
        done = hooks.run("Stop")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# What it starts


def test_the_reconcile_is_on_its_own_and_captures_nothing_itself(hooks: Hooks) -> None:
    reader, writer = os.pipe()
    hooks.silent("PostToolUse", payload=b"first", pass_fds=(writer,))
    os.close(writer)
    assert os.read(reader, 1) == b""  # whoever waits for the end of what the assistant holds open, gets it
    os.close(reader)
    told = dict(hooks.told())
    assert told.pop("nice") >= hook.NICENESS
    assert told == {
        "capture": "0", "cwd": "/", "safe": True, "leads": True, "fds": [0, 1, 2], "nowhere": [True] * 3,
        "again": 0,
    }  # fmt: skip
    assert [wake.payload for wake in hooks.wakes()] == [b"first"]


def test_a_system_that_spawns_no_sessions_gets_the_same_by_fork(hooks: Hooks) -> None:
    hooks.home.mkdir()
    code = (
        "import os, sys\nfrom orgmem.capture import hook\nos.close(0)\n"
        "command = sys.executable, '-P', '-m', 'orgmem.capture'\n"
        "child = hook._forked(command, {**os.environ, 'ORGMEM_CAPTURE': '0'})\n"
        "os.setpriority(os.PRIO_PROCESS, child, 10)"
    )
    subprocess.run((sys.executable, "-P", "-c", code), env=hooks.environment, check=True)
    told = hooks.told()
    assert (told["leads"], told["nowhere"]) == (True, [True] * 3)


def test_none_is_started_while_one_runs_and_a_lock_that_nobody_holds_counts_for_nothing(hooks: Hooks) -> None:
    with hooks.busy():
        hooks.silent("PostToolUse")
    (hooks.capture / hook.LOCK).write_text("12345\n")  # as if by a process that is dead
    assert not (hooks.home / "told.json").exists()
    hooks.silent("PostToolUse")
    assert hooks.told()["again"] == 0
    assert len(hooks.wakes()) == 2


# What it says


def test_a_session_begins_with_the_warning_that_was_laid_out(quiet: Hooks) -> None:
    warning = quiet.capture / "session-start.json"
    warning.write_text('{"systemMessage": "capture has been failing"}')
    assert quiet.run("SessionStart").stdout == warning.read_bytes()
    for event in EVENTS[1:]:
        quiet.silent(event)
    warning.write_bytes(b'{"systemMessage": "%s"}' % (b"x" * hook.LONGEST_WARNING))
    quiet.silent("SessionStart")
    warning.write_text("no JSON: the model would read it")
    quiet.silent("SessionStart")
    assert len(quiet.wakes()) == len(EVENTS) + 2


ASKS = """
def stop_output(db, event, now):
    assert db.execute("pragma busy_timeout").fetchone()[0] <= 1000 and now > 1.7e9
    return '{"asked": "%s in %s", "stop": "\\u00e9"}' % (event.kind, event.session)
"""


def test_stop_asks_what_there_is_to_ask_and_nothing_else_does(quiet: Hooks) -> None:
    quiet.stand_in("question", ASKS)
    payload = json.dumps({"session_id": "s1", "hook_event_name": "Stop"}).encode()
    quiet.silent("Stop", payload=payload)  # there is no database yet
    connect(quiet.capture).close()
    assert json.loads(quiet.run("Stop", payload=payload).stdout) == {"asked": "stop in s1", "stop": "é"}
    for event in set(EVENTS) - {"Stop"}:
        quiet.silent(event, payload=payload)
    assert not quiet.errors()


@pytest.mark.parametrize(
    "body", ["raise RuntimeError(event)", "return None", "return ''", "import sys; sys.exit(3)"]
)
def test_a_question_that_fails_is_not_asked_and_costs_no_wake(body: str, hooks: Hooks) -> None:
    hooks.stand_in("question", f"def stop_output(db, event, now):\n    {body}\n")
    connect(hooks.capture).close()
    hooks.silent("Stop", payload=b"{}")
    assert hooks.told()["again"] == 0
    assert len(hooks.wakes()) == 1
    assert len(hooks.errors()) == ("return" not in body)


def test_a_database_that_is_none_or_of_a_later_release_is_not_asked(quiet: Hooks) -> None:
    quiet.stand_in("question", ASKS)
    (quiet.capture / "capture.db").write_bytes(b"no database" * 1000)
    quiet.silent("Stop", payload=b"{}")
    assert len(quiet.wakes()) == len(quiet.errors()) == 1


def test_nothing_is_asked_upon_a_payload_that_may_go_on(quiet: Hooks) -> None:
    quiet.stand_in("question", ASKS)
    connect(quiet.capture).close()
    quiet.silent("Stop", payload=b'{"last_assistant_message": "' + b"x" * hook.MOST_KEPT)
    assert [wake.whole for wake in quiet.wakes()] == [False]


# What it imports

IMPORTS = """
import sys
before = set(sys.modules)
from orgmem.capture.hook import main
main()
print(*sorted(set(sys.modules) - before))
"""


def test_spooling_imports_next_to_nothing_and_only_the_standard_library(hooks: Hooks) -> None:
    bare = (sys.executable, "-P", "-c", IMPORTS, "PostToolUse")
    done = subprocess.run(bare, env=hooks.environment, input=b"{}", capture_output=True, check=True)
    modules = set(done.stdout.decode().split())
    hooks.told()
    assert modules == {"fcntl", "select", "orgmem", "orgmem.capture", "orgmem.capture.hook"}
    assert {name for name in modules if name.partition(".")[0] != "orgmem"} <= sys.stdlib_module_names
    assert len(hooks.wakes()) == 1


def test_what_lies_in_the_users_folder_or_beside_the_script_is_not_imported(quiet: Hooks) -> None:
    bin_folder = quiet.cwd / "bin"
    bin_folder.mkdir()
    script = Path(shutil.copy(HOOK, bin_folder))
    for folder in (quiet.cwd, bin_folder):
        for name in ("orgmem", "select", "fcntl", "typing", "schemas", "tasks", "payloads"):
            (folder / f"{name}.py").write_text("import os; os.write(2, b'imported')")
    command = (sys.executable, str(script), "PostToolUse")
    done = subprocess.run(
        command, cwd=quiet.cwd, env=quiet.environment, input=b"", capture_output=True, check=True
    )
    assert done.stdout == done.stderr == b""
    assert len(quiet.wakes()) == 1


# What others know of it


def test_folder_and_database_are_those_of_the_settings_and_of_state(tmp_path: Path) -> None:
    assert Settings(home=tmp_path).capture_folder == tmp_path / hook.CAPTURE
    connect(tmp_path).close()
    assert (tmp_path / hook.DATABASE).exists()


@pytest.mark.parametrize("kind", ["standard", "editable"])
def test_an_installation_of_either_kind_has_the_script(kind: str, tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(CHECKOUT)).build(directory=str(tmp_path), versions=[kind])
    with ZipFile(wheel) as file:
        (name,) = (each for each in file.namelist() if each.endswith(".data/scripts/orgmem-hook"))
        text = file.read(name)
    assert text.splitlines()[0] == b"#!python"  # exactly this is what installers replace
    assert text == HOOK.read_bytes()
    ast.parse(text)
    assert "orgmem-hook" not in tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["scripts"]
