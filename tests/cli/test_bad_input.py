"""Whatever goes wrong, a command ends with one line that says so and what to run next; nothing partial is left."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orgmem.settings import Settings

ORGMEM = Path(sys.executable).with_name("orgmem")
NOBODY = 65534
ROW = {"id": "1", "repo": "acme/a", "path": "CLAUDE.md", "date": "2026-03-01T12:00:00+00:00", "before": ""}
GOOD = json.dumps({**ROW, "after": "Run `make seed` first.\n"})
VERBS = (
    ("import", "FILE"),
    ("validate", "FILE"),
    ("curate",),
    ("search", "how do I run the tests"),
    ("show", "mem_000000000000000000000000"),
    ("gate", "FILE"),
    ("gate", "--batch", "FILE"),
    ("snapshot",),
    ("sql", "select 1"),
)
OF_FILES = tuple(verb for verb in VERBS if "FILE" in verb)


def run(
    home: Path, *words: str, before: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ORGMEM_", "PREFECT_HOME"))}
    return subprocess.run(
        [*before, ORGMEM, *words],
        env={**clean, "ORGMEM_HOME": str(home), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd="/",
    )


def said_in_one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The line on standard error, once it is known to be one and to name a next step."""
    assert done.returncode in {1, 2, 3, 4}, (done.returncode, done.stdout)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    assert "; next: " in lines[0]
    assert "a mistake of ours" not in lines[0]
    return lines[0]


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "locks" not in path.parts]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("inputs")
    made = {
        "missing": folder / "missing.jsonl",
        "folder": folder,
        "binary": folder / "binary.jsonl",
        "half": folder / "half.jsonl",
        "wrong types": folder / "types.jsonl",
        "truncated gzip": folder / "truncated.jsonl.gz",
        "a 50 MB line": folder / "long.jsonl",
    }
    made["binary"].write_bytes(bytes(range(256)) * 64)
    made["half"].write_text(GOOD[:40] + "\n")
    made["wrong types"].write_text(json.dumps({**ROW, "date": 7, "after": ["a"]}) + "\n")
    made["truncated gzip"].write_bytes(gzip.compress((GOOD + "\n").encode() * 500)[:-20])
    with made["a 50 MB line"].open("w") as file:
        file.write('{"after": "' + "x" * 50_000_000)
    return made


@pytest.mark.parametrize("verb", OF_FILES, ids=" ".join)
@pytest.mark.parametrize("kind", ["missing", "folder", "binary", "truncated gzip"])
def test_a_file_that_is_none_of_ours_is_one_line_and_leaves_nothing(
    kind: str, verb: tuple[str, ...], inputs: dict[str, Path], tmp_path: Path
) -> None:
    done = run(tmp_path / "home", *(str(inputs[kind]) if word == "FILE" else word for word in verb))
    said_in_one_line(done)
    assert files_below(tmp_path / "home") == []


@pytest.mark.parametrize("kind", ["half", "wrong types", "a 50 MB line"])
def test_a_bad_row_is_kept_with_its_reason_and_the_rest_goes_on(
    kind: str, inputs: dict[str, Path], tmp_path: Path
) -> None:
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_bytes((GOOD + "\n").encode() + inputs[kind].read_bytes().rstrip() + b"\n")
    done = run(tmp_path / "home", "import", str(mixed), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"read": 2, "new": 1, "seen": 0, "rejected": 1}
    assert len(done.stderr.strip().splitlines()) == 1
    (kept,) = (tmp_path / "home" / "default" / "staging").glob("rej_*.json")
    reject = json.loads(kept.read_text())
    assert (reject["source"], reject["line"]) == ("mixed.jsonl", 2)
    assert reject["reason"]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_an_unknown_setting_is_named(verb: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path / "home", *verb, ORGMEM_COLOUR="red")
    assert done.returncode == 4
    assert "ORGMEM_COLOUR" in said_in_one_line(done)


@pytest.mark.parametrize("toml", ["batch_size = 'many'", "colour = 'red'", "not toml ["])
def test_a_bad_settings_file_is_named(toml: str, tmp_path: Path) -> None:
    (tmp_path / "orgmem.toml").write_text(toml)
    done = run(tmp_path, "snapshot")
    assert done.returncode == 4
    said_in_one_line(done)


