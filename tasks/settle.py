"""Settle batches: their dispositions go to the lake in one load, then the journal forgets them.

Input: the batches in the journal that are persisted. Output: rows of the lake's dispositions. Promise: a batch
is forgotten only after its dispositions are safe; settling one twice adds nothing that a reader sees.
"""

from tasks.bench import Bench
from tasks.stage import retryable


@retryable("settle")
def settle(bench: Bench) -> int:
    """Move the dispositions of every persisted batch to the lake.

    Returns:
        How many batches were settled.
    """
    batches = [batch_id for batch_id in bench.journal.batches() if bench.journal.persisted(batch_id)]
    rows = tuple(row for batch_id in batches for row in bench.journal.dispositions(batch_id))
    if rows:
        bench.lake.append(dispositions=rows)
    for batch_id in batches:
        bench.journal.forget(batch_id)
    return len(batches)
