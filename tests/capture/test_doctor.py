"""The doctor: a canary through the installed hooks, and a loud word where they can't work."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orgmem.capture import install
from orgmem.capture.claude_code import Program
from orgmem.capture.doctor import Check, examine
from orgmem.capture.state import database
from orgmem.settings import Settings

BIN = Path(sys.executable).parent
PROGRAM = Program(BIN / "orgmem-hook", BIN / "orgmem", "/nowhere/that/is/the/persons/own")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def put(root: Path, settings: Settings, program: Program = PROGRAM) -> None:
    edits = install.plan_install("project", root, root.parent, program, lessons=False)
    install.apply(settings, edits, install=True)


def checks(root: Path, settings: Settings) -> dict[str, Check]:
    return {Path(check.name).name: check for check in examine(settings, root, root.parent)}


def test_the_canary_is_captured_through_the_installed_hooks_and_leaves_no_trace(
    root: Path, settings: Settings
) -> None:
    put(root, settings)
    before = sorted(settings.home.rglob("*"))
    found = checks(root, settings)
    assert found["canary"].ok, found["canary"].detail
    assert all(check.ok for check in found.values())
    assert sorted(settings.home.rglob("*")) == before


def test_a_path_that_an_upgrade_has_moved_fails_loudly(root: Path, settings: Settings, tmp_path: Path) -> None:
    old = tmp_path / "old" / "orgmem-hook"
    old.parent.mkdir()
    shutil.copy(BIN / "orgmem-hook", old)
    put(root, settings, Program(old, BIN / "orgmem", None))
    old.unlink()
    found = checks(root, settings)
    assert not found["commands"].ok
    assert str(old) in found["commands"].detail
    assert found["commands"].next == "orgmem init --target claude-code"


def test_a_hook_that_runs_and_captures_nothing_fails_the_canary(
    root: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = tmp_path / "idle" / "orgmem-hook"
    idle.parent.mkdir()
    idle.write_text("#!/bin/sh\nexit 0\n")
    idle.chmod(0o755)
    put(root, settings, Program(idle, BIN / "orgmem", None))
    monkeypatch.setattr("orgmem.capture.doctor.PATIENCE_SECONDS", 0.3)
    assert not checks(root, settings)["canary"].ok


def test_nothing_installed_is_said_with_the_command_that_installs(root: Path, settings: Settings) -> None:
    found = checks(root, settings)
    assert not found["hooks"].ok
    assert "SessionStart" in found["hooks"].detail
    assert found["destination"].ok


@pytest.mark.parametrize(
    ("text", "word"), [("{", "settings.json:1:2"), ('{"disableAllHooks": true}', "disableAll")]
)
def test_settings_under_which_no_hook_runs_are_named(root: Path, settings: Settings, text: str, word: str) -> None:
    (root / ".claude").mkdir()
    (root / ".claude" / "settings.json").write_text(text)
    found = checks(root, settings)
    assert not found["settings.json"].ok
    assert word in found["settings.json"].detail


def test_a_damaged_database_and_a_full_disk_are_named_with_what_helps(
    root: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verbs that can't use the database send people here."""
    assert "database" not in checks(root, settings)
    settings.capture_folder.mkdir(parents=True)
    file = settings.capture_folder / "capture.db"
    database.connect(settings.capture_folder).close()
    assert checks(root, settings)["database"].ok
    file.write_bytes(b"no database at all" * 99)
    damaged = checks(root, settings)["database"]
    assert (damaged.ok, damaged.next) == (False, f"mv {file} {file}.damaged")
    monkeypatch.setattr("orgmem.capture.doctor.ROOM", 2**62)
    full = checks(root, settings)["database"]
    assert (full.ok, full.next) == (False, f"df -h {settings.capture_folder}")


def test_an_endpoint_that_does_not_answer_is_named(root: Path, settings: Settings) -> None:
    away = settings.model_copy(update={"endpoint": "http://127.0.0.1:9"})
    assert not checks(root, away)["destination"].ok


def test_init_and_doctor_work_as_commands(root: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "ORGMEM_HOME": str(tmp_path / "om"), "COLUMNS": "80"}

    def orgmem(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(BIN / "orgmem"), *words]
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)

    shown = orgmem("init", "--target", "claude-code", "--dry-run")
    assert "+++ " in shown.stdout
    assert list(root.iterdir()) == []
    assert orgmem("init", "--target", "claude-code", "--write-lessons").returncode == 0
    assert "nothing to change" in orgmem("init", "--target", "claude-code", "--write-lessons").stdout
    report = json.loads(orgmem("capture", "doctor", "--json").stdout)
    assert report["ok"], report
    assert orgmem("init", "--target", "claude-code", "--uninstall").returncode == 0
    assert list(root.iterdir()) == []
    assert orgmem("init", "--target", "emacs").returncode == 2
    everywhere = orgmem("init", "--target", "claude-code", "--scope", "user").stderr
    by_hand = f"claude mcp add orgmem --scope user --env ORGMEM_HOME={tmp_path / 'om'} -- {BIN / 'orgmem'} mcp"
    assert by_hand in " ".join(everywhere.split())
