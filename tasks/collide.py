"""Collide: what a new memory is to those that are already there.

Input: the items that tag handed on, with their vectors, ordered by observed_at, learning id and ordinal.
Output: the items that are new, with links, caveats and what they retire. Promise: the same items end the same
way, whatever the batch boundaries; "older" is what stands in the neighbourhood.

The figures were chosen on pairs of memories from public repositories' memory files: above 0.97 with the same
words a text is the same text; from 0.85 on, the subject is the same and a detail differs; below 0.6, little
is shared but the trade.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from orgmem.text.terms import words
from schemas.batch import Item
from schemas.disposition import Decision, Stage
from schemas.learning import Learning
from schemas.memory import Link, LinkKind
from tasks.bench import Bench
from tasks.neighbourhood import Near, Neighbour, Neighbourhood, Vectors, neighbour_of_item
from tasks.stage import Step, result_of, retryable

RULES = "collide/1"
"""Goes up with each change of what follows."""
IDENTICAL_ANSWER = 0.97
IDENTICAL_WORDS = 0.85
SAME_QUESTION = 0.7
"""Least cosine of two questions that ask about the same subject."""
SIMILAR_ANSWER = 0.85
SIMILAR_WORDS = 0.5
MOSTLY_THE_SAME_WORDS = 0.75
"""From this overlap on, short answers are alike whose vectors one changed word has driven apart."""
CONTRADICTING_WORDS = 0.65
"""Least overlap of two answers that contradict each other: siblings in a list share less."""
REPLACED_ANSWER = 0.7
"""Least cosine of an answer with the one whose lines its own edit has removed."""
REMOVED_SHARE = 0.9
"""Share of an older memory's words that the edit must have removed to have replaced it."""
NEAREST = 5
"""Neighbours that count, and links at most."""
FACTS_NAMED = 3
ITEMS_A_LOOK = 256
"""Items that are looked up at once: with 50,000 neighbours 50 MB."""

