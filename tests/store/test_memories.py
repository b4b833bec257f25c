"""The memory tables: idempotent upserts, searches without syntax, nothing that a reader may not see."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from orgmem.errors import StoreError
from orgmem.settings import Settings
from orgmem.store.memories import MemoryStore, Scope
from orgmem.store.memory_rows import GOVERNANCE, MEMORIES, stored_columns
from schemas.memory import Link, LinkKind, Memory, ShownMemory, State
from tests.fakes import BagOfWords
from tests.samples import OBSERVED, a_learning, a_memory

ANYWHERE = Scope()
EMBEDDER = BagOfWords()


def keep(store: MemoryStore, memories: Sequence[Memory], **more: object) -> None:
    questions = EMBEDDER.embed([memory.question for memory in memories])
    answers = EMBEDDER.embed([memory.answer for memory in memories])
    store.apply(memories, questions, answers, **more)  # type: ignore[arg-type]


def some(number: int, **changes: Any) -> list[Memory]:
    return [a_memory(n, question=f"How do I build part{n}?", **changes) for n in range(number)]


@pytest.fixture
def store(settings: Settings) -> MemoryStore:
    return MemoryStore(settings)


def test_a_store_without_tables_reads_as_empty_and_makes_none(store: MemoryStore, settings: Settings) -> None:
    vector = EMBEDDER.embed(["x"])[0]
    assert store.count() == 0
    assert store.get(["mem_x"]) == ()
    assert store.links_of(["mem_x"]) == ()
    assert list(store.live()) == []
    assert store.text_search("x", ANYWHERE, 5) == ()
    assert store.vector_search("question_vector", vector, ANYWHERE, 5) == ()
    assert store.tags().tools == ()
    assert store.rows("memories").num_rows == 0
    store.index()
    store.optimise()
    assert not settings.tables.exists()


def test_a_memory_comes_back_as_it_was_written(store: MemoryStore) -> None:
    memories = [
        a_memory(0, caveats=("Not on Windows.",), answer="quotes ' and \" and \u4f60\u597d"),
        a_memory(1, example=None, tools=(), contributor=None),
    ]
    keep(store, memories)
    assert store.get([memories[1].id, "mem_unknown", memories[0].id]) == (memories[1], memories[0])


def test_what_readers_see_has_no_governance_field(store: MemoryStore) -> None:
    keep(store, [a_memory()])
    (shown,) = store.shown([a_memory().id])
    assert type(shown) is ShownMemory
    assert set(ShownMemory.model_fields) & set(GOVERNANCE) == set()
    assert set(stored_columns(ShownMemory)) & set(GOVERNANCE) == set()


def test_no_index_stands_on_a_governance_column(store: MemoryStore) -> None:
    keep(store, some(5))
    store.index()
    indexed = {column for index in store._tables.open("memories").list_indices() for column in index.columns}
    assert indexed == {"id", "project", "state", "tools", "types", "search_words"}


def test_governance_text_is_not_found_by_search(store: MemoryStore) -> None:
    keep(store, [a_memory(contributor="zanzibar", curator="zanzibar", prompt_hash="zanzibar")])
    store.index()
    assert store.text_search("zanzibar", ANYWHERE, 5) == ()


def test_applying_a_batch_again_changes_no_row_and_commits_nothing(store: MemoryStore) -> None:
    memories = some(3)
    links = [Link(source=memories[1].id, target=memories[0].id, kind=LinkKind.RELATED, score=0.5)]
    keep(store, memories, links=links, superseded={memories[0].id: memories[2].id})
    before = [store.rows(name) for name in ("memories", "links", "tags")]
    version = store._tables.open("memories").version
    later = [memory.model_copy(update={"created_at": OBSERVED + timedelta(days=9)}) for memory in memories]
    keep(store, later, links=links, superseded={memories[0].id: memories[2].id})
    assert [store.rows(name) for name in ("memories", "links", "tags")] == before
    assert store._tables.open("memories").version == version


def test_a_replay_undoes_nothing_that_came_later(store: MemoryStore) -> None:
    first, second = some(2)
    keep(store, [first])
    keep(store, [second], superseded={first.id: second.id})
    keep(store, [first])
    (stored,) = store.get([first.id])
    assert (stored.state, stored.superseded_by) == (State.SUPERSEDED, second.id)


def test_the_first_that_retires_a_memory_stays_its_successor(store: MemoryStore) -> None:
    first, second, third = some(3)
    keep(store, [first, second], superseded={first.id: second.id})
    keep(store, [third], superseded={first.id: third.id})
    assert store.get([first.id])[0].superseded_by == second.id


def test_batches_of_any_size_end_in_the_same_rows(tmp_path: Path) -> None:
    memories = some(12)
    whole, parts = (MemoryStore(Settings(home=tmp_path / name)) for name in ("whole", "parts"))
    keep(whole, memories)
    for start in range(0, 12, 5):
        keep(parts, memories[start : start + 5])
    assert whole.rows("memories") == parts.rows("memories")
    assert whole.rows("tags") == parts.rows("tags")


def test_superseded_and_retracted_memories_are_not_found(store: MemoryStore) -> None:
    old, new = some(2)
    gone = a_memory(2, question="How do I build part0?", state=State.RETRACTED)
    keep(store, [old, new, gone], superseded={old.id: new.id})
    vector = EMBEDDER.embed(["How do I build part0?"])[0]
    for hits in (
        store.text_search("build part0", ANYWHERE, 5),
        store.vector_search("question_vector", vector, ANYWHERE, 5),
    ):
        assert [hit.id for hit in hits] == [new.id]
    assert [memory.id for rows in store.live() for memory in rows.memories] == [new.id]


@pytest.mark.parametrize("indexed", [False, True])
def test_a_scope_filters_by_project_and_every_tag(store: MemoryStore, indexed: bool) -> None:
    wanted = a_memory(0, project="it's/ours", tools=("git", "uv"), types=("command",))
    others = [
        a_memory(1, tools=("git",)),
        a_memory(2, tools=("uv",)),
        a_memory(3, project="it's/ours", tools=()),
    ]
    keep(store, [wanted, *others])
    if indexed:
        store.index()
    scope = Scope(project="it's/ours", tags=("git", "command"))
    assert [hit.id for hit in store.text_search("tests", scope, 5)] == [wanted.id]
    vector = EMBEDDER.embed([wanted.answer])[0]
    assert [hit.id for hit in store.vector_search("answer_vector", vector, scope, 5)] == [wanted.id]


def test_the_nearest_memory_comes_first_with_its_cosine(store: MemoryStore) -> None:
    memories = some(4)
    keep(store, memories)
    vector = EMBEDDER.embed([memories[2].question])[0]
    hits = store.vector_search("question_vector", vector, ANYWHERE, 3)
    assert hits[0].id == memories[2].id
    assert hits[0].score == pytest.approx(1.0, abs=1e-6)
    assert len(hits) == 3


def test_rows_written_after_the_index_are_found_too(store: MemoryStore) -> None:
    keep(store, some(3))
    store.index()
    late = a_memory(9, question="Where is the kumquat?")
    keep(store, [late])
    assert [hit.id for hit in store.text_search("kumquat", ANYWHERE, 5)] == [late.id]


def test_indexing_an_unchanged_table_commits_nothing(store: MemoryStore) -> None:
    keep(store, some(3))
    store.index()
    version = store._tables.open("memories").version
    store.index()
    assert store._tables.open("memories").version == version


def test_vector_indices_come_with_enough_rows_and_find_the_same(settings: Settings) -> None:
    store = MemoryStore(settings.model_copy(update={"vector_index_rows": 300}))
    memories = some(300)
    keep(store, memories)
    vector = EMBEDDER.embed([memories[7].question])[0]
    flat = store.vector_search("question_vector", vector, ANYWHERE, 1)
    store.optimise()
    indexed = {column for index in store._tables.open("memories").list_indices() for column in index.columns}
    assert {"question_vector", "answer_vector"} <= indexed
    assert [hit.id for hit in store.vector_search("question_vector", vector, ANYWHERE, 1)] == [flat[0].id]


def test_optimising_joins_what_single_writes_left_apart(store: MemoryStore) -> None:
    for memory in some(4):
        keep(store, [memory])
    before = store.rows("memories")
    store.optimise(keep_days=0)
    assert store._tables.open("memories").stats()["fragment_stats"]["num_fragments"] == 1
    assert store.rows("memories") == before


def test_a_link_is_seen_from_both_ends_best_first(store: MemoryStore) -> None:
    first, second, third = some(3)
    links = [
        Link(source=second.id, target=first.id, kind=LinkKind.RELATED, score=0.6),
        Link(source=third.id, target=second.id, kind=LinkKind.RELATED, score=0.9),
    ]
    keep(store, [first, second, third], links=links)
    assert store.links_of([second.id]) == (links[1], links[0])
    assert store.links_of([first.id]) == (links[0],)


def test_live_memories_come_by_the_time_of_their_edit_with_their_vectors(store: MemoryStore) -> None:
    late, early = some(2)
    early = early.model_copy(update={"observed_at": OBSERVED - timedelta(days=1)})
    keep(store, [late, early])
    (rows,) = store.live()
    assert [memory.id for memory in rows.memories] == [early.id, late.id]
    assert np.array_equal(rows.question_vectors, EMBEDDER.embed([early.question, late.question]))
    assert np.array_equal(rows.answer_vectors, EMBEDDER.embed([early.answer, late.answer]))


def test_tags_are_kept_once_each(store: MemoryStore) -> None:
    keep(store, [a_memory(0, tools=("git", "uv")), a_memory(1, tools=("git",), types=("pitfall",))])
    assert store.tags().tools == ("git", "uv")
    assert store.tags().types == ("command", "pitfall")


def test_a_reader_sees_what_another_store_writes(settings: Settings) -> None:
    reader, writer = MemoryStore(settings), MemoryStore(settings)
    keep(writer, some(1))
    assert reader.count() == 1
    keep(writer, some(2))
    assert reader.count() == 2


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> MemoryStore:
    store = MemoryStore(Settings(home=tmp_path_factory.mktemp("indexed")))
    keep(store, some(3))
    store.index()
    return store


@given(st.text(max_size=60))
@example('"unbalanced')
@example("+must -not AND OR NOT")
@example("* (((")
@example("search_words:git^2~1")
@example("\x00")
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_a_query_and_never_syntax(indexed: MemoryStore, query: str) -> None:
    assert len(indexed.text_search(query, ANYWHERE, 5)) <= 3


def test_operators_around_a_word_do_not_change_what_it_finds(indexed: MemoryStore) -> None:
    plain = indexed.text_search("part1", ANYWHERE, 5)
    assert len(plain) == 1
    for query in ('"part1"', "+part1", "(part1", "part1*", "part1 AND"):
        assert indexed.text_search(query, ANYWHERE, 5) == plain


def test_a_table_with_a_broken_manifest_is_a_store_error(store: MemoryStore, settings: Settings) -> None:
    versions = settings.tables / "memories.lance" / "_versions"
    versions.mkdir(parents=True)
    (versions / "1.manifest").write_bytes(b"broken")
    with pytest.raises(StoreError, match="can't open"):
        store.count()


@pytest.mark.parametrize("table", ["memories", "links", "tags"])
def test_what_a_killed_creation_of_a_table_left_is_made_anew(
    table: str, store: MemoryStore, settings: Settings
) -> None:
    (settings.tables / f"{table}.lance" / "data").mkdir(parents=True)
    (settings.tables / f"{table}.lance" / "_versions").mkdir()
    assert store.count() == 0
    keep(store, some(1))
    assert store.count() == 1


WRITER = textwrap.dedent("""
    import sys
    from pathlib import Path
    from orgmem.settings import Settings
    from orgmem.store.memories import MemoryStore
    from tests.store.test_memories import keep
    from tests.samples import a_learning, a_memory
    store = MemoryStore(Settings(home=Path(sys.argv[1])))
    for batch in range(int(sys.argv[3])):
        learning = a_learning(f"{sys.argv[2]} {batch}\\n")
        keep(store, [a_memory(n, learning) for n in range(10)])
        print(batch, flush=True)
""")


def a_writer(settings: Settings, checkout: Path, name: str, batches: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(settings.home), name, str(batches)]
    return subprocess.Popen(
        command,
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_that_write_at_once_lose_nothing(settings: Settings, checkout: Path) -> None:
    writers = [a_writer(settings, checkout, name, 5) for name in ("one", "two")]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    assert MemoryStore(settings).count() == 100


def test_a_writer_killed_at_any_moment_leaves_whole_batches(settings: Settings, checkout: Path) -> None:
    writer = a_writer(settings, checkout, "one", 10_000)
    assert writer.stdout is not None
    for _ in range(3):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    writer.communicate(timeout=60)
    store = MemoryStore(settings)
    assert store.count() >= 30
    assert store.count() % 10 == 0
    keep(store, [a_memory(n, a_learning("one 0\n")) for n in range(10)])
    assert store.rows("memories").schema.names == [name for name in MEMORIES.names if name != "search_words"][:-2]
