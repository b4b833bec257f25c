"""What a new memory is to the old ones: duplicate, successor, variant, neighbour or none of these."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.identity import memory_id
from orgmem.models.embed import MiniLM
from orgmem.settings import Settings
from orgmem.store.memories import MemoryStore
from schemas.batch import Item
from schemas.learning import Hunk, Learning
from schemas.memory import LinkKind, Tags
from tasks.collide import Accepted, Clarified, Collision, Duplicate, Supersedes, collide_item, collide_items
from tasks.neighbourhood import NEAR, Neighbourhood, neighbour_of_item, neighbour_of_memory
from tests.fakes import BagOfWords
from tests.samples import OBSERVED, a_draft, a_learning, a_memory, an_item

PORT = "The dev server of the shop listens on port {}; set PORT to change it."
ASKED = "On which port does the dev server of the shop listen?"


class Case:
    """Memories that come one after the other, each from its own edit."""

    def __init__(self, embedder: Any = None) -> None:
        self.neighbourhood = Neighbourhood()
        self.embedder = embedder or BagOfWords()

    def meet(self, answer: str, **about: Any) -> tuple[Item, Collision]:
        item, learning = made(answer, **about)
        question, solution = self.embedder.embed([item.draft.question, item.draft.answer])
        return item, collide_item(item, learning, question, solution, self.neighbourhood)


def made(  # noqa: PLR0913, PLR0917 - one argument a detail of a case
    answer: str,
    question: str = ASKED,
    project: str = "acme/shop",
    path: str = "CLAUDE.md",
    tags: Tags | None = None,
    removed: str = "",
    beside: str = "",
    ordinal: int = 0,
    learning: Learning | None = None,
) -> tuple[Item, Learning]:
    learning = learning or a_learning(f"{answer}\n", project=project, path=path)
    if removed or beside:
        hunk = Hunk(before=removed, after=f"{answer}\n", context_before=beside)
        learning = learning.model_copy(update={"hunks": (hunk,)})
    tags = tags or Tags(tools=("general",), types=("configuration",))
    draft = a_draft(question=question, answer=answer, example=None)
    return an_item(ordinal, learning, draft=draft, tags=tags), learning


def test_the_first_memory_is_accepted_without_links() -> None:
    _, collision = Case().meet(PORT.format(8080))
    assert collision == Accepted(())


def test_the_same_text_in_another_file_of_the_project_is_a_duplicate() -> None:
    case = Case()
    first, _ = case.meet(PORT.format(8080))
    _, collision = case.meet(PORT.format(8080), path="docs/AGENTS.md")
    assert collision == Duplicate(first.id, 1.0)


def test_a_duplicate_does_not_join_the_neighbourhood() -> None:
    case = Case()
    case.meet(PORT.format(8080))
    case.meet(PORT.format(8080), path="docs/AGENTS.md")
    assert len(case.neighbourhood) == 1


def test_the_same_text_in_another_project_is_kept_with_a_link() -> None:
    case = Case()
    first, _ = case.meet(PORT.format(8080))
    second, collision = case.meet(PORT.format(8080), project="acme/other")
    assert isinstance(collision, Accepted)
    (link,) = collision.links
    assert (link.source, link.target, link.kind) == (second.id, first.id, LinkKind.DUPLICATE_OF)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PORT.format(8080), PORT.format(9090)),
        (
            "Always commit the lock file `uv.lock` with the change.",
            "Never commit the lock file `uv.lock` with the change.",
        ),
        ("Build the shop with `make build --fast` in CI.", "Build the shop with `make build --safe` in CI."),
        (
            "The settings of the shop are in `conf/dev.toml` only.",
            "The settings of the shop are in `etc/dev.toml` only.",
        ),
    ],
)
def test_a_newer_memory_of_the_file_with_another_value_or_a_negation_retires_the_older(old: str, new: str) -> None:
    case = Case(MiniLM())
    first, _ = case.meet(old)
    second, collision = case.meet(new)
    assert isinstance(collision, Supersedes)
    assert collision.old == (first.id,)
    assert [(link.source, link.target, link.kind) for link in collision.links] == [
        (second.id, first.id, LinkKind.SUPERSEDES)
    ]


def test_a_retired_memory_collides_with_nothing_any_more() -> None:
    case = Case()
    case.meet(PORT.format(8080))
    second, _ = case.meet(PORT.format(9090))
    third, collision = case.meet(PORT.format(7070))
    assert isinstance(collision, Supersedes)
    assert collision.old == (second.id,)
    assert third.id not in collision.old


def test_an_edit_that_takes_the_old_words_away_retires_what_they_said() -> None:
    case = Case(MiniLM())
    old = "Before a commit run the linter and the formatter over the whole tree."
    first, _ = case.meet(old, question="What do I run before a commit?")
    new = "Before a commit run pre-commit; it starts linter and formatter for the files that changed."
    _, kept = Case(MiniLM()).meet(new, question="What do I run before a commit?")
    assert isinstance(kept, Accepted)
    _, collision = case.meet(new, question="What do I run before a commit?", removed=f"{old}\n")
    assert isinstance(collision, Supersedes)
    assert collision.old == (first.id,)


def test_what_still_stands_beside_the_edit_is_not_retired() -> None:
    case = Case()
    case.meet(PORT.format(8080))
    _, collision = case.meet(PORT.format(9090), beside=PORT.format(8080))
    assert isinstance(collision, Clarified)
    assert len(case.neighbourhood) == 2


@pytest.mark.parametrize(
    ("about", "named"), [({"project": "acme/other"}, "acme/shop"), ({"path": "docs/AGENTS.md"}, "CLAUDE.md")]
)
def test_a_variant_elsewhere_is_kept_with_a_caveat_that_says_what_differs(
    about: dict[str, str], named: str
) -> None:
    case = Case()
    first, _ = case.meet(PORT.format(8080))
    _, collision = case.meet(PORT.format(9090), **about)
    assert isinstance(collision, Clarified)
    assert "`9090`" in collision.caveat
    assert named in collision.caveat
    assert [(link.target, link.kind) for link in collision.links] == [(first.id, LinkKind.CONTRADICTS)]


def test_a_caveat_holds_no_fact_of_the_other_memory() -> None:
    case = Case()
    case.meet(PORT.format(8080))
    _, collision = case.meet(PORT.format(9090), project="acme/other")
    assert isinstance(collision, Clarified)
    assert "8080" not in collision.caveat


def test_siblings_of_one_edit_are_neighbours_and_neither_retires_the_other() -> None:
    case = Case()
    _, learning = made("x")
    first, _ = case.meet(PORT.format(8080), learning=learning)
    _, collision = case.meet(PORT.format(9090), learning=learning, ordinal=1)
    assert isinstance(collision, Accepted)
    assert [(link.target, link.kind) for link in collision.links] == [(first.id, LinkKind.RELATED)]


def test_the_same_text_twice_in_one_edit_is_a_duplicate() -> None:
    case = Case()
    _, learning = made("x")
    first, _ = case.meet(PORT.format(8080), learning=learning)
    _, collision = case.meet(PORT.format(8080), learning=learning, ordinal=1)
    assert collision == Duplicate(first.id, 1.0)


def test_memories_without_a_common_tag_are_not_linked() -> None:
    case = Case()
    case.meet(PORT.format(8080), tags=Tags(tools=("vite",), types=("configuration",)))
    _, collision = case.meet(PORT.format(9090), tags=Tags(tools=("nginx",), types=("pitfall",)))
    assert collision == Accepted(())


def test_a_memory_has_five_links_at_most_to_its_nearest_neighbours() -> None:
    case = Case()
    for n in range(8):
        case.meet(f"{PORT.format(8080)} " + " ".join(f"extra{n}{k}" for k in range(n + 1)), project=f"acme/p{n}")
    _, collision = case.meet(PORT.format(8080), project="acme/last")
    assert isinstance(collision, Accepted | Clarified)
    scores = [link.score for link in collision.links]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert all(round(score, 4) == score >= NEAR for score in scores)


def test_a_memory_does_not_collide_with_itself() -> None:
    case = Case()
    item, learning = made(PORT.format(8080))
    question, answer = BagOfWords().embed([item.draft.question, item.draft.answer])
    for _ in range(2):
        assert collide_item(item, learning, question, answer, case.neighbourhood) == Accepted(())


def test_stored_memories_are_neighbours_like_new_ones(settings: Settings) -> None:
    learning = a_learning()
    stored = a_memory(
        0, learning, tools=("general",), types=("configuration",), observed_at=OBSERVED - timedelta(1)
    )
    store = MemoryStore(settings)
    embedder = BagOfWords()
    store.apply([stored], embedder.embed([stored.question]), embedder.embed([stored.answer]))
    neighbourhood = Neighbourhood.of(store.live())
    draft = a_draft(question=stored.question, answer=stored.answer, example=stored.example)
    again = a_learning(path="docs/AGENTS.md")
    item = an_item(0, again, draft=draft, tags=Tags(tools=stored.tools, types=stored.types))
    question, answer = embedder.embed([draft.question, draft.answer])
    assert collide_item(item, again, question, answer, neighbourhood) == Duplicate(stored.id, 1.0)
    assert neighbour_of_item(item, again).words == neighbour_of_memory(stored).words


WORDS = ("port", "8080", "9090", "not", "server", "shop", "`make`", "dev")
ANSWERS = st.lists(st.sampled_from(WORDS), min_size=3, max_size=6).map(" ".join)
PLACES = st.sampled_from([("acme/a", "CLAUDE.md"), ("acme/a", "AGENTS.md"), ("acme/b", "CLAUDE.md")])


@given(st.lists(st.tuples(ANSWERS, PLACES), min_size=1, max_size=12), st.integers(1, 12))
def test_where_batches_end_changes_nothing(rows: list[tuple[str, tuple[str, str]]], size: int) -> None:
    pairs = [
        made(
            answer,
            project=project,
            path=path,
            learning=a_learning(f"{n} {answer}\n", project=project, path=path),
        )
        for n, (answer, (project, path)) in enumerate(rows)
    ]
    assert collided(pairs, size) == collided(pairs, len(pairs))


def collided(pairs: Sequence[tuple[Item, Learning]], size: int) -> list[Collision]:
    neighbourhood, out = Neighbourhood(), list[Collision]()
    learnings = {learning.id: learning for _, learning in pairs}
    for start in range(0, len(pairs), size):
        items = [item for item, _ in pairs[start : start + size]]
        questions = BagOfWords().embed([item.draft.question for item in items])
        answers = BagOfWords().embed([item.draft.answer for item in items])
        out += collide_items(items, learnings, questions, answers, neighbourhood)
    return out


def test_a_pair_has_one_similarity_whatever_stands_beside_it() -> None:
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(400, 2, 384)).astype(np.float32) + 2
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    neighbours = [neighbour_of_item(*made(f"answer {n}")) for n in range(400)]
    alone, together = Neighbourhood(), Neighbourhood()
    together.add(neighbours[:-1], vectors[:-1, 0], vectors[:-1, 1])
    alone.add(neighbours[:1], vectors[:1, 0], vectors[:1, 1])
    new = memory_id("lrn", 0)
    (one,) = alone.near(new, *vectors[-1])
    together.prefetch([new], vectors[-1:, 0], vectors[-1:, 1])
    assert one in together.near(new, *vectors[-1])
