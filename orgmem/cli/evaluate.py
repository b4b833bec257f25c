"""`orgmem eval`: quality figures on given data."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from orgmem.cli.console import Json, emit_json, load_settings, remark
from orgmem.errors import InputError, UsageError

if TYPE_CHECKING:
    from schemas.verdict import GateVerdict

DOUBTS = Path("evals/label-doubts.jsonl")
Data = Annotated[list[Path], typer.Argument(help="JSON Lines, may be gzipped; rows {id, text, label, category}.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="Quality figures on given data.")
    group.callback()(_callback)
    group.command("gate")(gate)
    app.add_typer(group, name="eval")


def _callback() -> None:
    """Quality figures on given data."""


def gate(
    data: Data,
    runs: Annotated[int, typer.Option(help="Judge everything so often, and compare.")] = 1,
    split: Annotated[bool, typer.Option("--split", help="Figures by halves too: ids 0-7, ids 8-f.")] = False,
    doubts: Annotated[Path | None, typer.Option(help=f"Doubted labels, rows {{id}}. [{DOUBTS}, if there]")] = None,
    misses: Annotated[Path | None, typer.Option(help="Write ids of the rows it got wrong there.")] = None,
    write: Annotated[Path | None, typer.Option(help="Write the figures there, as Markdown.")] = None,
    as_json: Json = False,
) -> None:
    """Judge labelled texts; say what was found, what was flagged wrongly, and what came of it."""
    if runs < 1:
        raise UsageError(f"--runs must be at least 1, not {runs}", "orgmem eval gate DATA --runs 2")
    settings = load_settings()
    from orgmem.evaluate import gate as evaluation
    from orgmem.evaluate import gate_report as report
    from tasks.gate.verdict import RULESET, judge_text

    def judge(text: str) -> "GateVerdict":
        return judge_text(text, settings.on_unsafe)[0]

    rows = list(evaluation.read_rows(data, settings.max_row_bytes))
    if not rows:
        raise InputError("no rows to judge", "orgmem eval gate DATA.jsonl.gz")
    judged = evaluation.evaluate(rows, judge, runs)
    agreed = evaluation.agreement(judged) if runs > 1 else None
    found = report.summary(judged[0], agreed, _doubted(doubts), RULESET, split=split)
    if misses:
        _write(misses, "".join(json.dumps(one) + "\n" for one in report.missed(judged[0])))
    if write:
        _write(write, report.markdown(found, " ".join(path.name for path in data)))
    if as_json:
        emit_json(found)
    else:
        _print(found, report.table(found))


def _doubted(given: Path | None) -> frozenset[str]:
    """Ids of the rows whose labels are doubted."""
    path = given or DOUBTS
    if given is None and not path.exists():
        return frozenset()
    try:
        return frozenset(json.loads(line)["id"] for line in path.read_text("utf-8").splitlines() if line.strip())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", f"ls -l {path}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f'{path} has a line that is not {{"id": ..., "reason": ...}}', f"head {path}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}", f"ls -l {path.parent}") from error


def _print(found: dict[str, Any], rows: list[tuple[str, str, str, str, str]]) -> None:
    table = Table("category", "risks found, %", "high", "macro", "harmless flagged, %", box=None)
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)
    print("\n" + ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in found["outcomes"].items()))
    if agreed := found.get("agreement"):
        print(
            f"runs agree on {agreed['actions']['rate']} % of actions, {agreed['outcomes']['rate']} % of outcomes"
        )
    remark("in brackets: 95 % interval; high: sure labels, without doubted ones; --json says all")