def test_an_error_is_json_where_json_was_asked_for(tmp_path: Path) -> None:
    done = run(tmp_path / "home", "import", "/nowhere.jsonl", "--json")
    error = json.loads(done.stdout)["error"]
    assert set(error) == {"code", "message", "hint"}
    assert done.returncode == 3
    assert done.stderr == ""


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_folder_without_rights_is_one_line(verb: tuple[str, ...], tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    plain: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root without setpriv can't give up its rights")
        os.chown(closed, NOBODY, NOBODY)
        plain = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    else:
        closed.chmod(0o000)
    said_in_one_line(run(closed / "home", *verb, before=plain))
    closed.chmod(0o700)
    assert list(closed.iterdir()) == []


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Leave so many bytes free."""
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    ballast.write_bytes(b"\0" * max(0, free - leave))
    return ballast


@as_root
def test_a_disk_that_fills_up_during_import_leaves_nothing_staged(small_disk: Path, checkout: Path) -> None:
    fill(small_disk, leave=100_000)
    done = run(small_disk / "home", "import", str(checkout / "examples" / "acme" / "revisions.jsonl"))
    assert "No space left" in said_in_one_line(done)
    assert files_below(small_disk / "home") == []


@as_root
@pytest.mark.parametrize("leave", [50_000, 1_500_000, 3_000_000])
def test_a_disk_that_fills_up_during_curation_loses_nothing(
    leave: int, small_disk: Path, checkout: Path, prefect_server: str
) -> None:
    home = small_disk / "home"
    run(home, "import", str(checkout / "examples" / "acme" / "revisions.jsonl"))
    ballast = fill(small_disk, leave)
    done = run(home, "curate", PREFECT_API_URL=prefect_server)
    if done.returncode:
        assert "No space left" in said_in_one_line(done)
    ballast.unlink()
    done = run(home, "curate", "--json", PREFECT_API_URL=prefect_server)
    assert done.returncode == 0, done.stderr
    learnings = json.loads(done.stdout)["learnings"]
    assert learnings["captured"] == 74
    assert learnings["pending"] == learnings["failed"] == 0


@pytest.mark.parametrize(
    "home", ["s3://bucket/orgmem", "", "~nobody-of-that-name/x", "/tmp/what?", "/tmp/100%41", "/tmp/a\nb"]
)
def test_a_home_that_cannot_be_used_is_a_configuration_error_and_makes_nothing(home: str, tmp_path: Path) -> None:
    done = run(tmp_path, "snapshot", ORGMEM_HOME=home)
    assert done.returncode == 4
    said_in_one_line(done)


def test_a_secret_or_an_escape_in_a_name_is_not_echoed(tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE5fG7hI9kL1mN3pQ5rS7tU9vW1xY3z01"
    done = run(tmp_path / "home", "import", f"/nowhere/\x1b[31m{token}.jsonl")
    assert token not in said_in_one_line(done)
    assert "\x1b" not in done.stderr


def test_the_version_is_printed(tmp_path: Path) -> None:
    done = run(tmp_path / "home", "--version")
    assert done.stdout.startswith("orgmem ")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_with_a_very_long_name_in_staging_stops_nothing(tmp_path: Path, prefect_server: str) -> None:
    staging = tmp_path / "home" / "default" / "staging"
    staging.mkdir(parents=True)
    (staging / ("\U0001f600" * 60 + ".json")).write_text("{}")
    done = run(tmp_path / "home", "curate", "--json", PREFECT_API_URL=prefect_server)
    assert done.returncode == 0, done.stderr
    assert len(list((staging / "rejected").iterdir())) == 1


def test_a_dropped_reject_is_masked_before_it_is_loaded(tmp_path: Path, prefect_server: str) -> None:
    from orgmem.store.lake import Lake
    from orgmem.store.rejects import reject
    from tests.samples import OBSERVED

    token = "ghp_" + "aB3dE5fG7hI9kL1mN3pQ5rS7tU9vW1xY3z01"
    row = reject("a.jsonl", 1, "why", b"x", rejected_at=OBSERVED)
    row = row.model_copy(update={"raw": token, "reason": token})
    staging = tmp_path / "home" / "default" / "staging"
    staging.mkdir(parents=True)
    (staging / f"{row.id}.json").write_text(row.model_dump_json())
    run(tmp_path / "home", "curate", PREFECT_API_URL=prefect_server)
    (kept,) = Lake(Settings(home=tmp_path / "home")).rows("rejects").to_pylist()
    assert token not in json.dumps(kept, default=str)
