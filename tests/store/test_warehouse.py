"""The snapshot file: it adds up, explains itself, names nobody, and is the old or the new, never a part."""

import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from orgmem.errors import StoreError
from orgmem.settings import Settings
from orgmem.store.lake_tables import SCHEMAS
from orgmem.store.memory_rows import LINKS, MEMORIES
from orgmem.store.staging import Staging
from orgmem.store.warehouse import ASIDE, Sources, ask, preview_snapshot, write_snapshot
from orgmem.text.trust import trust_score
from schemas.disposition import Decision, Stage
from schemas.learning import Learning
from schemas.memory import TrustEvidence
from schemas.session_count import SessionCount
from schemas.snapshot import TABLES, VIEWS, columns
from tasks.snapshot import count_rows, end_rows
from tasks.tally import ends, tally
from tests.histories import ALL_THE_WAY, history, learning_number
from tests.samples import OBSERVED, a_learning

TAKEN = datetime(2026, 11, 30, 5, tzinfo=UTC)
EVERYTHING = 10_000
HISTORIES = [
    *history(0, Decision.ENRICHED, [ALL_THE_WAY, (Decision.DROPPED,)]),
    *history(1, Decision.ENRICHED, [(Decision.QUARANTINED,), (Decision.PASSED, Decision.FAILED)]),
    *history(2, Decision.REJECTED),
    *history(3, Decision.REJECTED),
    *history(4, Decision.ENRICHED, [(*ALL_THE_WAY[:3], Decision.DUPLICATE)]),
    *history(5, None),
]
IDS = [learning_number(number) for number in range(6)]


