"""A reject keeps what helps to mend the row, and no secret."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from orgmem.store.rejects import KEPT_CHARS, Problem, in_one_line, reasons, reject
from schemas.learning import Sighting
from tests.revisions import TOKEN

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_the_raw_text_is_masked() -> None:
    assert TOKEN not in reject("a.jsonl", 1, "bad", f"use {TOKEN} here".encode(), rejected_at=NOW).raw


def test_a_secret_across_the_cut_is_masked() -> None:
    text = "word " * (KEPT_CHARS // 5 - 2)
    for shift in range(0, 44, 4):
        raw = reject(
            "a.jsonl", 1, "bad", f"{text}{' ' * shift}{TOKEN} {'more ' * 9000}".encode(), rejected_at=NOW
        ).raw
        assert len(raw) <= KEPT_CHARS
        assert "ghp_" not in raw


@given(st.binary(max_size=300))
def test_any_bytes_make_a_reject_that_survives_json(data: bytes) -> None:
    bad = reject("a.jsonl", 7, "bad", data, rejected_at=NOW)
    assert type(bad).model_validate_json(bad.model_dump_json()) == bad
    assert bad.size == len(data)


def test_the_same_row_is_the_same_reject_and_another_line_is_another() -> None:
    first, again = (reject("a.jsonl", 1, "bad", b"x", rejected_at=NOW).id for _ in range(2))
    assert first == again
    assert first != reject("a.jsonl", 2, "bad", b"x", rejected_at=NOW).id
    assert first != reject("b.jsonl", 1, "bad", b"x", rejected_at=NOW).id


def test_a_file_name_that_is_no_utf8_is_kept_readable() -> None:
    assert reject("a\udcff.jsonl", 1, "bad", b"x", rejected_at=NOW).source == "a?.jsonl"


def test_reasons_name_fields_and_never_values() -> None:
    try:
        Sighting.model_validate(
            {"learning_id": "secret-value", "origin": "secret-value", "observed_at": "secret-value"}
        )
    except ValidationError as error:
        line = in_one_line(reasons(error))
    assert "learning_id: " in line
    assert "secret-value" not in line


def test_a_long_list_of_problems_is_cut() -> None:
    problems = [Problem(f"field{number}", "wrong") for number in range(8)]
    assert in_one_line(problems).endswith("field4: wrong; and 3 more")
