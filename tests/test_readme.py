"""The documents are right: commands parse, settings are the real ones, links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from orgmem.cli.main import build
from orgmem.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
CALL = re.compile(r"(?:^|&& |\$ )(?:\.venv/bin/)?orgmem( [^#\n]*?)?(?= &&|  +#|$)", re.MULTILINE)


def code_of(text: str) -> str:
    """Fenced and indented blocks."""
    fence = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^    (.*)$", fence.sub("", text), re.MULTILINE)
    return "\n".join([*fence.findall(text), *indented])


CALLS = sorted(
    {
        (path.name, (call[1] or "").strip())
        for path in DOCUMENTS
        for call in CALL.finditer(code_of(path.read_text(encoding="utf-8")))
    }
)


@pytest.fixture(scope="module")
def program() -> TyperGroup:
    command = typer.main.get_command(build())
    assert isinstance(command, TyperGroup)
    return command


def test_the_readme_shows_every_verb_of_this_release(program: TyperGroup) -> None:
    shown = {words.split()[0] for name, words in CALLS if name == "README.md" and words}
    assert shown == set(program.commands)


@pytest.mark.parametrize(("document", "words"), CALLS)
def test_every_call_in_a_document_is_one_that_the_program_takes(
    program: TyperGroup, document: str, words: str
) -> None:
    context = typer.Context(program)
    verb, command, rest = program.resolve_command(context, shlex.split(words))
    assert command is not None
    command.make_context(verb, rest, parent=context)


def test_the_settings_table_is_that_of_the_program() -> None:
    rows = [
        f"| `{PREFIX}{name.upper()}` | `{field.default}` | {' '.join((field.description or '').split())} |"
        for name, field in Settings.model_fields.items()
    ]
    table = "\n".join(["| variable | default | |", "|---|---|---|", *rows])
    assert table in (ROOT / "README.md").read_text(encoding="utf-8"), f"the table must be:\n{table}"


def test_every_link_to_a_file_leads_to_one() -> None:
    links = [
        (path, link)
        for path in (*DOCUMENTS, ROOT / "CHANGELOG.md", ROOT / "examples" / "acme" / "README.md")
        for link in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8"))
        if not link.startswith("https://")
    ]
    assert links
    assert not [f"{path.name}: {link}" for path, link in links if not (path.parent / link).exists()]


def test_make_targets_that_documents_name_are_there() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        target
        for path in DOCUMENTS
        for target in re.findall(r"`make (?:\w+=\S+ )?([\w-]+)`", path.read_text(encoding="utf-8"))
    }
    assert named
    assert named <= targets