def rows(schema: pa.Schema, records: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(records, schema=schema)


def learning_row(number: int, **changes: Any) -> dict[str, Any]:
    learning: Learning = a_learning(f"Learning number {number}.\n", contributor="person-7", commit="c0ffee")
    return learning.model_dump(by_alias=True) | changes


def memory_row(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"mem_{number:024x}",
        "learning_id": IDS[0],
        "ordinal": number,
        "project": "acme/payments",
        "question": "How do I run the tests?",
        "answer": "Run `pytest -x`.",
        "tools": ["pytest"],
        "types": ["command"],
        "caveats": [],
        "heading_path": ["Testing"],
        "state": "live",
        "has_example": True,
        "has_caveats": False,
        "agent_up": 0,
        "agent_down": 0,
        "human_up": 0,
        "human_down": 0,
        "observed_at": OBSERVED,
        "created_at": OBSERVED,
        "patch": "@@ -1 +1 @@ secret patch",
        "contributor": "person-7",
        "security_scan": "{}",
    } | changes


def a_hunk_row(number: int) -> dict[str, Any]:
    return {
        "learning_id": IDS[number],
        "ordinal": 0,
        "heading_path": ["A", "B"],
        "before": "",
        "after": "one\ntwo\nthree",
    }


HUNKS: dict[str, pa.DataType] = {
    "learning_id": pa.string(),
    "ordinal": pa.int64(),
    "heading_path": pa.list_(pa.string()),
    "before": pa.string(),
    "after": pa.string(),
}


def a_link_row(source: int, target: int, kind: str) -> dict[str, Any]:
    return {"source": f"mem_{source:024x}", "target": f"mem_{target:024x}", "kind": kind, "score": 0.5}


ORIGINS = ("hook", "sync", "import", "import", "backfill", "propose")
LEARNINGS = [
    learning_row(number, origin=origin, approved_at=OBSERVED + timedelta(days=number))
    for number, origin in enumerate(ORIGINS)
]
SIGHTINGS = [{"id": key, "learning_id": IDS[0], "origin": "hook", "observed_at": OBSERVED} for key in "ab"]
REJECT = {"id": "rej_1", "source": "x.jsonl", "line": 3, "reason": "path", "raw": "raw text", "size": 8}
MEMORIES_STORED = [
    memory_row(0, tools=["pytest", "docker"]),
    memory_row(1, project="acme/web"),
    memory_row(2, state="superseded", superseded_by=f"mem_{1:024x}", tools=["make"]),
    memory_row(3, tools=["docker"], has_caveats=True, agent_up=3, human_up=1, confirmed_at=TAKEN),
]
LINKS_STORED = [a_link_row(0, 1, "related"), a_link_row(0, 2, "supersedes"), a_link_row(1, 0, "refines")]


@pytest.fixture
def sources() -> Sources:
    """Six learnings, one of each outcome at least, and four memories."""
    return Sources(
        learnings=rows(SCHEMAS["learnings"], LEARNINGS),
        hunks=rows(pa.schema(HUNKS), [a_hunk_row(0)]),
        sightings=rows(SCHEMAS["sightings"], SIGHTINGS),
        rejects=rows(SCHEMAS["rejects"], [REJECT | {"rejected_at": TAKEN}]),
        dispositions=rows(SCHEMAS["dispositions"], [word.model_dump() for word in HISTORIES]),
        memories=rows(MEMORIES, MEMORIES_STORED),
        links=rows(LINKS, LINKS_STORED),
        ends=end_rows(ends(IDS, HISTORIES)),
        counts=count_rows([]),
    )


def answer(settings: Settings, query: str) -> tuple[tuple[object, ...], ...]:
    return ask(settings, query, EVERYTHING).rows


def test_the_figures_are_those_of_the_stores(settings: Settings, sources: Sources) -> None:
    figures = write_snapshot(settings, sources, TAKEN).model_dump(mode="json", by_alias=True)
    assert figures == {
        "taken_at": "2026-11-30T05:00:00Z",
        "window": {"from": "2026-03-01T12:00:00Z", "to": "2026-03-06T12:00:00Z"},
        "sessions": 0,
        "sessions_with_edit": 0,
        "candidates": 0,
        "approved": 3,
        "denied": 0,
        "prompts_shown": 0,
        "by_origin": {"hook": 1, "sync": 1, "backfill": 1, "import": 2, "propose": 1},
        "live_memories": 3,
        "contributed_learnings": 6,
        "productive_learnings": 1,
        "no_yield_learnings": 4,
        "pending_learnings": 1,
        "curated_memories": 4,
        "memories_per_productive_learning": 4.0,
        "memories_with_links": 2,
        "semantic_links": 2,
        "tools": 2,
        "no_yield_by_stage": {"enrich": 2, "gate": 0, "trust": 1, "tag": 0, "collide": 1, "persist": 0},
        "unknown": ["sessions", "sessions_with_edit", "candidates", "denied", "prompts_shown"],
    }
    assert list(figures["no_yield_by_stage"]) == list(Stage)


def test_the_views_count_as_the_tally_does(settings: Settings, sources: Sources) -> None:
    write_snapshot(settings, sources, TAKEN)
    counted = tally(IDS, HISTORIES)
    funnel = answer(settings, "FROM stage_funnel")
    assert funnel == tuple((s, c.in_, c.out, sum(c.reasons.values())) for s, c in counted.stages.items())
    reasons = answer(settings, "SELECT stage, reason, learnings FROM no_yield_reasons")
    assert set(reasons) == {(s, r, n) for s, c in counted.stages.items() for r, n in c.reasons.items()}
    outcomes = answer(settings, "SELECT outcome, count(*) FROM learnings GROUP BY ALL")
    assert {str(name): count for name, count in outcomes} == {
        k: n for k, n in counted.learnings.model_dump().items() if n and k != "captured"
    }


def test_every_row_is_what_its_model_says(settings: Settings, sources: Sources) -> None:
    write_snapshot(settings, sources, TAKEN)
    for name, model in (TABLES | VIEWS).items():
        found = ask(settings, f"FROM {name}", EVERYTHING)
        assert found.columns == tuple(columns(model)), name
        assert found.rows or name == "votes"
        for row in found.rows:
            model.model_validate(dict(zip(found.columns, row, strict=True)))


def test_every_table_view_and_column_has_a_comment(settings: Settings, sources: Sources) -> None:
    write_snapshot(settings, sources, TAKEN)
    tables = answer(
        settings,
        "SELECT table_name, comment FROM duckdb_tables() UNION ALL "
        "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal",
    )
    assert {name for name, _ in tables} == {*TABLES, *VIEWS}
    assert all(comment for _, comment in tables)
    named = answer(settings, "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal")
    assert len(named) > 100
    assert not [(table, column) for table, column, comment in named if not comment]


def test_nothing_tells_who_contributed_or_what_was_changed(settings: Settings, sources: Sources) -> None:
    write_snapshot(settings, sources, TAKEN)
    named = answer(settings, "SELECT DISTINCT column_name FROM duckdb_columns() WHERE NOT internal")
    forbidden = {
        "contributor",
        "identity",
        "voter",
        "patch",
        "security_scan",
        "raw",
        "before",
        "after",
        "commit",
    }
    assert not {name for (name,) in named} & forbidden
    content = settings.snapshot_file.read_bytes()
    for text in (b"person-7", b"secret patch", b"raw text", b"three", b"c0ffee"):
        assert text not in content


def test_hunks_are_known_by_their_size(settings: Settings, sources: Sources) -> None:
    write_snapshot(settings, sources, TAKEN)
    assert answer(settings, "SELECT * EXCLUDE (learning_id) FROM hunks") == ((0, 2, 0, 3, 0, 13),)


def test_trust_in_sql_is_trust_in_python(settings: Settings, sources: Sources) -> None:
    votes = ("agent_up", "agent_down", "human_up", "human_down")
    made = [
        memory_row(
            number,
            has_example=number % 2 == 0,
            has_caveats=number % 3 == 0,
            observed_at=TAKEN - timedelta(days=37 * number, seconds=number),
            confirmed_at=TAKEN - timedelta(days=11 * number) if number % 5 == 0 else None,
            **{name: (number * factor) % 7 for name, factor in zip(votes, (1, 2, 3, 5), strict=True)},
        )
        for number in range(40)
    ]
    write_snapshot(settings, replace(sources, memories=rows(MEMORIES, made)), TAKEN)
    found = {row[0]: row[2:] for row in answer(settings, "FROM memory_trust")}
    assert len(found) == len(made)
    for row in made:
        evidence = TrustEvidence(**{name: row[name] for name in TrustEvidence.model_fields})
        assert found[row["id"]] == pytest.approx(trust_score(evidence, TAKEN), abs=1.01e-4)


def test_every_snapshot_ever_taken_keeps_its_figures(settings: Settings, sources: Sources) -> None:
    nothing = replace(sources, **{name: getattr(sources, name).slice(0, 0) for name in ("memories", "links")})
    taken = [TAKEN + timedelta(days=day) for day in range(3)]
    earlier = [write_snapshot(settings, nothing, moment) for moment in taken[:2]]
    latest = write_snapshot(settings, sources, taken[2])
    kept = ask(settings, "FROM snapshots ORDER BY taken_at", EVERYTHING)
    read = [
        VIEWS["deployment_snapshot"].model_validate(dict(zip(kept.columns, row, strict=True))) for row in kept.rows
    ]
    assert read == [*earlier, latest]
    assert answer(settings, "SELECT taken_at FROM deployment_snapshot") == ((taken[2],),)


def test_a_snapshot_of_an_older_release_keeps_what_both_know(settings: Settings, sources: Sources) -> None:
    settings.root.mkdir(parents=True)
    with duckdb.connect(settings.snapshot_file) as old:
        old.execute(
            f"CREATE TABLE snapshots AS SELECT '{TAKEN}'::TIMESTAMPTZ AS taken_at, 7 AS tools, 'x' AS gone"
        )
    write_snapshot(settings, sources, TAKEN + timedelta(days=1))
    query = "SELECT tools, live_memories FROM snapshots ORDER BY taken_at"
    assert answer(settings, query) == ((7, None), (2, 3))


def test_a_preview_gives_the_figures_and_writes_nothing(settings: Settings, sources: Sources) -> None:
    preview = preview_snapshot(settings, sources, TAKEN)
    assert not settings.root.exists()
    assert preview == write_snapshot(settings, sources, TAKEN)


def test_the_file_opens_with_a_plain_client_of_another_process(settings: Settings, sources: Sources) -> None:
    write_snapshot(settings, sources, TAKEN)
    script = (
        "import duckdb, sys; db = duckdb.connect(sys.argv[1])\n"
        f"for name in {[*TABLES, *VIEWS]!r}: db.execute(f'FROM {{name}}').fetchall()\n"
        "other = duckdb.connect(); other.execute(f\"ATTACH '{sys.argv[2]}' AS kept (READ_ONLY)\")\n"
        f"for name in {[*TABLES, *VIEWS]!r}: other.execute(f'FROM kept.{{name}}').fetchall()\n"
    )
    copy = settings.root / "copy.duckdb"
    copy.write_bytes(settings.snapshot_file.read_bytes())
    subprocess.run([sys.executable, "-I", "-c", script, settings.snapshot_file, copy], check=True)


def test_a_file_that_is_no_snapshot_is_neither_read_nor_overwritten(settings: Settings, sources: Sources) -> None:
    settings.root.mkdir(parents=True)
    settings.snapshot_file.write_bytes(b"not a database, but somebody's file" * 1000)
    for use in (lambda: write_snapshot(settings, sources, TAKEN), lambda: ask(settings, "SELECT 1", 1)):
        with pytest.raises(StoreError, match="can't read the snapshot") as caught:
            use()
        assert caught.value.hint.startswith("mv ")
    assert settings.snapshot_file.read_bytes().startswith(b"not a database")
    assert not list(settings.root.glob(f"{ASIDE}*"))


def test_what_a_killed_writer_left_is_cleaned_away(settings: Settings, sources: Sources) -> None:
    settings.root.mkdir(parents=True)
    for name in (ASIDE, f"{ASIDE}.wal"):
        (settings.root / name).write_bytes(b"half")
    (settings.root / f"{ASIDE}.tmp").mkdir()
    (settings.root / f"{ASIDE}.tmp" / "spilled").write_bytes(b"half")
    write_snapshot(settings, sources, TAKEN)
    assert sorted(path.name for path in settings.root.iterdir()) == ["locks", "snapshot.duckdb"]
    assert answer(settings, "SELECT count(*) FROM memories") == ((4,),)


WRITER = """
import pickle, sys
from datetime import UTC, datetime
from pathlib import Path
from orgmem.settings import Settings
from orgmem.store.warehouse import write_snapshot
home, pickled, times = sys.argv[1:]
sources = pickle.loads(Path(pickled).read_bytes())
print("ready", flush=True)
for _ in range(int(times)):
    write_snapshot(Settings(home=Path(home)), sources, datetime.now(UTC))
"""


def start_writer(settings: Settings, sources: Sources, tmp_path: Path, times: int) -> "subprocess.Popen[bytes]":
    """Another process that writes so many snapshots; returns when it is about to write the first."""
    (tmp_path / "sources").write_bytes(pickle.dumps(sources))
    command = [sys.executable, "-P", "-c", WRITER, str(settings.home), str(tmp_path / "sources"), str(times)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert writer.stdout
    writer.stdout.readline()
    return writer


def test_a_writer_killed_anywhere_leaves_a_whole_snapshot(
    settings: Settings, sources: Sources, tmp_path: Path
) -> None:
    write_snapshot(settings, sources, TAKEN)
    writer = start_writer(settings, sources, tmp_path, times=1_000)
    partly = 0
    while partly < 3:  # until it was seen in the middle of writing so many times
        while not (settings.root / ASIDE).exists():
            assert writer.poll() is None
        writer.send_signal(signal.SIGSTOP)
        partly += (settings.root / ASIDE).exists()
        assert answer(settings, "SELECT live_memories FROM deployment_snapshot") == ((3,),)
        writer.send_signal(signal.SIGCONT if partly < 3 else signal.SIGKILL)
    writer.communicate()
    assert answer(settings, "SELECT count(*) FROM memories") == ((4,),)
    write_snapshot(settings, sources, TAKEN + timedelta(days=400))
    assert not list(settings.root.glob(f"{ASIDE}*"))


def test_two_writers_at_once_both_finish_and_both_are_kept(
    settings: Settings, sources: Sources, tmp_path: Path
) -> None:
    writer = start_writer(settings, sources, tmp_path, times=3)
    for day in range(3):
        write_snapshot(settings, sources, TAKEN + timedelta(days=day))
    writer.communicate()
    assert writer.returncode == 0
    assert answer(settings, "SELECT count(*) FROM snapshots") == ((6,),)


FULL = """
import pickle, resource, sys
from datetime import UTC, datetime
from pathlib import Path
from orgmem.errors import StoreError
from orgmem.settings import Settings
from orgmem.store.warehouse import write_snapshot
sources = pickle.loads(Path(sys.argv[2]).read_bytes())
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
try:
    write_snapshot(Settings(home=Path(sys.argv[1])), sources, datetime.now(UTC))
except StoreError as error:
    print(error.message, error.hint, sep="\\n")
"""


def test_a_disk_that_takes_no_more_leaves_the_old_snapshot(
    settings: Settings, sources: Sources, tmp_path: Path
) -> None:
    write_snapshot(settings, sources, TAKEN)
    before = settings.snapshot_file.read_bytes()
    (tmp_path / "sources").write_bytes(pickle.dumps(sources))
    command = [sys.executable, "-P", "-c", FULL, str(settings.home), str(tmp_path / "sources")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told) == 2
    assert told[0].startswith("can't write the snapshot in ")
    assert told[1].startswith("df -h ")
    assert settings.snapshot_file.read_bytes() == before
    assert not list(settings.root.glob(f"{ASIDE}*"))


def test_what_clients_counted_is_in_the_figures_and_no_longer_unknown(
    settings: Settings, sources: Sources
) -> None:
    def a_session(number: int, candidates: int) -> SessionCount:
        return SessionCount(
            id=f"cnt_{number:024x}",
            version=1,
            assistant="claude-code",
            day=OBSERVED.date(),
            with_edit=candidates > 0,
            candidates=candidates,
            prompts_shown=1,
            approved=0,
            denied=min(candidates, 1),
        )

    folder = settings.staging / "counts"
    folder.mkdir(parents=True)
    for count in (a_session(1, 3), a_session(2, 0)):
        (folder / f"{count.id}.json").write_text(count.model_dump_json())
    (folder / "cnt_strange.json").write_text("{")
    counted = replace(sources, counts=count_rows(Staging(settings).session_counts()))
    figures = write_snapshot(settings, counted, TAKEN)
    assert (figures.sessions, figures.sessions_with_edit, figures.candidates) == (2, 1, 3)
    assert (figures.denied, figures.prompts_shown, figures.unknown) == (1, 2, ())
