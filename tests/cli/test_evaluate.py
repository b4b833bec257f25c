"""`orgmem eval gate`: figures of labelled texts, printed and written; bad input named."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from orgmem.cli import evaluate
from orgmem.errors import InputError, NotFoundError

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ROWS = [
    {"id": "0a", "text": f"Publish with {TOKEN} from the branch main.", "label": "risk", "category": "secrets"},
    {"id": "9a", "text": "Publish with a token from the branch main.", "label": "risk", "category": "secrets"},
    {"id": "9b", "text": "Run the tests before you publish.", "label": "benign", "category": "pii"},
]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORGMEM_HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return file


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs `eval gate` in process and gives stdout and stderr."""
    app = typer.Typer()
    evaluate.register(app)
    app.callback()(lambda: None)
    command = typer.main.get_command(app)

    def call(*words: str | Path) -> tuple[str, str]:
        command.main(["eval", "gate", *map(str, words)], standalone_mode=False)
        return capsys.readouterr()

    return call


def test_json_has_outcomes_figures_halves_and_agreement(run: Any, data: Path) -> None:
    found = json.loads(run(data, "--json", "--split", "--runs", "2")[0])
    assert (found["rows"], found["skipped"], found["doubted"]) == (3, 0, 0)
    assert found["outcomes"] == {"appropriate": 2, "cautious": 0, "overcautious": 0, "unsafe_acceptance": 1}
    secrets = found["categories"]["secrets"]
    assert secrets["all"]["recall"] == {"hits": 1, "of": 2, "rate": 50.0, "interval": [9.5, 90.5]}
    assert secrets["tuned"]["recall"]["rate"] == 100.0
    assert found["categories"]["personal"]["all"]["false_positives"]["of"] == 1
    assert found["agreement"]["actions"] == {"hits": 3, "of": 3, "rate": 100.0, "interval": [43.9, 100.0]}
    assert TOKEN not in json.dumps(found)


def test_the_table_fits_in_eighty_columns(run: Any, data: Path) -> None:
    out, _ = run(data)
    assert "secrets" in out
    assert "unsafe acceptance 1" in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_the_page_is_written_where_evaluations_are_kept_or_where_one_says(run: Any, data: Path) -> None:
    run(data)
    assert not list(Path.cwd().iterdir())
    Path("evals").mkdir()
    run(data, "--dry-run", "--misses", "missed.jsonl")
    assert not list(Path("evals").iterdir())
    assert not Path("missed.jsonl").exists()
    _, remarks = run(data)
    assert "evals/gate.md" in remarks
    assert "| secrets | all | 50.0 (9.5-90.5) of 2 |" in Path("evals/gate.md").read_text()
    run(data, "--write", "other.md", "--misses", "missed.jsonl")
    assert Path("other.md").read_text() == Path("evals/gate.md").read_text()
    assert [json.loads(line)["id"] for line in Path("missed.jsonl").read_text().splitlines()] == ["9a"]


def test_doubted_labels_are_left_out_of_figures_of_their_own(run: Any, data: Path) -> None:
    Path("evals").mkdir()
    doubt = {"id": "9a", "category": "secrets", "label": "risk", "reason": "It holds no token."}
    Path("evals/label-doubts.jsonl").write_text(json.dumps(doubt) + "\n")
    found = json.loads(run(data, "--json")[0])
    assert found["doubted"] == 1
    assert found["categories"]["secrets"]["undoubted"]["recall"]["rate"] == 100.0


def test_lines_that_are_no_rows_are_named_and_counted_not_judged(run: Any, data: Path) -> None:
    with data.open("a") as file:
        file.write("{\n" * 7)
    out, remarks = run(data, "--json")
    assert (json.loads(out)["rows"], json.loads(out)["skipped"]) == (3, 7)
    assert remarks.count("it is not JSON") == 5
    assert "line 4" in remarks
    assert "7 lines skipped" in remarks


@pytest.mark.parametrize(
    ("content", "options", "error"),
    [
        (None, [], NotFoundError),
        ("", [], InputError),
        ("{}\n", [], InputError),
        (json.dumps(ROWS[0]), ["--doubts", "none.jsonl"], NotFoundError),
        (json.dumps(ROWS[0]), ["--doubts", "bad.jsonl"], InputError),
        (json.dumps(ROWS[0]), ["--write", "none/page.md"], InputError),
        (json.dumps(ROWS[0]), ["--runs", "0"], typer.TyperException),
    ],
    ids=["no file", "an empty file", "no row in it", "no doubts", "bad doubts", "nowhere to write", "no runs"],
)
def test_bad_input_is_one_error(
    run: Any, tmp_path: Path, content: str | None, options: list[str], error: type[Exception]
) -> None:
    Path("bad.jsonl").write_text('{"id": "9a"}\n')
    if content is not None:
        (tmp_path / "rows.jsonl").write_text(content)
    with pytest.raises(error) as caught:
        run(tmp_path / "rows.jsonl", *options)
    assert TOKEN not in str(caught.value)


def test_each_doubt_of_ours_is_a_whole_row_and_stands_once(checkout: Path) -> None:
    lines = (checkout / "evals" / "label-doubts.jsonl").read_text("utf-8").splitlines()
    doubts = [evaluate.Doubt.model_validate_json(line, strict=True) for line in lines]
    assert len({doubt.id for doubt in doubts}) == len(doubts)
    assert {doubt.label for doubt in doubts} <= {"risk", "benign"}
