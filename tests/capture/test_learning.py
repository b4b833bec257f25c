"""A candidate becomes the learning that ingest takes, whatever its texts are."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem import __version__
from orgmem.capture.changes import Place, Source, change_of
from orgmem.capture.learning import learning_of
from orgmem.capture.state.candidates import APPROVED, Candidate
from orgmem.errors import IntegrityError
from orgmem.identity import learning_id
from orgmem.store.staging import parse_learning
from orgmem.text.diff import apply_patch
from schemas.learning import ApprovedVia, Learning, Origin
from tests.capture.client import START, a_change
from tests.revisions import TOKEN

LINES = ("# Büro\n", "- run `make`\n", "漢字\n", "a\ab\n", f"token {TOKEN}\n", "\r\n", "\n", "\u2028x\n", "no end")


def test_a_learning_says_where_it_comes_from_and_who_let_it_go() -> None:
    change = a_change(1, commit_id="abc")
    learning = learning_of(Candidate(7, change, APPROVED, "question"), approved_at=START + 60)
    assert learning.id == change.learning_id
    assert (learning.origin, learning.approved_via) == (Origin.HOOK, ApprovedVia.QUESTION)
    assert learning.observed_at == datetime.fromtimestamp(START, UTC)
    assert learning.approved_at == datetime.fromtimestamp(START + 60, UTC)
    assert (learning.project, learning.path, learning.commit) == ("github.com/acme/shop", "CLAUDE.md", "abc")
    assert learning.client == f"orgmem {__version__}"
    assert apply_patch(learning.patch, "# Shop\n") == "# Shop\n- rule 1\n"


def test_a_candidate_whose_text_is_another_than_its_id_says_is_refused() -> None:
    altered = a_change(1, after="# Shop\nforged\n")
    with pytest.raises(IntegrityError, match="texts of candidate 7"):
        learning_of(Candidate(7, altered, APPROVED, "terminal"), approved_at=START)


def test_a_candidate_that_nobody_approved_is_no_learning() -> None:
    with pytest.raises(IntegrityError, match="no approval"):
        learning_of(Candidate(7, a_change(1), "pending"), approved_at=START)


@given(*[st.lists(st.sampled_from(LINES), max_size=9).map("".join)] * 2)
def test_every_candidate_is_a_learning_that_ingest_takes(before: str, after: str) -> None:
    place = Place("github.com/acme/shop", "docs/CLAUDE.md", "/shop", "/shop/docs/CLAUDE.md")
    change = change_of(place, before.encode(), after.encode(), Source("hook", "s1", START))
    if change is None:
        return
    learning = learning_of(Candidate(1, change, APPROVED, "terminal"), approved_at=START)
    assert parse_learning(learning.model_dump_json().encode()) == learning
    assert isinstance(learning, Learning)
    assert apply_patch(learning.patch, change.before) == change.after
    assert learning.id == learning_id(change.project, change.path, change.before, change.after)
    assert TOKEN not in learning.model_dump_json()
    assert learning_of(Candidate(2, change, APPROVED, "terminal"), approved_at=START) == learning
