"""The funnel of curation as tables that fit 80 columns: used by `orgmem curate` and by the demo."""

from rich.table import Table

from schemas.tally import Tally

MOST_REASONS = 4


def outcomes(tally: Tally) -> Table:
    """What became of the learnings, and what of the memories, a line each."""
    learnings, memories = tally.learnings.model_dump(), tally.memories.model_dump()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_row("learnings", ", ".join(f"{name}\u00a0{count:,}" for name, count in learnings.items()))
    table.add_row("memories", ", ".join(f"{name}\u00a0{count:,}" for name, count in memories.items()))
    return table


def funnel(tally: Tally) -> Table:
    """Learnings in and out of each stage, and the commonest reasons why the others ended there."""
    table = Table(box=None, pad_edge=False)
    table.add_column("stage", style="bold")
    table.add_column("in", justify="right")
    table.add_column("out", justify="right")
    table.add_column("the others ended here because", overflow="fold")
    for stage, count in tally.stages.items():
        commonest = sorted(count.reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        shown = [f"{reason}\u00a0{number:,}" for reason, number in commonest[:MOST_REASONS]]
        rest = sum(number for _, number in commonest[MOST_REASONS:])
        more = [f"other {rest:,}"] if rest else []
        table.add_row(stage, f"{count.in_:,}", f"{count.out:,}", ", ".join([*shown, *more]))
    return table
