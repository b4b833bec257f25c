"""`orgmem search` and `orgmem show`: JSON as agreed, text in 80 columns, errors with the next command."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from fastmcp import Client
from typer.testing import CliRunner

from orgmem.cli import search
from orgmem.errors import NotFoundError, OrgmemError, UsageError
from orgmem.models.embed import MiniLM
from orgmem.serve.mcp import build_server
from orgmem.serve.retrieve import open_retriever
from orgmem.settings import Settings
from orgmem.store.memories import MemoryStore
from schemas.memory import Link, LinkKind
from tests.serve.test_retrieve import about

MEMORIES = (
    about("deploy", caveats=("Not on Fridays.",)),
    about("backup", example="make backup\nls backups"),
    about("linter", answer="A long line. " * 30),
)
QUERIES = ("how do I deploy", "backup script", "who lints?", "how do I handle the linter in the shop?")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = Settings(home=tmp_path_factory.mktemp("home"))
    model = MiniLM()
    questions = model.embed([memory.question for memory in MEMORIES])
    answers = model.embed([memory.answer for memory in MEMORIES])
    link = Link(source=MEMORIES[1].id, target=MEMORIES[0].id, kind=LinkKind.RELATED, score=0.7)
    MemoryStore(settings).apply(MEMORIES, questions, answers, [link])
    return settings.home


def run(*arguments: str, home: Path | None, **environment: str) -> str:
    app = typer.Typer()
    search.register(app)
    result = CliRunner().invoke(
        app, list(arguments), env={"ORGMEM_HOME": str(home), "COLUMNS": "80", **environment}
    )
    if isinstance(result.exception, OrgmemError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_search_prints_the_json_that_others_rely_on(home: Path) -> None:
    answer = json.loads(run("search", "how do I deploy", "--limit", "2", "--json", home=home))
    assert answer["query"] == "how do I deploy"
    assert answer["mode"] == "fast"
    assert isinstance(answer["took_ms"], int)
    assert answer["results"][0]["id"] == MEMORIES[0].id
    assert answer["results"][0]["links"] == [
        {"id": MEMORIES[1].id, "kind": "related", "score": 0.7, "direction": "from"}
    ]


async def test_the_command_line_and_mcp_give_the_same_ids(home: Path) -> None:
    async with Client(build_server(open_retriever(Settings(home=home)))) as client:
        for text in QUERIES:
            by_mcp: Any = (await client.call_tool("query", {"question": text})).structured_content
            by_cli = json.loads(run("search", text, "--json", home=home))
            assert [found["id"] for found in by_mcp["results"]] == [found["id"] for found in by_cli["results"]]
            assert by_cli["results"]


def test_results_fit_80_columns_without_colours(home: Path) -> None:
    out = run("search", "how do I handle the shop", home=home, NO_COLOR="1")
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80
    assert "! Not on Fridays." in out
    assert "  make backup" in out


def test_show_prints_trust_sources_and_links(home: Path) -> None:
    out = run("show", MEMORIES[1].id, home=home)
    assert MEMORIES[1].question in out
    assert "CLAUDE.md" in out
    assert f"related to {MEMORIES[0].id}" in out


def test_show_prints_json(home: Path) -> None:
    shown = json.loads(run("show", MEMORIES[1].id, "--json", home=home))
    assert shown["id"] == MEMORIES[1].id
    assert "patch" not in shown


def test_show_of_an_unknown_id_is_not_found(home: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        run("show", "mem_unknown", home=home)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["  "],
        ["x", "--limit", "0"],
        ["x", "--limit", "51"],
        ["x", "--tag", "nope"],
        ["x", "--mode", "deep"],
        ["x", "--budget", "0"],
        ["x", "--only-project"],
    ],
)
def test_bad_words_are_usage_errors(home: Path, arguments: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        run("search", *arguments, home=home)
    assert caught.value.exit_code == 2


def test_searching_before_anything_was_imported_says_what_to_do(tmp_path: Path) -> None:
    answer = json.loads(run("search", "anything", "--json", home=tmp_path / "empty"))
    assert answer["results"] == []
    assert answer["nothing_relevant"]
    assert "orgmem import" in answer["hint"]
    assert not (tmp_path / "empty").exists()


def test_options_narrow_the_search(home: Path) -> None:
    options = ("--project", "acme/other", "--only-project", "--tag", "pytest", "--budget", "500", "--json")
    assert json.loads(run("search", "deploy", *options, home=home))["results"] == []
