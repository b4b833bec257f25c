"""`orgmem gate`: the verdict on a text, or on each row of a file of texts."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel, ValidationError

from orgmem.cli.console import Json, emit_json, load_settings, remark
from orgmem.cli.policy import todays_policy
from orgmem.errors import InputError, NotFoundError, OrgmemError, UsageError
from orgmem.settings import Settings
from schemas.verdict import Status

if TYPE_CHECKING:
    from tasks.gate.policy import Policy

ONE_TEXT = "orgmem gate FILE, or pipe a text into orgmem gate -"
ROWS = 'orgmem gate --batch FILE.jsonl, rows like {"id": "a", "text": "..."}'


class Row(BaseModel):
    """One text of a batch. Other keys are left alone."""

    id: str | int | None = None
    text: str


def register(app: typer.Typer) -> None:
    """Add `gate`."""
    app.command()(gate)


def gate(
    file: Annotated[str, typer.Argument(help="A text file; - reads standard input.")] = "-",
    batch: Annotated[Path | None, typer.Option(help="JSON Lines with rows {id, text}; prints JSON Lines.")] = None,
    as_json: Json = False,
) -> None:
    """Say whether a text may become a memory.

    And what must be masked in it.
    """
    settings = load_settings()
    policy = todays_policy(settings)
    if batch is not None:
        raise typer.Exit(0 if _judge_rows(batch, settings, policy) else 1)
    result = _judged(_text(file, settings.max_row_bytes), policy)
    if as_json:
        emit_json(result)
    else:
        _print(result)


def _judge_rows(batch: Path, settings: Settings, policy: "Policy") -> bool:
    """Print a JSON line for each row, the verdict or what is wrong with it; whether all rows were right."""
    from orgmem.store.jsonl import read_lines

    right = True
    for line in read_lines(batch, settings.max_row_bytes):
        try:
            if not line.whole:
                raise _too_long(f"line {line.number}", settings.max_row_bytes, ROWS)
            row = _row(line.data, line.number)
            emit_json(({} if row.id is None else {"id": row.id}) | _judged(row.text, policy))
        except OrgmemError as error:
            right = False
            problem = {"code": error.code, "message": error.message, "hint": error.hint}
            emit_json({"line": line.number, "error": problem})
    return right


def _judged(text: str, policy: "Policy") -> dict[str, Any]:
    from tasks.gate.verdict import judge_text

    verdict, masked = judge_text(text, policy)
    return verdict.model_dump(mode="json") | {"text": masked}


def _print(result: dict[str, Any]) -> None:
    print(f"{result['status']}: {result['action']}")
    for category, verdict in result["categories"].items():
        if verdict["status"] != Status.NOT_APPLICABLE:
            print(f"  {category:<10} {verdict['status']}")
        for finding in verdict["findings"]:
            print(f"    {finding['rule']} ({finding['view']} text): {finding['hint']}")
    if result["redactions"]:
        remark("--json prints the masked text too")


def _row(line: bytes, number: int) -> Row:
    try:
        return Row.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        problem = "it is not JSON" if first["type"] == "json_invalid" else f"{where or 'row'}: {first['msg']}"
        raise InputError(f"line {number}: {problem}", ROWS) from error


def _text(file: str, most: int) -> str:
    name = "standard input" if file == "-" else file
    data = _read(file, most + 1)
    if len(data) > most:
        raise _too_long(name, most, ONE_TEXT)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text (byte {error.start + 1})", ONE_TEXT) from error
    if "\0" in text:
        raise InputError(f"{name} is binary, not text", ONE_TEXT)
    return text


def _read(file: str, most: int) -> bytes:
    if file == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("no text: standard input is closed or a terminal", ONE_TEXT)
        return sys.stdin.buffer.read(most)
    try:
        with Path(file).open("rb") as source:
            return source.read(most)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {file}", ONE_TEXT) from error
    except IsADirectoryError as error:
        raise InputError(f"{file} is a folder, not a file", ONE_TEXT) from error
    except PermissionError as error:
        raise InputError(f"no right to read {file}", f"ls -l {file}") from error


def _too_long(name: str, most: int, hint: str) -> InputError:
    return InputError(f"{name} is over {most:,} bytes", f"split it or raise ORGMEM_MAX_ROW_BYTES, then {hint}")