_NEGATION = re.compile(
    r"\b(?:not|never|no|cannot|avoid|without|nor|forbidden|deprecated)\b|n['\u2019]t\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Accepted:
    """New. `links` are to its neighbours, if any."""

    links: tuple[Link, ...]


@dataclass(frozen=True)
class Clarified:
    """Like another, but not in everything: `caveat` says what differs."""

    links: tuple[Link, ...]
    caveat: str


@dataclass(frozen=True)
class Duplicate:
    """Says what memory `of` says."""

    of: str
    score: float


@dataclass(frozen=True)
class Supersedes:
    """Contradicts the older memories `old`, which are retired."""

    old: tuple[str, ...]
    links: tuple[Link, ...]


Collision = Accepted | Clarified | Duplicate | Supersedes


def collide_items(
    items: Sequence[Item],
    learnings: Mapping[str, Learning],
    question_vectors: Vectors,
    answer_vectors: Vectors,
    neighbourhood: Neighbourhood,
) -> Iterator[Collision]:
    """Decide about items in their order, one outcome each. Vectors are n x dimension, learnings go by id."""
    for start in range(0, len(items), ITEMS_A_LOOK):
        piece = items[start : start + ITEMS_A_LOOK]
        questions, answers = (part[start : start + ITEMS_A_LOOK] for part in (question_vectors, answer_vectors))
        neighbourhood.prefetch([item.id for item in piece], questions, answers)
        for item, question, answer in zip(piece, questions, answers, strict=True):
            yield collide_item(item, learnings[item.learning_id], question, answer, neighbourhood)


def collide_item(
    item: Item,
    learning: Learning,
    question_vector: Vectors,
    answer_vector: Vectors,
    neighbourhood: Neighbourhood,
) -> Collision:
    """Decide about one item and let the neighbourhood know: a new memory joins it, retired ones leave it."""
    new = neighbour_of_item(item, learning)
    near = neighbourhood.near(item.id, question_vector, answer_vector)
    collision = decide(new, learning, near)
    if isinstance(collision, Duplicate):
        return collision
    if isinstance(collision, Supersedes):
        for old in collision.old:
            neighbourhood.retire(old)
    neighbourhood.add([new], question_vector[None], answer_vector[None])
    return collision


def decide(new: Neighbour, learning: Learning, near: Sequence[Near]) -> Collision:
    """What the new memory is to its neighbours, nearest first."""
    near = [one for one in near if _shares_a_tag(new, one.neighbour) or is_identical(new, one)]
    replaced = [one for one in near if is_replaced(new, one, learning)]
    twins = [one for one in near if is_identical(new, one) and one.neighbour.project == new.project]
    if twins and not replaced:
        return Duplicate(twins[0].neighbour.id, round(twins[0].similarity, 4))
    differing = [one for one in near if differs(new, one) and one not in replaced]
    links = tuple(_links(new, near, replaced, differing))
    if replaced:
        return Supersedes(tuple(one.neighbour.id for one in replaced), links)
    if differing:
        return Clarified(links, caveat_about(new, differing[0].neighbour))
    return Accepted(links)


def is_identical(new: Neighbour, one: Near) -> bool:
    """Whether both say the same in nearly the same words: no fact differs, nothing is negated."""
    old = one.neighbour
    return (
        one.answer >= IDENTICAL_ANSWER
        and one.question >= SAME_QUESTION
        and _overlap(new.words, old.words) >= IDENTICAL_WORDS
        and new.facts == old.facts
        and not _negation_differs(new, old)
    )


def is_replaced(new: Neighbour, one: Near, learning: Learning) -> bool:
    """Whether the new memory takes the place of an older one of the same file.

    Either its edit took the older one's words away, or it says the same with another value or a negation
    while the older words do not stand beside the edit, unchanged.
    """
    old = one.neighbour
    if (old.project, old.path) != (new.project, new.path) or old.learning_id == new.learning_id:
        return False
    if one.answer >= REPLACED_ANSWER and _was_removed(old, learning):
        again = is_identical(new, one) or differs(new, one)
        return new.words != old.words and (again or not _was_added(old, learning))
    close = _overlap(new.words, old.words) >= CONTRADICTING_WORDS
    return close and differs(new, one) and contradicts(new, old) and not _still_stands(old, learning)


def differs(new: Neighbour, one: Near) -> bool:
    """Whether both answer the same question alike, but for facts or a negation."""
    old, overlap = one.neighbour, _overlap(new.words, one.neighbour.words)
    alike = (one.answer >= SIMILAR_ANSWER and overlap >= SIMILAR_WORDS) or (
        one.answer >= REPLACED_ANSWER and overlap >= MOSTLY_THE_SAME_WORDS
    )
    return (
        alike
        and one.question >= SAME_QUESTION
        and old.learning_id != new.learning_id
        and (new.facts != old.facts or _negation_differs(new, old))
    )


def contradicts(new: Neighbour, old: Neighbour) -> bool:
    """Whether each has a fact that the other has not, or one negates what the other says."""
    return bool(new.facts - old.facts and old.facts - new.facts) or _negation_differs(new, old)


def caveat_about(new: Neighbour, old: Neighbour) -> str:
    """One sentence that says what differs, in words of the new memory's own learning."""
    own = sorted(new.facts - old.facts)[:FACTS_NAMED]
    what = f"differs in {', '.join(f'`{fact}`' for fact in own)}" if own else "differs in detail"
    if old.project != new.project:
        return f"Holds for {new.project}: a similar memory of {old.project} {what}."
    if old.path != new.path:
        return f"Holds for `{new.path}`: a similar memory from `{old.path}` of the same project {what}."
    return f"Another memory from `{new.path}` is similar and {what}."


def _links(
    new: Neighbour, near: Sequence[Near], replaced: Sequence[Near], differing: Sequence[Near]
) -> Iterator[Link]:
    """From the new memory to what it retires, then to the nearest others: five at most."""
    others = [one for one in near if one not in replaced]
    for one in [*replaced, *others][:NEAREST]:
        kind = LinkKind.SUPERSEDES if one in replaced else _kind(new, one, differing)
        yield Link(source=new.id, target=one.neighbour.id, kind=kind, score=round(one.similarity, 4))


def _kind(new: Neighbour, one: Near, differing: Sequence[Near]) -> LinkKind:
    old = one.neighbour
    if is_identical(new, one):
        return LinkKind.DUPLICATE_OF
    if one in differing:
        return LinkKind.CONTRADICTS if contradicts(new, old) else LinkKind.REFINES
    return LinkKind.RELATED


def _was_removed(old: Neighbour, learning: Learning) -> bool:
    removed = _words("\n".join(hunk.before for hunk in learning.hunks))
    return _share(old.words, removed) >= REMOVED_SHARE


def _was_added(old: Neighbour, learning: Learning) -> bool:
    """Whether all the old words stand in what the edit put in: moved, or cut otherwise."""
    return old.words <= _words("\n".join(hunk.after for hunk in learning.hunks))


def _still_stands(old: Neighbour, learning: Learning) -> bool:
    beside = [text for hunk in learning.hunks for text in (hunk.context_before, hunk.context_after)]
    return _share(old.words, _words("\n".join(beside))) >= REMOVED_SHARE


@lru_cache(maxsize=16)  # the items of one learning ask for the same few
def _words(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part & whole) / len(part) if part else 0.0


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _negation_differs(new: Neighbour, old: Neighbour) -> bool:
    return bool(_NEGATION.search(new.text)) != bool(_NEGATION.search(old.text))


def _shares_a_tag(new: Neighbour, old: Neighbour) -> bool:
    return bool(new.tags & old.tags) or not new.tags or not old.tags


def step_of(item: Item, collision: Collision) -> Step:
    """The collision as this stage's step; what is clarified carries the caveat on."""
    match collision:
        case Accepted(links):
            onward = item.model_copy(update={"links": links})
            return Step(item.id, item.learning_id, Decision.ACCEPTED, "new", (onward,), _targets(links))
        case Clarified(links, caveat):
            draft = item.draft.model_copy(update={"caveats": (*item.draft.caveats, caveat)})
            onward = item.model_copy(update={"links": links, "draft": draft})
            return Step(item.id, item.learning_id, Decision.CLARIFIED, "similar", (onward,), _targets(links))
        case Duplicate(of, _):
            return Step(item.id, item.learning_id, Decision.DUPLICATE, "duplicate", related=(of,))
        case Supersedes(old, links):
            onward = item.model_copy(update={"links": links, "supersedes": old})
            return Step(item.id, item.learning_id, Decision.SUPERSEDES, "contradicts", (onward,), old)
        case _:
            assert_never(collision)


def _targets(links: Sequence[Link]) -> tuple[str, ...]:
    return tuple(link.target for link in links)


def unfit_step(item: Item, reason: str) -> Step:
    """An item that the checkpoint before this stage has stopped."""
    return Step(item.id, item.learning_id, Decision.FAILED, reason)


@retryable("collide")
def collide(bench: Bench, batch_id: str, unfit: Mapping[str, str]) -> None:
    """Decide about a batch; `unfit` names the expectation that an item's row has failed."""
    tagged = bench.journal.read(batch_id, Stage.TAG).items
    fit = [item for item in tagged if item.id not in unfit]
    vectors = bench.journal.vectors(batch_id, [item.id for item in fit])
    with bench.neighbourhood() as neighbourhood:
        collisions = collide_items(fit, bench.journal.claim(batch_id).by_id, *vectors, neighbourhood)
        steps = [step_of(item, collision) for item, collision in zip(fit, collisions, strict=True)]
        steps += [unfit_step(item, unfit[item.id]) for item in tagged if item.id in unfit]
        bench.journal.write(batch_id, Stage.COLLIDE, result_of(Stage.COLLIDE, steps, bench, RULES))
