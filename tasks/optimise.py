"""Optimise: compact the memory tables, refresh their indices, delete old versions.

Input and output: the memory tables. Promise: the same memories are found before and after; versions younger
than `keep_versions_days` stay readable.
"""

from tasks.bench import Bench
from tasks.stage import retryable


@retryable("optimise")
def optimise(bench: Bench) -> int:
    """Optimise every table.

    Returns:
        How many memories there are.
    """
    bench.memories.optimise()
    return bench.memories.count()
