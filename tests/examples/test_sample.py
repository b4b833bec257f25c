"""The sample organization is consistent: its histories are unbroken and what it plants is really there."""

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows(checkout: Path) -> list[Row]:
    text = (checkout / "examples" / "acme" / "revisions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def expected(checkout: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        (checkout / "examples" / "acme" / "expected.json").read_text(encoding="utf-8")
    )
    return data


def edit(row: Row) -> tuple[str, ...]:
    return (row["repo"], row["path"], row["before"], row["after"])


def test_three_repositories_have_at_least_66_revisions(rows: list[Row]) -> None:
    assert len(rows) >= 66
    assert {row["repo"] for row in rows} == {"acme/payments-api", "acme/shopfront", "acme/platform"}


def test_each_revision_starts_where_the_last_one_of_its_file_ended(
    rows: list[Row], expected: dict[str, Any]
) -> None:
    files: dict[tuple[str, str], str] = {}
    for row in rows:
        if row["id"] not in expected["seen_again"]:
            file = (row["repo"], row["path"])
            assert row["before"] == files.get(file, ""), row["id"]
            files[file] = row["after"]


def test_ids_and_commits_are_unique_and_dates_only_move_on(rows: list[Row]) -> None:
    for column in ("id", "commit"):
        assert len({row[column] for row in rows}) == len(rows)
    moments = [datetime.fromisoformat(row["date"]) for row in rows]
    assert all(moment.tzinfo for moment in moments)
    assert moments == sorted(moments)


def test_the_marked_duplicates_and_no_others_repeat_an_edit(rows: list[Row], expected: dict[str, Any]) -> None:
    first: dict[tuple[str, ...], str] = {}
    again = {row["id"]: first[edit(row)] for row in rows if first.setdefault(edit(row), row["id"]) != row["id"]}
    assert again == expected["seen_again"]
    assert (expected["read"], expected["new"], expected["seen"]) == (
        len(rows),
        len(rows) - len(again),
        len(again),
    )


def test_expectations_name_revisions_that_exist_and_contradict_none_of_each_other(
    rows: list[Row], expected: dict[str, Any]
) -> None:
    named = [*expected["productive"], *expected["rejected"], *expected["dropped"], *expected["seen_again"]]
    assert not [name for name, times in Counter(named).items() if times > 1]
    named += expected["masked"]
    named += [pair[end] for pair in expected["superseded"] for end in ("old", "new")]
    named += [pair[end] for pair in expected["same_fact"] for end in ("first", "again")]
    assert set(named) <= {row["id"] for row in rows}


def test_the_secret_is_where_the_expectations_say_and_nowhere_else(
    rows: list[Row], expected: dict[str, Any]
) -> None:
    token = expected["never_found"][0]
    holders = {row["id"] for row in rows if token in row["before"] + row["after"]}
    assert holders == set(expected["masked"])


def test_the_answers_that_searches_want_are_in_their_revisions(rows: list[Row], expected: dict[str, Any]) -> None:
    by_id = {row["id"]: row for row in rows}
    for search in expected["searches"]:
        row = by_id[search["source"]]
        assert search["contains"] in row["after"]
        assert search["contains"] not in row["before"]
