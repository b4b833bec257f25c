"""The whole line on the sample organization: import, curate, search, snapshot. No key, no server, no network.

Run by `make demo`. It calls the verbs of `orgmem` one after the other in this process and prints what
they answer with `--json`. Data goes to .demo/ of the checkout and starts afresh each time; only
Prefect's own database is kept, so that the second run is faster.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from typer.testing import CliRunner

from orgmem.cli.funnel import funnel, outcomes
from orgmem.cli.main import build, fail
from orgmem.errors import OrgmemError
from schemas.tally import Tally

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "examples" / "acme"

console = Console(width=min(80, Console().width), highlight=False, markup=False)


def orgmem(home: Path, *words: str) -> dict[str, Any]:
    """What `ORGMEM_HOME=home orgmem WORDS --json` answers."""
    with console.status(f"orgmem {words[0]} ..."):
        result = CliRunner().invoke(
            build(), [*words, "--json"], env={"ORGMEM_HOME": str(home)}, catch_exceptions=False
        )
    if result.exit_code:
        raise OrgmemError(f"orgmem {words[0]} failed: {result.output.strip()}", "make clean, then make demo")
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def start_afresh(home: Path) -> None:
    """Remove the last demo's data. Prefect's database has nothing of it and takes seconds to make."""
    for name in ("default", "dlt"):
        shutil.rmtree(home / name, ignore_errors=True)


def step(number: int, title: str, command: str) -> None:
    """A heading with the command that does the same by hand."""
    console.print(f"\n{number}. {title}", style="bold")
    console.print(f"   $ {command}", style="cyan")


def say(text: str) -> None:
    """Indented prose."""
    console.print(Padding.indent(text, 3))


def show_import(answer: dict[str, Any]) -> None:
    """Rows read, and what they were."""
    say(
        f"{answer['read']} edits of memory files read: {answer['new']} new learnings, {answer['seen']} met"
        f" before, {answer['rejected']} rejected. Secrets are masked before anything is stored."
    )


def show_curate(answer: dict[str, Any]) -> None:
    """What became of the learnings and the memories, and the funnel."""
    seconds = answer.pop("seconds")
    tally = Tally.model_validate(answer)
    for table in (outcomes(tally), "", funnel(tally), f"in {seconds} seconds"):
        console.print(Padding.indent(table, 3))


def show_answer(answer: dict[str, Any]) -> None:
    """The best memory for a question."""
    if not answer["results"]:
        say("Nothing relevant.")
        return
    best, grid = answer["results"][0], Table.grid(padding=(0, 2, 0, 0))
    for name in ("question", "answer", "example"):
        if best[name]:
            grid.add_row(name, best[name])
    for caveat in best["caveats"]:
        grid.add_row("caveat", caveat)
    parts = ", ".join(f"{name} {round(value, 1):g}" for name, value in best["trust"].items() if name != "score")
    grid.add_row("trust", f"{best['trust']['score']:.1f} of 10: {parts}")
    grid.add_row("project", best["project"])
    console.print(Padding.indent(grid, 3))


def show_snapshot(answer: dict[str, Any]) -> None:
    """A few of the deployment's figures."""
    wanted = (
        "contributed_learnings",
        "productive_learnings",
        "no_yield_learnings",
        "live_memories",
        "memories_per_productive_learning",
        "memories_with_links",
    )
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name in wanted:
        table.add_row(name.replace("_", " "), f"{answer[name]:g}")
    console.print(Padding.indent(table, 3))


def main(home: Path = ROOT / ".demo") -> None:
    """The demo from start to end, with its data in `home`."""
    start_afresh(home)
    rows = SAMPLE / "revisions.jsonl"
    questions = [s["query"] for s in json.loads((SAMPLE / "expected.json").read_text())["searches"]]
    console.print("orgmem: one agent learns it, every agent of the organization finds it", style="bold")
    say("A small organization, three repositories, five months of edits to CLAUDE.md, AGENTS.md and rules.")
    step(1, "Bring the edits in as approved learnings", f"orgmem import {rows.relative_to(ROOT)}")
    show_import(orgmem(home, "import", str(rows)))
    step(2, "Curate them into question-answer memories", "orgmem curate")
    show_curate(orgmem(home, "curate"))
    for number, question in enumerate(questions, 3):
        step(number, "Ask", f'orgmem search "{question}"')
        show_answer(orgmem(home, "search", question))
    step(len(questions) + 3, "Count", "orgmem snapshot")
    show_snapshot(orgmem(home, "snapshot"))
    console.print("\nNow with your own data (it goes to ~/.orgmem; ORGMEM_HOME changes that):", style="bold")
    for command in ("import FILE.jsonl", "curate", 'search "how do I run the tests?"', "mcp"):
        console.print(f"   $ .venv/bin/orgmem {command}", style="cyan")
    say("README.md says how to make FILE.jsonl and how to add `orgmem mcp` to a coding assistant.")


if __name__ == "__main__":
    try:
        main()
    except OrgmemError as error:
        sys.exit(fail(error.code, error.message, error.hint, error.exit_code, as_json=False))
    except OSError as error:
        sys.exit(fail("io", str(error), "make demo", 1, as_json=False))
    except KeyboardInterrupt:
        sys.exit(fail("interrupted", "interrupted", "make demo", 1, as_json=False))
