"""A staged file is there whole or not at all, and never lost."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from orgmem.settings import Settings
from orgmem.store.rejects import reject
from orgmem.store.staging import Gone, Invalid, Staging, file_name, parse_learning, sightings_of
from schemas.learning import Learning
from tests.revisions import TOKEN
from tests.samples import OBSERVED, a_hunk, a_learning


@pytest.fixture
def staging(settings: Settings) -> Staging:
    return Staging(settings)


def drop(staging: Staging, name: str, data: bytes) -> str:
    staging.folder.mkdir(parents=True, exist_ok=True)
    (staging.folder / name).write_bytes(data)
    return name


def problems_of(found: object) -> str:
    assert isinstance(found, Invalid)
    return "; ".join(f"{field}: {message}" for field, message in found.problems)


def test_what_is_written_is_read_back(staging: Staging) -> None:
    learning = a_learning(external_ids=("row-1",), commit="abc")
    assert staging.read(staging.write(learning)) == learning


def test_the_same_sighting_is_the_same_file_and_another_is_another() -> None:
    first = a_learning(external_ids=("row-1",))
    assert file_name(first) == file_name(first.model_copy(update={"approved_at": OBSERVED + timedelta(days=9)}))
    others: list[dict[str, object]] = [
        {"external_ids": ("row-2",)},
        {"commit": "abc"},
        {"observed_at": OBSERVED + timedelta(days=1)},
    ]
    names = {file_name(first), *(file_name(first.model_copy(update=other)) for other in others)}
    assert len(names) == 4
    assert {name.partition(".")[0] for name in names} == {first.id}


def test_a_learning_is_sighted_once_for_each_external_id_or_once_without() -> None:
    assert [each.external_id for each in sightings_of(a_learning(external_ids=("a", "b")))] == ["a", "b"]
    assert [each.external_id for each in sightings_of(a_learning())] == [None]


def test_a_patch_that_says_other_lines_than_the_hunks_is_invalid() -> None:
    learning = a_learning()
    lying = learning.model_copy(update={"hunks": (a_hunk("Run `rm -rf /` first.\n"),)})
    problems = parse_learning(lying.model_dump_json().encode())
    assert isinstance(problems, tuple)
    assert [problem.field for problem in problems] == ["patch"]
    assert parse_learning(learning.model_dump_json().encode()) == learning


def test_a_patch_with_another_number_of_hunks_is_invalid() -> None:
    learning = a_learning()
    data = learning.model_copy(update={"hunks": learning.hunks * 2}).model_dump_json().encode()
    problems = parse_learning(data)
    assert isinstance(problems, tuple)
    assert "patch has 1 hunks, hunks has 2" in problems[0].message


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "row: Invalid JSON"),
        (b"\xff\xfe", "row: Invalid JSON"),
        (b"[]", "row: Input should be an object"),
        (b'{"schema": 2}', "schema: Input should be 1"),
        (b'{"id": "lrn_1"}', "id: String should match pattern"),
        (b'{"surprise": 1}', "surprise: Extra inputs are not permitted"),
    ],
)
def test_an_invalid_file_says_what_is_wrong_by_field(staging: Staging, data: bytes, problem: str) -> None:
    assert problem in problems_of(staging.read(drop(staging, "x.json", data)))


def test_a_file_that_is_too_large_is_invalid_with_its_whole_size_and_hash(settings: Settings) -> None:
    staging = Staging(settings.model_copy(update={"max_row_bytes": 1024}))
    found = staging.read(drop(staging, "x.json", b"x" * 5000))
    assert isinstance(found, Invalid)
    assert (found.size, len(found.data)) == (5000, 1025)
    assert found.sha256 == reject("x.json", None, "", b"x" * 5000, rejected_at=OBSERVED).sha256
    assert "file: larger than 1024 bytes" in problems_of(found)


def test_a_file_that_another_run_has_taken_is_gone(staging: Staging) -> None:
    assert staging.read("x.json") == Gone()


def test_unfinished_files_folders_and_links_are_passed_over(staging: Staging, tmp_path: Path) -> None:
    for name in (".x.json", "x.json.tmp", "x.json.part", "x.json~", ".tmp-12-x.json"):
        drop(staging, name, b"{")
    (staging.folder / "rejected").mkdir()
    (staging.folder / "link.json").symlink_to(tmp_path)
    os.mkfifo(staging.folder / "pipe.json")
    drop(staging, "b.json", b"{}")
    drop(staging, "a.json", b"{}")
    assert staging.names() == ("a.json", "b.json")
    assert staging.count() == 2


def test_a_file_put_aside_leaves_its_reject_and_itself(staging: Staging) -> None:
    name = drop(staging, "x.json", b"{")
    bad = reject(name, None, "no JSON", b"{", rejected_at=OBSERVED)
    assert staging.names() == ("x.json",)
    assert (staging.set_aside(name, bad),) == staging.names() == (f"{bad.id}.json",)
    assert [path.read_bytes() for path in (staging.folder / "rejected").iterdir()] == [b"{"]
    assert staging.read(f"{bad.id}.json") == bad


def test_two_files_of_one_name_put_aside_are_both_kept(staging: Staging) -> None:
    for data in (b"{", b"["):
        bad = reject(drop(staging, "x.json", data), None, "no JSON", data, rejected_at=OBSERVED)
        staging.set_aside("x.json", bad)
    assert {path.read_bytes() for path in (staging.folder / "rejected").iterdir()} == {b"{", b"["}


def several(count: int) -> list[Learning]:
    return [a_learning(f"Line {number}.\n") for number in range(count)]


def test_a_batch_is_staged_when_it_is_published(staging: Staging) -> None:
    with staging.batch() as batch:
        for learning in several(3):
            batch.add(learning)
        assert staging.names() == ()
        batch.publish(frozenset())
    assert staging.learning_ids() == {learning.id for learning in several(3)}
    assert not list(staging.folder.glob(".*"))


def interrupted(staging: Staging) -> None:
    with staging.batch() as batch:
        batch.add(a_learning())
        raise KeyboardInterrupt


def test_a_batch_that_fails_leaves_nothing(staging: Staging) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(staging)
    assert list(staging.folder.iterdir()) == []


def stuck_at_the_last(staging: Staging) -> None:
    with staging.batch() as batch:
        for learning in several(3):
            batch.add(learning)
        last = list(batch.names)[-1]
        assert batch.aside is not None
        (batch.aside / last).unlink()
        (batch.aside / last).mkdir()  # no folder can be linked
        batch.publish(frozenset())


def test_a_batch_that_cannot_be_published_takes_back_what_it_had_staged(staging: Staging) -> None:
    with pytest.raises(PermissionError):
        stuck_at_the_last(staging)
    assert staging.names() == ()


def test_a_batch_skips_what_is_staged_and_what_the_lake_knows(staging: Staging) -> None:
    staged, known, new = several(3)
    name = staging.write(staged)
    before = (staging.folder / name).stat().st_ino
    with staging.batch() as batch:
        for learning in (staged, known, new):
            batch.add(learning)
        batch.publish(frozenset(each.id for each in sightings_of(known)))
    assert set(staging.names()) == {name, file_name(new)}
    assert (staging.folder / name).stat().st_ino == before


def test_a_dry_run_writes_nothing(staging: Staging) -> None:
    with staging.batch(dry_run=True) as batch:
        batch.add(a_learning())
        batch.publish(frozenset())
        assert len(batch.ids()) == 1
    assert not staging.folder.exists()


def test_what_a_killed_writer_left_goes_after_a_day(staging: Staging) -> None:
    staging.folder.mkdir(parents=True)
    old, fresh = staging.folder / ".tmp-old", staging.folder / ".tmp-fresh"
    for folder in (old, fresh):
        folder.mkdir()
        (folder / "x.json").touch()
    os.utime(old, (0, 0))
    with staging.batch():
        pass
    assert (old.exists(), fresh.exists()) == (False, True)


@pytest.mark.parametrize("field", ["project", "path", "commit", "contributor", "hunks"])
def test_a_file_of_another_program_that_holds_a_secret_is_set_aside(field: str, staging: Staging) -> None:
    if field == "hunks":
        learning = a_learning(f"Log in with {TOKEN} first.\n")
    else:
        learning = a_learning().model_copy(update={field: TOKEN})
    found = staging.read(drop(staging, "hook.json", learning.model_dump_json().encode()))
    assert problems_of(found).startswith(f"{field}: holds what looks like a secret")
