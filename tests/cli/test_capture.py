"""`orgmem capture sync` and `orgmem status`, as a shell sees them."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from orgmem.capture.state import candidates, sessions
from orgmem.cli import capture
from orgmem.errors import ConfigurationError, StoreError
from orgmem.store.staging import Staging
from tests.capture.client import names
from tests.capture.hub import TOKEN, Hub, Says
from tests.capture.workplace import Workplace, written


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A home that the verbs use, and a repository in which one stands."""
    made = Workplace(tmp_path)
    monkeypatch.setenv("ORGMEM_HOME", str(made.settings.home))
    monkeypatch.chdir(made.repository())
    return made


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as started:
        monkeypatch.setenv("ORGMEM_ENDPOINT", started.url)
        monkeypatch.setenv("ORGMEM_TOKEN", TOKEN)
        yield started


def orgmem(*words: str) -> Result:
    app = typer.Typer()
    capture.register(app)
    return CliRunner().invoke(app, list(words))


def in_json(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(orgmem(*words, "--json").stdout)
    return found


def an_approved_edit(work: Workplace) -> None:
    orgmem("capture", "sync")
    written(work.folder / "shop" / "CLAUDE.md", "# Shop\nUse make.\n")
    orgmem("capture", "sync")
    (found,) = work.all(status="pending")
    assert candidates.decide(work.db, found.id, yes=True, via="terminal", now=work.now())


def test_sync_finds_what_no_hook_has_told_of(work: Workplace) -> None:
    """claude-mem 1080: the next sync offers what another launcher's session has edited."""
    done = orgmem("capture", "sync")
    assert (done.exit_code, done.stdout) == (
        0,
        "found 0 edits; 0 files skipped, 0 edits lost\ndelivered 0, postponed 0, refused 0\n",
    )
    written(work.folder / "shop" / "CLAUDE.md", "# Shop\nUse make.\n")
    done = orgmem("capture", "sync")
    assert done.stdout.startswith("found 1 edit; ")
    assert "1 edit to decide on; next: orgmem review" in done.stderr
    assert work.edits() == [("# Shop\n", "# Shop\nUse make.\n")]


def test_sync_delivers_what_was_approved(work: Workplace, hub: Hub) -> None:
    an_approved_edit(work)
    done = in_json("capture", "sync")
    assert (done["new"], done["delivered"], done["queued"], done["pending"]) == (0, 1, 0, 0)
    assert len(hub.learnings) == 1
    assert in_json("capture", "sync")["delivered"] == 0


def test_sync_without_a_server_says_so_and_keeps_everything(work: Workplace, hub: Hub) -> None:
    an_approved_edit(work)
    hub.always = Says(503)
    done = orgmem("capture", "sync")
    assert done.exit_code == 1
    assert "delivered 0, postponed 1, refused 0" in done.stdout
    assert "1 learning not delivered yet: " in done.stderr
    assert "503" in done.stderr
    hub.always = None
    assert orgmem("capture", "sync").exit_code == 0
    assert len(hub.learnings) == 1


def test_sync_tries_refused_ones_again_when_it_is_told_to(work: Workplace, hub: Hub) -> None:
    an_approved_edit(work)
    hub.faults.append(Says(422, "schema 1 is not known"))
    done = orgmem("capture", "sync")
    assert done.exit_code == 1
    assert "next: orgmem capture sync --retry-failed" in done.stderr
    assert orgmem("capture", "sync").exit_code == 0
    assert hub.learnings == {}
    assert in_json("capture", "sync", "--retry-failed")["delivered"] == 1
    assert len(hub.learnings) == 1


def test_a_rehearsal_says_what_sync_would_find_and_changes_nothing(work: Workplace, hub: Hub) -> None:
    an_approved_edit(work)
    written(work.folder / "shop" / "AGENTS.md", "# New\n")
    before = work.all()
    done = in_json("capture", "sync", "--dry-run")
    assert (done["dry_run"], done["new"], done["pending"], done["queued"]) == (True, 1, 1, 1)
    assert "nothing was changed" in orgmem("capture", "sync", "--dry-run").stderr
    assert work.all() == before
    assert hub.requests == []
    assert in_json("capture", "sync")["new"] == 1


def test_an_endpoint_of_no_use_ends_sync_with_what_was_found(
    work: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    an_approved_edit(work)
    monkeypatch.setenv("ORGMEM_ENDPOINT", "http://hub.example")
    done = orgmem("capture", "sync")
    assert done.stdout.startswith("found 0 edits")
    assert isinstance(done.exception, ConfigurationError)
    assert "orgmem: capture has 1 fault" in (work.settings.capture_folder / "session-start.json").read_text()
    monkeypatch.delenv("ORGMEM_ENDPOINT")
    assert orgmem("capture", "sync").exit_code == 0
    assert not (work.settings.capture_folder / "session-start.json").exists()
    assert Staging(work.settings).count() == 1


def test_sync_works_where_the_current_folder_is_gone(work: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = work.folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert orgmem("capture", "sync").exit_code == 0


def test_status_says_where_everything_stands_here_and_in_the_group(work: Workplace) -> None:
    an_approved_edit(work)
    found = in_json("status")
    assert (found["captured"], found["pending"], found["approved"], found["queued"]) == (1, 0, 1, 1)
    assert found["watched"] == [
        {"root": str(work.folder / "shop"), "project": "github.com/acme/shop", "files": ["CLAUDE.md"]}
    ]
    assert in_json("capture", "status")["queued"] == 1
    assert "approved   queued 1, delivered 0, failed 0\n" in orgmem("status").stdout


def test_status_of_a_home_that_is_not_there_makes_none(work: Workplace) -> None:
    work.db.close()
    shutil.rmtree(work.settings.home)
    done = orgmem("status")
    assert done.exit_code == 0
    assert "next: orgmem init --target claude-code" in done.stdout
    assert not work.settings.home.exists()
    assert orgmem("capture", "sync", "--dry-run").exit_code == 0
    assert not work.settings.home.exists()


def test_status_says_the_next_command_for_each_problem(work: Workplace) -> None:
    orgmem("capture", "sync")
    written(work.folder / "shop" / "CLAUDE.md", "# Shop\nUse make.\n")
    orgmem("capture", "sync")
    sessions.notify(work.db, "failed", "/shop", "no right to read it", work.now())
    (work.settings.capture_folder / "hook-errors.log").write_text("Stop: OSError 28\n")
    told = orgmem("status").stdout
    for command in ("init --target claude-code", "capture doctor", "review"):
        assert f"next: orgmem {command}" in told


def test_a_damaged_database_is_one_line_with_the_next_command(work: Workplace) -> None:
    work.db.close()
    for name in names(work.settings.capture_folder):
        if name.startswith("capture.db"):
            (work.settings.capture_folder / name).unlink()
    (work.settings.capture_folder / "capture.db").write_bytes(os.urandom(8192))
    for words in (("status",), ("capture", "sync"), ("capture", "sync", "--dry-run")):
        done = orgmem(*words)
        assert isinstance(done.exception, StoreError)
        assert done.exception.hint == "orgmem capture doctor"
