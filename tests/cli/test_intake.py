"""`orgmem import` and `orgmem validate`, as a shell sees them."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from orgmem.cli import intake
from orgmem.errors import InputError, NotFoundError
from orgmem.settings import Settings
from tests.revisions import TOKEN, a_file, a_row
from tests.samples import a_hunk, a_learning


@pytest.fixture(autouse=True)
def _home(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORGMEM_HOME", str(settings.home))


def orgmem(*words: str | Path) -> Result:
    app = typer.Typer()
    intake.register(app)
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return a_file(tmp_path / "rows.jsonl", [a_row(), a_row(id="row-2"), b"no json"])


def test_import_says_what_became_of_the_rows(rows: Path) -> None:
    done = orgmem("import", rows)
    assert (done.exit_code, done.stdout) == (0, "read 3, new 1, seen 1, rejected 1\n")
    assert done.stderr.startswith("1 rejected, first line 3: row: Invalid JSON")
    assert 'next: orgmem curate && orgmem snapshot && orgmem sql "select * from rejects"' in done.stderr
    assert done.stderr.count("\n") == 1


def test_import_says_it_in_json(rows: Path) -> None:
    assert json.loads(orgmem("import", rows, "--json").stdout) == {
        "read": 3,
        "new": 1,
        "seen": 1,
        "rejected": 1,
    }
    assert json.loads(orgmem("import", rows, "--json").stdout) == {
        "read": 3,
        "new": 0,
        "seen": 2,
        "rejected": 1,
    }


def test_a_dry_run_of_import_leaves_no_trace(rows: Path, settings: Settings) -> None:
    assert orgmem("import", rows, "--dry-run").stdout == "read 3, new 1, seen 1, rejected 1\n"
    assert not settings.home.exists()


def test_import_of_an_empty_file_says_so(tmp_path: Path) -> None:
    done = orgmem("import", a_file(tmp_path / "rows.jsonl", []))
    assert (done.exit_code, done.stdout) == (0, "read 0, new 0, seen 0, rejected 0\n")
    assert "is empty" in done.stderr


def test_no_secret_is_printed(tmp_path: Path) -> None:
    done = orgmem("import", a_file(tmp_path / "rows.jsonl", [a_row(date=TOKEN), a_row(before=TOKEN, after=7)]))
    assert TOKEN not in done.output


@pytest.mark.parametrize("verb", ["import", "validate"])
def test_a_missing_file_is_not_found_and_a_folder_is_bad_input(verb: str, tmp_path: Path) -> None:
    assert isinstance(orgmem(verb, tmp_path / "missing").exception, NotFoundError)
    error = orgmem(verb, tmp_path).exception
    assert isinstance(error, InputError)
    assert error.hint


def test_a_valid_learning_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "learning.json"
    file.write_text(a_learning().model_dump_json())
    assert (orgmem("validate", file).exit_code, orgmem("validate", file).stdout) == (
        0,
        f"{file} is a valid learning\n",
    )
    assert json.loads(orgmem("validate", file, "--json").stdout) == {
        "file": str(file),
        "valid": True,
        "errors": [],
    }


def test_an_invalid_learning_is_told_by_field(tmp_path: Path) -> None:
    file = tmp_path / "learning.json"
    file.write_text(a_learning().model_copy(update={"id": "x", "masked": -1}).model_dump_json())
    done = orgmem("validate", file)
    assert (done.exit_code, [line.partition(":")[0] for line in done.stdout.splitlines()]) == (
        1,
        ["id", "masked"],
    )
    assert done.stderr.count("\n") == 1
    report = json.loads(orgmem("validate", file, "--json").stdout)
    assert [error["field"] for error in report["errors"]] == ["id", "masked"]
    assert report["valid"] is False
    assert sorted(report["error"]) == ["code", "hint", "message"]


def test_a_patch_that_does_not_agree_with_the_hunks_is_told(tmp_path: Path) -> None:
    file = tmp_path / "learning.json"
    file.write_text(a_learning().model_copy(update={"hunks": (a_hunk("Other.\n"),)}).model_dump_json())
    assert orgmem("validate", file).stdout.startswith("patch: ")


def test_a_file_over_the_limit_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORGMEM_MAX_ROW_BYTES", "1024")
    file = tmp_path / "learning.json"
    file.write_bytes(b"x" * 2000)
    assert isinstance(orgmem("validate", file).exception, InputError)
