"""Claims: batches in order, and what a killed run left."""

from hypothesis import given
from hypothesis import strategies as st

from orgmem.settings import Settings
from orgmem.store.journal import Journal
from schemas.batch import StageResult
from schemas.disposition import Stage
from tasks.claim import left_over, numbered

EMPTY = StageResult(items=(), dispositions=())


@given(st.lists(st.text(min_size=1), unique=True, max_size=50), st.integers(1, 12))
def test_batches_hold_every_id_once_in_order_and_none_is_too_large(ids: list[str], size: int) -> None:
    batches = numbered(tuple(ids), size)
    assert [one for _, batch in batches for one in batch] == ids
    assert all(0 < len(batch) <= size for _, batch in batches)
    assert [batch_id for batch_id, _ in batches] == sorted({batch_id for batch_id, _ in batches})


def test_decided_batches_are_left_over_and_undecided_ones_are_forgotten(settings: Settings) -> None:
    journal = Journal(settings)
    journal.write("000001", Stage.COLLIDE, EMPTY)
    journal.write("000002", Stage.TAG, EMPTY)
    assert left_over(journal) == ("000001",)
    assert journal.batches() == ("000001",)
