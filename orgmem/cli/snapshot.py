"""`orgmem snapshot` writes the figures of the deployment, `orgmem sql` asks the file that it wrote."""

import csv
import json
import math
import sys
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from orgmem.cli.console import Json, away_from_here, emit_json, load_settings, printable, remark
from orgmem.errors import UsageError

if TYPE_CHECKING:
    from orgmem.store.warehouse import Answer

CELL = 12
"""Characters that a table's column should have at least; with less, rows are printed as blocks of lines."""


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command("snapshot")(snapshot)
    app.command("sql")(sql)


def snapshot(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the figures; write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Write the DuckDB snapshot and print its figures.

    Definitions: docs/metrics.md.
    """
    settings = load_settings(make_home=not dry_run)
    with away_from_here():
        from tasks.bench import Bench
        from tasks.snapshot import preview, take

        # Not through the flow: starting a Prefect server takes longer than the snapshot does.
        bench = Bench(settings)
        figures = (preview(bench) if dry_run else take(bench)).model_dump(mode="json", by_alias=True)
    if as_json:
        emit_json(figures)
    else:
        _print_block(_console(), figures)
    if not dry_run:
        remark(f"written: {settings.snapshot_file}; next: orgmem sql 'SHOW TABLES'")


def sql(
    query: Annotated[str, typer.Argument(help="One SELECT; SHOW TABLES lists what there is.")],
    limit: Annotated[int, typer.Option(help="Print at most this many rows.", min=1, max=10_000_000)] = 1000,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header.")] = False,
    as_json: Json = False,
) -> None:
    """Ask the snapshot in SQL, read-only.

    No other files, no settings; all moments are UTC.
    """
    if as_csv and as_json:
        raise UsageError("--csv and --json exclude each other", "orgmem sql QUERY --json")
    settings = load_settings()
    from orgmem.store.warehouse import ask

    answer = ask(settings, query, limit)
    if as_json:
        emit_json({"columns": answer.columns, "rows": [[plain(cell) for cell in row] for row in answer.rows]})
    elif as_csv:
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(answer.columns)
        out.writerows([_csv_cell(cell) for cell in row] for row in answer.rows)
    else:
        _print(answer)
    if answer.cut:
        remark(f"only the first {limit} rows; for more: --limit {limit * 10}")


def plain(cell: object) -> object:
    """What JSON can hold: moments in ISO 8601, decimals as numbers, no infinities, the rest as text."""
    match cell:
        case None | bool() | int() | str():
            shown: object = cell
        case float() | Decimal():
            shown = float(cell) if math.isfinite(cell) else None
        case datetime() | date():
            shown = cell.isoformat()
        case dict():
            shown = {str(plain(key)): plain(value) for key, value in cell.items()}
        case list() | tuple():
            shown = [plain(value) for value in cell]
        case _:
            shown = str(cell)
    return shown


def visible(cell: object) -> str:
    """A cell on a terminal: control characters, which could steer it, as escapes; nothing for none."""
    shown = plain(cell)
    text = shown if isinstance(shown, str) else "" if shown is None else json.dumps(shown, ensure_ascii=False)
    return printable(text)


def _csv_cell(cell: object) -> object:
    shown = plain(cell)
    return json.dumps(shown, ensure_ascii=False) if isinstance(shown, list | dict | bool) else shown


def _console() -> Console:
    return Console(highlight=False, markup=False, soft_wrap=False)


def _print(answer: "Answer") -> None:
    console = _console()
    if len(answer.columns) * CELL > console.width:
        for number, row in enumerate(answer.rows):
            if number:
                console.print()
            _print_block(console, dict(zip(answer.columns, row, strict=True)))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for position, column in enumerate(answer.columns):
        numeric = all(isinstance(row[position], int | float | Decimal) for row in answer.rows)
        table.add_column(Text(visible(column)), justify="right" if numeric else "left", overflow="fold")
    for row in answer.rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)


def _print_block(console: Console, row: dict[str, object]) -> None:
    grid = Table.grid(padding=(0, 2))
    for column, cell in row.items():
        grid.add_row(Text(visible(column)), Text(visible(cell), overflow="fold"))
    console.print(grid)
