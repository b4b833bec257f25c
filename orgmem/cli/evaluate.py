"""`orgmem eval`: quality figures on given data."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel, Field, ValidationError
from rich.console import Console
from rich.table import Table

from orgmem.cli.console import Json, emit_json, load_settings, remark, stderr
from orgmem.cli.policy import todays_policy
from orgmem.errors import InputError
from orgmem.settings import Settings

if TYPE_CHECKING:
    from orgmem.evaluate.gate import Judged, Row
    from schemas.verdict import GateVerdict
    from tasks.gate.policy import Policy

EVALS = Path("evals")
"""Where reports and doubts are, in a checkout."""
DOUBTS, PAGE = EVALS / "label-doubts.jsonl", EVALS / "gate.md"
ROWS = 'rows like {"id": "a", "text": "...", "label": "risk", "category": "secrets"}'
DOUBT = 'rows like {"id": "a", "category": "secrets", "label": "risk", "reason": "..."}'
MOST_NAMED = 5
"""Bad lines that are named one by one."""

Data = Annotated[list[Path], typer.Argument(help="JSON Lines, may be gzipped; rows {id, text, label, category}.")]


class Doubt(BaseModel):
    """One label that a reader of the row doubts. Other keys are left alone."""

    id: str
    category: str
    label: str
    reason: Annotated[str, Field(min_length=1)]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="Quality figures on given data.")
    group.callback()(_callback)
    group.command("gate")(gate)
    app.add_typer(group, name="eval")


def _callback() -> None:
    """Quality figures on given data."""


def gate(  # noqa: PLR0913, PLR0917 - one parameter an option
    data: Data,
    runs: Annotated[int, typer.Option(min=1, help="Judge everything so often, and compare.")] = 1,
    split: Annotated[bool, typer.Option("--split", help="Figures by halves too: ids 0-7, ids 8-f.")] = False,
    doubts: Annotated[Path | None, typer.Option(help=f"Doubted labels. [{DOUBTS}, if there]")] = None,
    misses: Annotated[Path | None, typer.Option(help="Write ids of the rows it got wrong there.")] = None,
    write: Annotated[
        Path | None, typer.Option(help=f"Write the page there. [{PAGE}, if {EVALS}/ is there]")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing, only print.")] = False,
    as_json: Json = False,
) -> None:
    """Judge labelled texts; say what was found, what was flagged wrongly, and what came of it."""
    settings = load_settings()
    from orgmem.evaluate import gate as evaluation
    from orgmem.evaluate import gate_report as report
    from tasks.gate.verdict import RULESET

    doubted = _doubted(doubts, settings.max_row_bytes)
    rows, skipped = _rows(data, settings)
    policy = todays_policy(settings)
    judged = _judged(rows, runs, policy)
    agreed = evaluation.agreement(judged) if runs > 1 else None
    found = report.summary(judged[0], agreed, doubted, policy.ruleset(RULESET), split=split) | {"skipped": skipped}
    if misses and not dry_run:
        _write(misses, "".join(json.dumps(one) + "\n" for one in report.missed(judged[0])))
    page = write or (PAGE if EVALS.is_dir() else None)
    if page and not dry_run:
        _write(page, report.markdown(found, [path.name for path in data], split=split))
        remark(f"the page is {page}")
    if as_json:
        emit_json(found)
    else:
        _print(found, report.table(found))


def _rows(data: list[Path], settings: Settings) -> tuple[list["Row"], int]:
    """The rows, and how many lines are none; the first of those are named."""
    from orgmem.evaluate.gate import Problem, read_rows

    rows: list[Row] = []
    skipped = 0
    for one in read_rows(data, settings.max_row_bytes):
        if not isinstance(one, Problem):
            rows.append(one)
            continue
        skipped += 1
        if skipped <= MOST_NAMED:
            remark(f"skipped {one.place}: {one.message}")
    if not rows:
        raise InputError(f"no rows to judge, {skipped:,} lines skipped", ROWS)
    if skipped:
        remark(f"{skipped:,} lines skipped; {ROWS}")
    return rows, skipped


def _judged(rows: list["Row"], runs: int, policy: "Policy") -> list[list["Judged"]]:
    """The rows judged in each run; on a terminal one sees how far it is."""
    from rich.progress import Progress

    from orgmem.evaluate.gate import evaluate
    from tasks.gate.verdict import judge_text

    with Progress(console=stderr, transient=True, disable=not stderr.is_terminal) as progress:
        bar = progress.add_task("judging", total=len(rows) * runs)

        def judge(text: str) -> "GateVerdict":
            progress.advance(bar)
            return judge_text(text, policy)[0]

        return evaluate(rows, judge, runs)


def _doubted(given: Path | None, longest: int) -> frozenset[str]:
    """Ids of the rows whose labels are doubted."""
    from orgmem.store.jsonl import read_lines

    path = given or DOUBTS
    if given is None and not path.exists():
        return frozenset()
    doubted = set()
    for line in read_lines(path, longest):
        try:
            doubted.add(Doubt.model_validate_json(line.data).id)
        except ValidationError as error:
            raise InputError(f"{path}, line {line.number} is no doubt about a label", DOUBT) from error
    return frozenset(doubted)


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
