"""Index: after a run, the memory tables' indices cover what it has written.

Input: the memory tables. Output: their keyword and scalar indices. Promise: nothing to do is nothing done.
"""

from tasks.bench import Bench
from tasks.stage import retryable


@retryable("index")
def index(bench: Bench) -> None:
    """Create or refresh the indices."""
    bench.memories.index()
