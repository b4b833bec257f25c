"""Report: the funnel over the whole store, for the caller and as an artifact of the run.

Input: ids of all learnings and all dispositions. Output: a Tally, and a Prefect table artifact `funnel`.
Promise: the tally is the same whether a run was killed and repeated or not.
"""

from prefect.artifacts import create_table_artifact

from schemas.tally import Tally
from tasks.bench import Bench
from tasks.stage import retryable
from tasks.tally import tally

MOST_REASONS = 5


def funnel_rows(counts: Tally) -> list[dict[str, str | int]]:
    """One row a stage: learnings in, learnings out, and the commonest reasons why the others ended there."""
    return [
        {
            "stage": stage.value,
            "in": count.in_,
            "out": count.out,
            "reasons": ", ".join(f"{reason} {number}" for reason, number in commonest(count.reasons)),
        }
        for stage, count in counts.stages.items()
    ]


def commonest(reasons: dict[str, int]) -> list[tuple[str, int]]:
    """The most frequent reasons, most frequent first, ties by name."""
    return sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_REASONS]


@retryable("report")
def report(bench: Bench) -> Tally:
    """Count everything and leave the funnel with the run."""
    counts = tally(bench.lake.ids(), bench.lake.dispositions())
    create_table_artifact(
        key="funnel",
        table=funnel_rows(counts),
        description=f"{counts.learnings.captured} learnings, {counts.memories.created} memories created",
    )
    return counts
