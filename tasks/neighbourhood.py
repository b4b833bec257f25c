"""The live memories that a new one may collide with, in memory, with their vectors: exact, always the same.

What is near does not depend on batches: a matrix product proposes, and each proposed pair is measured again
by itself, so that a pair has one similarity, whatever stood beside it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from orgmem.store.memories import LiveRows
from orgmem.store.memory_rows import DIMENSION
from orgmem.text.terms import facts, words
from schemas.batch import Item
from schemas.learning import Learning
from schemas.memory import ShownMemory

Vectors = NDArray[np.float32]

QUESTION_SHARE = 0.3
"""Of the vector similarity; the answer has the rest: headings make many questions alike."""
NEAR = 0.6
"""Least vector similarity of a neighbour."""
SLACK = 1e-3
"""More than the rounding of a matrix product in single precision."""


@dataclass(frozen=True)
class Neighbour:
    """What collide knows of a memory, stored or new."""

    id: str
    learning_id: str
    project: str
    path: str
    text: str
    """Answer and example."""
    tags: frozenset[str]

    @cached_property
    def words(self) -> frozenset[str]:
        """Search words of answer and example."""
        return frozenset(words(self.text))

    @cached_property
    def facts(self) -> frozenset[str]:
        """Identifiers, flags, paths, numbers and commands of answer and example."""
        return facts(self.text)


@dataclass(frozen=True)
class Near:
    """A neighbour and how near it is: cosines from -1 to 1, rounded to six places."""

    neighbour: Neighbour
    question: float
    answer: float

    @property
    def similarity(self) -> float:
        """The two put together."""
        return round(QUESTION_SHARE * self.question + (1 - QUESTION_SHARE) * self.answer, 6)


def neighbour_of_item(item: Item, learning: Learning) -> Neighbour:
    """A new memory as its neighbours see it."""
    tags = frozenset((*item.tags.tools, *item.tags.types)) if item.tags else frozenset[str]()
    text = _text(item.draft.answer, item.draft.example)
    return Neighbour(item.id, learning.id, learning.project, learning.path, text, tags)


def neighbour_of_memory(memory: ShownMemory) -> Neighbour:
    """A stored memory as its neighbours see it."""
    source = memory.sources[0]
    text, tags = _text(memory.answer, memory.example), frozenset((*memory.tools, *memory.types))
    return Neighbour(memory.id, source.learning_id, memory.project, source.path, text, tags)


class Neighbourhood:
    """Grows as memories are accepted, and forgets those that are retired."""

    def __init__(self, dimension: int = DIMENSION) -> None:
        self._neighbours: list[Neighbour] = []
        self._row: dict[str, int] = {}
        self._live = np.zeros(0, dtype=np.bool_)
        self._vectors = np.zeros((0, 2, dimension), dtype=np.float32)
        self._fetched: dict[str, NDArray[np.intp]] = {}
        self._fetched_below = 0

    def __len__(self) -> int:
        return int(self._live.sum())

    @classmethod
    def of(cls, pieces: Iterable[LiveRows]) -> "Neighbourhood":
        """The memories of a store."""
        whole = cls()
        for rows in pieces:
            neighbours = [neighbour_of_memory(memory) for memory in rows.memories]
            whole.add(neighbours, rows.question_vectors, rows.answer_vectors)
        return whole

    def add(self, neighbours: Sequence[Neighbour], questions: Vectors, answers: Vectors) -> None:
        """Take memories in, with their unit vectors, n x dimension each."""
        start, count = len(self._neighbours), len(neighbours)
        if start + count > len(self._live):
            self._grow(start + count)
        self._vectors[start : start + count] = np.stack((questions, answers), axis=1)
        self._live[start : start + count] = True
        self._neighbours.extend(neighbours)
        self._row |= {neighbour.id: start + row for row, neighbour in enumerate(neighbours)}

    def retire(self, id_: str) -> None:
        """Forget a memory: nothing collides with it any more."""
        self._live[self._row[id_]] = False

    def prefetch(self, ids: Sequence[str], questions: Vectors, answers: Vectors) -> None:
        """Look up many at once, n x neighbours floats. It changes no answer of `near`, only its speed."""
        close = self._similarities(questions, answers, 0) >= NEAR - SLACK
        self._fetched = {id_: np.flatnonzero(row) for id_, row in zip(ids, close, strict=True)}
        self._fetched_below = len(self._neighbours)

    def near(self, id_: str, question: Vectors, answer: Vectors) -> tuple[Near, ...]:
        """Live neighbours of a new memory, nearest first, ties by id; never the memory itself."""
        known = self._fetched.get(id_, np.zeros(0, dtype=np.intp))
        start = self._fetched_below if id_ in self._fetched else 0
        rest = self._similarities(question[None], answer[None], start)[0] >= NEAR - SLACK
        rows = np.concatenate((known, np.flatnonzero(rest) + start))
        rows = rows[self._live[rows]]
        pair = np.stack((question, answer)).astype(np.float64)
        # One sum a row, in double precision: the same for a pair whatever other rows are measured with it.
        cosines = (self._vectors[rows].astype(np.float64) * pair).sum(axis=2).round(6).tolist()
        found = (Near(self._neighbours[row], q, a) for row, (q, a) in zip(rows.tolist(), cosines, strict=True))
        near = (one for one in found if one.similarity >= NEAR and one.neighbour.id != id_)
        return tuple(sorted(near, key=lambda one: (-one.similarity, one.neighbour.id)))

    def _similarities(self, questions: Vectors, answers: Vectors, start: int) -> Vectors:
        """Of each new memory with each neighbour from `start` on: n x neighbours, single precision."""
        stored = self._vectors[start : len(self._neighbours)]
        if not len(stored):
            return np.zeros((len(questions), 0), dtype=np.float32)
        new = np.concatenate((QUESTION_SHARE * questions, (1 - QUESTION_SHARE) * answers), axis=1)
        return np.asarray(new @ stored.reshape(len(stored), -1).T, dtype=np.float32)

    def _grow(self, needed: int) -> None:
        more = max(needed, 2 * len(self._live), 1_024) - len(self._live)
        self._vectors = np.pad(self._vectors, ((0, more), (0, 0), (0, 0)))
        self._live = np.pad(self._live, (0, more))


def _text(answer: str, example: str | None) -> str:
    # An example in marks of its own, so that its words count as commands.
    return f"{answer}\n```\n{example}\n```" if example else answer
