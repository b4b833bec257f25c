"""Items become memories with stable ids and everything that audit needs."""

from datetime import timedelta
from typing import Any

import pytest

from schemas.batch import Item
from schemas.memory import Link, LinkKind, Tags
from tasks.persist import links_of, superseded_by, to_memories
from tests.samples import OBSERVED, a_claim, a_learning, a_memory, an_item

LEARNING = a_learning(external_ids=("row-1", "row-2"), contributor="person-1")
CLAIM = a_claim(LEARNING)
NOW = OBSERVED + timedelta(days=3)


def ready(ordinal: int = 0, **changes: Any) -> Item:
    fields: dict[str, Any] = {
        "verdict": a_memory().security_scan,
        "tags": Tags(tools=("git",), types=("command",)),
    }
    return an_item(ordinal, LEARNING, **{**fields, **changes})


def test_a_memory_has_its_items_id_and_its_learnings_provenance() -> None:
    first, second = to_memories([ready(0), ready(1)], CLAIM, NOW)
    assert (first.id, second.id) == (ready(0).id, ready(1).id)
    assert first.patch == LEARNING.patch
    assert first.contributor == "person-1"
    assert [source.external_id for source in first.sources] == ["row-1", "row-2"]
    assert (first.observed_at, first.created_at) == (OBSERVED, NOW)
    assert (first.tools, first.types) == (("git",), ("command",))
    assert (first.curator, first.prompt_hash) == ("builtin/1", "rules")


def test_a_learning_without_a_name_elsewhere_is_one_source() -> None:
    learning = a_learning("Other words.\n")
    claim = a_claim(learning)
    item = ready().model_copy(update={"learning_id": learning.id})
    (memory,) = to_memories([item], claim, NOW)
    assert [source.external_id for source in memory.sources] == [None]


@pytest.mark.parametrize("missing", ["verdict", "tags", "trust"])
def test_an_item_that_has_missed_a_stage_is_refused(missing: str) -> None:
    with pytest.raises(ValueError, match="lacks"):
        to_memories([ready().model_copy(update={missing: None})], CLAIM, NOW)


def test_the_first_that_retires_a_memory_is_its_successor() -> None:
    old = ready(7).id
    items = [ready(0, supersedes=(old,)), ready(1, supersedes=(old,))]
    assert superseded_by(items) == {old: ready(0).id}


def test_links_are_those_of_all_items() -> None:
    link = Link(source=ready(0).id, target=ready(1).id, kind=LinkKind.RELATED, score=0.7)
    assert links_of([ready(0, links=(link,)), ready(1)]) == (link,)
