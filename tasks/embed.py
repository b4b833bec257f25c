"""Embed: question and answer of every tagged item become a vector each.

Input: the items that tag handed on. Output: vectors.npz with their ids. Promise: the same text has the same
vector, alone or in any batch.
"""

from orgmem.models.embed import Embedder
from orgmem.store.journal import Vectors
from schemas.batch import Item
from schemas.disposition import Stage
from tasks.bench import Bench
from tasks.stage import retryable


def vectors_of(items: tuple[Item, ...], embedder: Embedder) -> tuple[Vectors, Vectors]:
    """Question vectors and answer vectors, n x dimension each, of unit length."""
    questions = embedder.embed([item.draft.question for item in items])
    answers = embedder.embed([item.draft.answer for item in items])
    return questions, answers


@retryable("embed")
def embed(bench: Bench, batch_id: str) -> int:
    """Embed a batch.

    Returns:
        How many items were embedded.
    """
    items = bench.journal.read(batch_id, Stage.TAG).items
    ids = [item.id for item in items]
    bench.journal.write_vectors(batch_id, ids, *vectors_of(items, bench.embedder))
    return len(items)
