"""What becomes of a learning at enrich."""

from collections.abc import Callable
from dataclasses import dataclass

from orgmem.identity import memory_id
from orgmem.models.curator import Enriched, Enrichment, Nothing, NothingReason
from schemas.learning import Learning
from schemas.memory import Draft
from tasks.enrich import EnrichedLearning, FailedLearning, RejectedLearning, distinct, enrich_learning
from tests.samples import a_draft, a_learning


@dataclass(frozen=True)
class Scripted:
    """A curator that answers as it is told."""

    answer: Callable[[], Enrichment]
    name: str = "scripted"
    prompt_hash: str = "none"

    def enrich(self, learning: Learning) -> Enrichment:
        """The told answer, whatever the learning."""
        return self.answer()


def enrich_with(answer: Callable[[], Enrichment]) -> EnrichedLearning | RejectedLearning | FailedLearning:
    return enrich_learning(a_learning(), Scripted(answer))


def broken() -> Enrichment:
    raise KeyError("a secret of the learning")


def test_drafts_become_items_numbered_from_nought_with_ids_of_their_learning() -> None:
    drafts = (a_draft(answer="One."), a_draft(answer="Two."))
    outcome = enrich_with(lambda: Enriched(drafts))
    assert isinstance(outcome, EnrichedLearning)
    assert [item.ordinal for item in outcome.items] == [0, 1]
    assert [item.id for item in outcome.items] == [memory_id(a_learning().id, number) for number in (0, 1)]
    assert tuple(item.draft for item in outcome.items) == drafts


def test_nothing_is_a_rejection_with_the_curators_reason() -> None:
    assert enrich_with(lambda: Nothing(NothingReason.MOVED)) == RejectedLearning("moved")


def test_a_curator_that_breaks_is_a_failure_that_quotes_nothing() -> None:
    assert enrich_with(broken) == FailedLearning("KeyError")


def test_drafts_that_say_the_same_are_one_with_the_caveats_of_both() -> None:
    first = a_draft(answer="Run it  twice.", caveats=("Never at night.",))
    second = a_draft(answer="run it twice.", question="Other?", caveats=("never at night.", "Not on Mondays."))
    assert distinct((first, second)) == (
        first.model_copy(update={"caveats": ("Never at night.", "Not on Mondays.")}),
    )


def test_the_same_answer_with_another_example_is_another_draft() -> None:
    drafts: tuple[Draft, ...] = (a_draft(example="a"), a_draft(example="b"))
    assert distinct(drafts) == drafts
