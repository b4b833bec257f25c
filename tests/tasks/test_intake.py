"""Rows come in once, masked, and whatever is no learning is kept with its reason."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from orgmem.errors import InputError
from orgmem.settings import Settings
from orgmem.store.lake import Lake
from orgmem.store.staging import Staging
from orgmem.text.diff import apply_patch
from schemas.learning import ApprovedVia, Learning, Origin, Reject
from tasks.ingest import grouped, loaded
from tasks.intake import NO_CHANGE, Imported, import_file
from tests.revisions import TOKEN, a_file, a_row

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def staged(settings: Settings) -> list[Learning | Reject]:
    staging = Staging(settings)
    found = [staging.read(name) for name in staging.names()]
    rows = [row for row in found if isinstance(row, Learning | Reject)]
    assert len(rows) == len(found)
    return rows


def take_in(tmp_path: Path, settings: Settings, *rows: dict[str, Any] | bytes, **options: Any) -> Imported:
    return import_file(a_file(tmp_path / "rows.jsonl", rows), settings, lambda: NOW, **options)


def counts(done: Imported) -> tuple[int, int, int, int]:
    return done.read, done.new, done.seen, done.rejected


def ingest_now(settings: Settings) -> None:
    staging, lake = Staging(settings), Lake(settings)
    for names in grouped(staging):
        staging.discard(loaded(staging, lake, names, lambda: NOW).files)


def test_a_row_becomes_an_approved_learning(tmp_path: Path, settings: Settings) -> None:
    row = a_row(commit="abc")
    assert counts(take_in(tmp_path, settings, row)) == (1, 1, 0, 0)
    (learning,) = staged(settings)
    assert isinstance(learning, Learning)
    assert (learning.origin, learning.approved_via, learning.approved_at) == (
        Origin.IMPORT,
        ApprovedVia.SCRIPT,
        NOW,
    )
    assert (learning.project, learning.path, learning.commit) == (row["repo"], row["path"], "abc")
    assert learning.observed_at == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert learning.external_ids == ("row-1",)
    assert apply_patch(learning.patch, row["before"]) == row["after"]


def test_importing_again_changes_nothing_before_and_after_ingest(tmp_path: Path, settings: Settings) -> None:
    rows = (a_row(), a_row(id="row-2", path="b.md"), b"no json")
    assert counts(take_in(tmp_path, settings, *rows)) == (3, 2, 0, 1)
    before = staged(settings)
    assert counts(take_in(tmp_path, settings, *rows)) == (3, 0, 2, 1)
    assert staged(settings) == before
    ingest_now(settings)
    assert counts(take_in(tmp_path, settings, *rows)) == (3, 0, 2, 1)
    assert staged(settings) == []


def test_the_same_edit_met_again_only_adds_its_names(tmp_path: Path, settings: Settings) -> None:
    again = a_row(id="row-2", commit="def", date="2026-02-01T00:00:00Z")
    assert counts(take_in(tmp_path, settings, a_row(), again, a_row())) == (3, 1, 2, 0)
    ingest_now(settings)
    third = a_row(id="row-3")
    assert counts(take_in(tmp_path, settings, third)) == (1, 0, 1, 0)
    ingest_now(settings)
    lake = Lake(settings)
    (learning,) = lake.learnings(lake.ids())
    assert learning.external_ids == ("row-2", "row-1", "row-3")
    assert (learning.commit, learning.observed_at) == ("def", datetime(2026, 2, 1, tzinfo=UTC))
    assert lake.rows("sightings").num_rows == 3


def test_a_secret_is_masked_before_anything_is_staged(tmp_path: Path, settings: Settings) -> None:
    rows = (a_row(after=f"export TOKEN={TOKEN}\n"), a_row(before=7, after=f"export TOKEN={TOKEN}\n"))
    assert counts(take_in(tmp_path, settings, *rows)) == (2, 1, 0, 1)
    assert not any(TOKEN.encode() in path.read_bytes() for path in settings.staging.iterdir())
    assert sum(row.masked for row in staged(settings) if isinstance(row, Learning)) == 1


def test_a_secret_replaced_by_another_is_no_change(tmp_path: Path, settings: Settings) -> None:
    other = TOKEN[:4] + TOKEN[4:][::-1]
    done = take_in(tmp_path, settings, a_row(before=f"key {TOKEN}\n", after=f"key {other}\n"))
    assert done.first_reason == f"line 1: {NO_CHANGE}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n", "a\n"),
        ("a\nb\n", "a\r\nb\r\n"),
        ("a", "a\n"),
        ("a\n", "\ufeffa\n"),
        ("a  \nb\n", "a\nb\n\n"),
        ("", " \n"),
    ],
)
def test_a_change_that_no_reader_sees_is_no_learning(
    tmp_path: Path, settings: Settings, before: str, after: str
) -> None:
    done = take_in(tmp_path, settings, a_row(before=before, after=after))
    assert (done.rejected, done.first_reason) == (1, f"line 1: {NO_CHANGE}")


def test_line_ends_and_byte_order_marks_do_not_make_another_learning(tmp_path: Path, settings: Settings) -> None:
    row = a_row()
    other = a_row(before="\ufeff" + row["before"].replace("\n", "\r\n"), after=row["after"].replace("\n", "\r\n"))
    assert counts(take_in(tmp_path, settings, row, other)) == (2, 1, 1, 0)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"no json", "row: Invalid JSON"),
        (json.dumps(a_row()).encode()[:60], "row: Invalid JSON"),
        (b"\xff\xfe{}", "row: Invalid JSON"),
        (b'{"repo": "\\ud800"}', "row: Invalid JSON"),
        (b"[" * 100_000, "row: Invalid JSON"),
        (b"[1]", "row: Input should be an object"),
        (a_row(repo=...), "repo: Field required"),
        (a_row(repo=""), "repo: String should have at least 1 character"),
        (a_row(path="p" * 3000), "path: String should have at most 2000 characters"),
        (a_row(before=None), "before: Input should be a valid string"),
        (a_row(date="2026-03-01T12:00:00"), "date: Input should have timezone info"),
        (a_row(date=1_700_000_000), "date: Input should be a valid datetime"),
        (a_row(date="yesterday"), "date: Input should be a valid datetime"),
        (a_row(date="0001-01-01T00:00:00+14:00"), "date: Value error, outside the years 1 to 9999 in UTC"),
    ],
)
def test_a_bad_row_is_rejected_by_field_and_stops_nothing(
    tmp_path: Path, settings: Settings, row: dict[str, Any] | bytes, reason: str
) -> None:
    done = take_in(tmp_path, settings, row, a_row())
    assert counts(done) == (2, 1, 0, 1)
    assert done.first_reason is not None
    assert done.first_reason.startswith(f"line 1: {reason}")
    (bad,) = (each for each in staged(settings) if isinstance(each, Reject))
    assert (bad.source, bad.line) == ("rows.jsonl", 1)


def test_a_row_that_is_too_long_is_rejected_with_its_size(tmp_path: Path, settings: Settings) -> None:
    small = settings.model_copy(update={"max_row_bytes": 2048})
    done = take_in(tmp_path, small, a_row(after="x" * 5_000), a_row(after="漢" * 250), a_row())
    assert counts(done) == (3, 1, 0, 2)
    sizes = {each.line: (each.size, each.reason) for each in staged(settings) if isinstance(each, Reject)}
    assert sizes[1][0] > 5_000
    assert sizes[1][1] == "row: longer than 2048 bytes"
    assert sizes[2][1] == "row: its learning is larger than 2048 bytes"


def test_a_gzip_that_is_cut_off_stages_nothing(tmp_path: Path, settings: Settings) -> None:
    file = tmp_path / "rows.jsonl.gz"
    rows = (json.dumps(a_row(path=f"{number}.md")) for number in range(300))
    file.write_bytes(gzip.compress("\n".join(rows).encode())[:-50])
    with pytest.raises(InputError):
        import_file(file, settings, lambda: NOW)
    assert list(settings.staging.iterdir()) == []


def test_a_staging_folder_that_cannot_be_made_is_an_os_error(tmp_path: Path, settings: Settings) -> None:
    file = a_file(tmp_path / "rows.jsonl", (a_row(path=f"{number}.md") for number in range(20)))
    settings.root.mkdir(parents=True)
    settings.staging.write_text("a file where the folder should be")
    with pytest.raises(FileExistsError):
        import_file(file, settings, lambda: NOW)
    assert settings.staging.is_file()


def test_a_dry_run_counts_alike_and_writes_nothing(tmp_path: Path, settings: Settings) -> None:
    rows = (a_row(), a_row(id="row-2"), b"no json")
    dry = take_in(tmp_path, settings, *rows, dry_run=True)
    assert not settings.home.exists()
    assert take_in(tmp_path, settings, *rows) == dry


def test_an_empty_file_is_read_as_nothing(tmp_path: Path, settings: Settings) -> None:
    assert counts(take_in(tmp_path, settings)) == (0, 0, 0, 0)


WORDS = st.sampled_from(["", "a\n", "# T\n", "b c\n", "ünï\n", "x" * 30 + "\n", "\0\n", "- [ ] é\r\n"])
TEXTS = st.lists(WORDS, max_size=4).map("".join)
ROWS = st.one_of(
    st.builds(
        lambda before, after, path, name: a_row(before=before, after=after, path=path, id=name),
        TEXTS,
        TEXTS,
        st.sampled_from(["a.md", "b.md"]),
        st.sampled_from([None, "x", 7]),
    ),
    st.sampled_from([b"{", b'"text"', b"\xff", json.dumps(a_row(date="never")).encode()]),
)


@effort(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ROWS, max_size=8), st.lists(ROWS, max_size=4))
def test_counts_add_up_from_import_to_lake(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[dict[str, Any] | bytes],
    second: list[dict[str, Any] | bytes],
) -> None:
    folder = tmp_path_factory.mktemp("law")
    settings = Settings(home=folder / "home")
    done = [take_in(folder, settings, *first), take_in(folder, settings, *second)]
    ingest_now(settings)
    lake = Lake(settings)
    for each, rows in zip(done, (first, second), strict=True):
        assert each.read == each.new + each.seen + each.rejected == len(rows)
    assert lake.rows("learnings").num_rows == sum(each.new for each in done)
    assert lake.rows("sightings").num_rows <= sum(each.new + each.seen for each in done)
    assert lake.rows("rejects").num_rows <= sum(each.rejected for each in done)
    assert (lake.rows("rejects").num_rows > 0) == any(each.rejected for each in done)
    assert {row["id"] for row in lake.rows("learnings").to_pylist()} == set(lake.ids())
    assert take_in(folder, settings, *second).new == 0
    assert staged(settings) == []


def test_of_two_dates_of_one_sighting_neither_is_lost(tmp_path: Path, settings: Settings) -> None:
    later = (datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(days=1)).isoformat()
    take_in(tmp_path, settings, a_row(), a_row(date=later))
    assert len(staged(settings)) == 2


@pytest.mark.parametrize("key", ["repo", "path", "id", "commit"])
def test_a_secret_in_a_name_is_masked_like_one_in_a_text(key: str, tmp_path: Path, settings: Settings) -> None:
    take_in(tmp_path, settings, a_row(**{key: f"https://pat:{TOKEN}@example.org/acme/x"}))
    (learning,) = staged(settings)
    assert TOKEN not in learning.model_dump_json()
    assert "[masked:" in learning.model_dump_json()


@pytest.mark.parametrize("key", ["repo", "path", "id", "commit"])
@pytest.mark.parametrize("text", ["a\x1b[2Jb", "a\nb", "a\u202eb", "a\x00b"])
def test_a_name_with_a_control_character_is_rejected(
    key: str, text: str, tmp_path: Path, settings: Settings
) -> None:
    assert counts(take_in(tmp_path, settings, a_row(**{key: text}))) == (1, 0, 0, 1)
