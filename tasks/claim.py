"""Claim learnings for a run: what a killed run left is told apart, what is pending is cut into batches.

Input: the journal and the lake. Output: journal folders with one claim each. Promise: a learning is in one
batch at most, batches follow the order of observed_at and id, an undecided batch of a killed run is forgotten.
"""

from orgmem.store.journal import Journal
from schemas.batch import Claim
from tasks.bench import Bench
from tasks.stage import retryable


def left_over(journal: Journal) -> tuple[str, ...]:
    """Decided batches of a killed run, in order; the undecided ones are forgotten."""
    for batch_id in journal.batches():
        if not journal.decided(batch_id):
            journal.forget(batch_id)
    return journal.batches()


def numbered(ids: tuple[str, ...], size: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Ids cut into batches of `size`, each with a batch id that sorts in their order."""
    starts = range(0, len(ids), size)
    return tuple((f"{number:06d}", ids[start : start + size]) for number, start in enumerate(starts, 1))


@retryable("recover")
def recover(bench: Bench) -> tuple[str, ...]:
    """Ids of the batches that a killed run decided and may not have persisted."""
    return left_over(bench.journal)


@retryable("plan")
def plan(bench: Bench, limit: int | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Batch ids with the ids of their learnings: everything pending, at most `limit`."""
    return numbered(bench.lake.pending_ids(limit), bench.settings.batch_size)


@retryable("claim")
def claim(bench: Bench, batch_id: str, learning_ids: tuple[str, ...]) -> None:
    """Bring a batch's learnings from the lake to the journal."""
    learnings = bench.lake.learnings(learning_ids)
    who = {"curator": bench.curator.name, "prompt_hash": bench.curator.prompt_hash}
    bench.journal.open(Claim(batch_id=batch_id, run_id=bench.run_id, learnings=learnings, **who))
