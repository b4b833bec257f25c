"""Persist: accepted items become memories in the tables.

Input: the items that collide handed on, with their vectors. Output: rows of memories, links and tags.
Promise: a memory's id derives from its learning and ordinal, so that a rerun changes nothing.
"""

from collections.abc import Iterable
from datetime import datetime

from schemas.batch import Claim, Item
from schemas.disposition import Decision, Stage
from schemas.learning import Learning
from schemas.memory import Link, Memory, Source
from tasks.bench import Bench
from tasks.stage import Step, result_of, retryable

RULES = "persist/1"


def to_memories(items: Iterable[Item], claim: Claim, now: datetime) -> tuple[Memory, ...]:
    """One memory an item, in their order. `now` becomes created_at, which a rerun leaves as it was.

    Raises:
        ValueError: an item has not been through gate, trust and tag.
    """
    learnings = claim.by_id
    return tuple(_memory(item, learnings[item.learning_id], claim, now) for item in items)


def links_of(items: Iterable[Item]) -> tuple[Link, ...]:
    """The links that collide found, in the items' order."""
    return tuple(link for item in items for link in item.links)


def superseded_by(items: Iterable[Item]) -> dict[str, str]:
    """Ids of the memories that the items retire, each with the id of the first item that does."""
    retired: dict[str, str] = {}
    for item in items:
        for old in item.supersedes:
            retired.setdefault(old, item.id)
    return retired


def _memory(item: Item, learning: Learning, claim: Claim, now: datetime) -> Memory:
    if item.verdict is None or item.trust is None or item.tags is None:
        raise ValueError(f"item {item.id} lacks a verdict, trust evidence or tags")
    return Memory(
        id=item.id,
        question=item.draft.question,
        answer=item.draft.answer,
        example=item.draft.example,
        caveats=item.draft.caveats,
        heading_path=item.draft.heading_path,
        tools=item.tags.tools,
        types=item.tags.types,
        project=learning.project,
        sources=_sources(learning),
        trust=item.trust,
        observed_at=learning.observed_at,
        created_at=now,
        learning_id=learning.id,
        ordinal=item.ordinal,
        contributor=learning.contributor,
        patch=learning.patch,
        security_scan=item.verdict,
        curator=claim.curator,
        prompt_hash=claim.prompt_hash,
    )


def _sources(learning: Learning) -> tuple[Source, ...]:
    """The learning, once for each name that other systems have for it."""
    return tuple(
        Source(learning_id=learning.id, external_id=name, project=learning.project, path=learning.path)
        for name in learning.external_ids or (None,)
    )


@retryable("persist")
def persist(bench: Bench, batch_id: str) -> None:
    """Apply a decided batch to the tables; again and again with the same end."""
    claim, decided = bench.journal.claim(batch_id), bench.journal.read(batch_id, Stage.COLLIDE)
    memories = to_memories(decided.items, claim, bench.clock())
    vectors = bench.journal.vectors(batch_id, [item.id for item in decided.items])
    bench.memories.apply(memories, *vectors, links_of(decided.items), superseded_by(decided.items))
    steps = [
        Step(item.id, item.learning_id, Decision.PERSISTED, "persisted", onward=(item,)) for item in decided.items
    ]
    bench.journal.write(batch_id, Stage.PERSIST, result_of(Stage.PERSIST, steps, bench, RULES))
