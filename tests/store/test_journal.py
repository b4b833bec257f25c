"""The journal is a redo log: whole files, decided or forgotten."""

from datetime import UTC, datetime

import numpy as np
import pytest

from orgmem.settings import Settings
from orgmem.store.journal import Journal
from schemas.batch import StageResult
from schemas.disposition import Stage
from tests.samples import a_claim, a_disposition, a_learning

EMPTY = StageResult(items=(), dispositions=())


@pytest.fixture
def journal(settings: Settings) -> Journal:
    return Journal(settings)


def test_a_batch_is_decided_once_collide_has_written(journal: Journal) -> None:
    journal.open(a_claim(a_learning()))
    journal.write("000001", Stage.ENRICH, EMPTY)
    assert not journal.decided("000001")
    journal.write("000001", Stage.COLLIDE, EMPTY)
    assert journal.decided("000001")


def test_what_is_written_is_read_back_unchanged(journal: Journal) -> None:
    claim = a_claim(a_learning(), a_learning(path="b/CLAUDE.md"))
    journal.open(claim)
    assert journal.claim("000001") == claim
    questions = np.eye(3, 384, dtype=np.float32)
    journal.write_vectors("000001", ["mem_a", "mem_b", "mem_c"], questions, 2 * questions)
    read = journal.vectors("000001", ["mem_c", "mem_a"])
    assert np.array_equal(read[0], questions[[2, 0]])
    assert np.array_equal(read[1], 2 * questions[[2, 0]])


def test_dispositions_come_in_the_order_of_the_stages(journal: Journal) -> None:
    for stage in (Stage.COLLIDE, Stage.ENRICH, Stage.GATE):
        journal.write("000001", stage, StageResult(items=(), dispositions=(a_disposition(stage),)))
    stages = [row.stage for row in journal.dispositions("000001")]
    assert stages == [Stage.ENRICH, Stage.GATE, Stage.COLLIDE]


def test_batches_come_in_the_order_of_their_claims(journal: Journal) -> None:
    for number in (11, 2, 1):
        journal.write(f"{number:06d}", Stage.ENRICH, EMPTY)
    assert journal.batches() == ("000001", "000002", "000011")


def test_a_batch_says_how_far_it_came(journal: Journal) -> None:
    journal.open(a_claim(a_learning()))
    assert journal.reached("000001") == "claim"
    journal.write("000001", Stage.ENRICH, EMPTY)
    journal.write("000001", Stage.GATE, EMPTY)
    assert journal.reached("000001") == "gate"


def test_a_forgotten_batch_leaves_nothing(journal: Journal, settings: Settings) -> None:
    journal.write("000001", Stage.COLLIDE, EMPTY)
    journal.forget("000001")
    assert journal.batches() == ()
    assert list(settings.journal.rglob("*")) == []


def test_an_instant_keeps_its_moment_and_loses_its_zone() -> None:
    learning = a_learning(observed_at=datetime.fromisoformat("2025-01-01T02:00:00+02:00"))
    assert learning.observed_at == datetime(2025, 1, 1, tzinfo=UTC)
