"""What curation costs beside its own work: the whole run, less embedding, less the pure stage functions.

    python -P benchmarks/curate.py CORPUS.jsonl.gz [--times 1]

A run of `orgmem import` and `orgmem curate` in processes of their own. Embedding is the time in which an embed
task was under way (the run's own record, Prefect's task runs). The pure functions of the stages are called once
more in this process, on what the run has left in the lake and with its vectors; since the stages of the next
batch run beside embedding, only the share of their tasks' time beside no embedding is taken off. A stricter
count takes off only the time in which the run did nothing but embed, and all of the pure functions: what the
two cost each other is then ours.

With --times 10 the corpus is repeated under ten names of projects, with every number in it changed, so that no
copy is a duplicate.
"""

import argparse
import gzip
import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orgmem.settings import Settings
from orgmem.store.journal import Vectors
from orgmem.text.tags import load_registry
from schemas.batch import Claim, Item
from tasks.bench import Bench
from tasks.claim import numbered
from tasks.collide import collide_items
from tasks.collide import step_of as collide_step
from tasks.embed import vectors_of
from tasks.enrich import enrich_fit
from tasks.enrich import step_of as enrich_step
from tasks.gate.judge import gate_item
from tasks.gate.policy import plain
from tasks.neighbourhood import Neighbourhood
from tasks.persist import to_memories
from tasks.stage import Step
from tasks.tag import step_of as tag_step
from tasks.tag import tag_item
from tasks.trust import step_of as trust_step

DROP = plain("drop")

Pair = tuple[Vectors, Vectors]
ORGMEM = Path(sys.executable).with_name("orgmem")
PURE = {"enrich", "gate", "trust", "tag", "collide"}
"""Tasks of the stages whose pure functions are called again."""


def rows(corpus: Path, times: int) -> Iterator[dict[str, Any]]:
    """The corpus, and its copies: other project, other numbers, so other ids, facts and vectors."""
    with gzip.open(corpus, "rt", encoding="utf-8") as file:
        originals = [json.loads(line) for line in file]
    for copy in range(times):
        for row in originals:
            yield row if copy == 0 else {**row, **_renumbered(row, copy)}


def _renumbered(row: dict[str, Any], copy: int) -> dict[str, str]:
    def other(text: str) -> str:
        return re.sub(r"(?<![\w.#@-])\d{2,5}(?![\w.-])", lambda found: str(int(found[0]) + copy), text)

    texts = {name: other(row[name]) for name in ("before", "after")}
    return {**texts, "id": f"{row['id']}-{copy}", "repo": f"{row['repo']}-{copy}"}


def timed(command: list[str | Path], home: Path) -> tuple[float, int]:
    """Seconds of wall time and peak memory in MB of one process."""
    began = time.monotonic()
    process = subprocess.Popen(command, env={**os.environ, "ORGMEM_HOME": str(home)}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    return time.monotonic() - began, usage.ru_maxrss // 1024


class Stopwatch:
    """Seconds by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Add what happens inside."""
        began = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - began


class Shares(NamedTuple):
    """Where the seconds of a run went, by its record."""

    embedding: float
    """An embed task was under way."""
    nothing_but: float
    """And no other task."""
    beside_none: float
    """Share, 0 to 1, of the pure stages' tasks during which nothing was embedded."""


def shares_of(home: Path) -> Shares:
    """From the record of a finished run."""
    with closing(sqlite3.connect(home / "prefect" / "prefect.db")) as record:
        tasks = [
            (name.rpartition("-")[0], start, end)
            for name, start, end in record.execute(
                "select name, julianday(start_time) * 86400, julianday(end_time) * 86400 from task_run"
            )
        ]
    seconds: Counter[str] = Counter()
    for start, end in itertools.pairwise(sorted({moment for _, *ends in tasks for moment in ends})):
        running = {name for name, began, ended in tasks if began <= start and end <= ended}
        seconds["embedding"] += (end - start) * ("embed" in running)
        seconds["nothing but"] += (end - start) * (running == {"embed"})
        seconds["pure"] += (end - start) * bool(running & PURE)
        seconds["pure beside none"] += (end - start) * (bool(running & PURE) and "embed" not in running)
    return Shares(seconds["embedding"], seconds["nothing but"], seconds["pure beside none"] / seconds["pure"])


def vectors_by_id(bench: Bench) -> dict[str, Pair]:
    """Question and answer vector of every live memory."""
    return {
        memory.id: (question, answer)
        for rows in bench.memories.live()
        for memory, question, answer in zip(rows.memories, rows.question_vectors, rows.answer_vectors, strict=True)
    }


def found_or_made(items: Sequence[Item], known: dict[str, Pair], bench: Bench) -> Pair:
    """Vectors of the items, n x 384 each; those of memories that did not stay are made anew."""
    missing = tuple(item for item in items if item.id not in known)
    if missing:
        made = zip(*vectors_of(missing, bench.embedder), strict=True)
        known.update((item.id, pair) for item, pair in zip(missing, made, strict=True))
    return np.stack([known[item.id][0] for item in items]), np.stack([known[item.id][1] for item in items])


def alone(home: Path) -> tuple[Stopwatch, int]:
    """The pure functions over every learning of the lake, batch by batch; and how many texts were embedded."""
    bench, watch, texts = Bench(Settings(home=home)), Stopwatch(), 0
    neighbourhood, known = Neighbourhood(), vectors_by_id(bench)
    for batch_id, ids in numbered(ordered(bench), bench.settings.batch_size):
        claim = Claim(
            batch_id=batch_id, run_id="", curator="", prompt_hash="", learnings=bench.lake.learnings(ids)
        )
        items = up_to_tag(claim, bench, watch)
        texts += 2 * len(items)
        vectors = found_or_made(items, known, bench)
        with watch.of("collide"):
            collisions = list(collide_items(items, claim.by_id, *vectors, neighbourhood))
            steps = [collide_step(item, hit) for item, hit in zip(items, collisions, strict=True)]
        with watch.of("persist"):
            to_memories(onward(steps), claim, bench.clock())
    return watch, texts


def up_to_tag(claim: Claim, bench: Bench, watch: Stopwatch) -> tuple[Item, ...]:
    """The items of a batch that tag hands on."""
    by_id, registry = claim.by_id, load_registry()
    with watch.of("enrich"):
        items = onward(enrich_step(one, enrich_fit(one, bench.curator, {})) for one in claim.learnings)
    with watch.of("gate"):
        items = onward(gate_item(item, by_id[item.learning_id], DROP) for item in items)
    with watch.of("trust"):
        items = onward(trust_step(item, by_id[item.learning_id]) for item in items)
    with watch.of("tag"):
        return onward(tag_step(item, tag_item(item.draft, by_id[item.learning_id], registry)) for item in items)


def onward(steps: Iterable[Step]) -> tuple[Item, ...]:
    """The items that go on."""
    return tuple(item for step in steps for item in step.onward)


def ordered(bench: Bench) -> tuple[str, ...]:
    """Ids of every learning, in the order of curation."""
    table = bench.lake.rows("learnings").select(["observed_at", "id"])
    in_order = table.sort_by([("observed_at", "ascending"), ("id", "ascending")])
    return tuple(str(one) for one in in_order["id"].to_pylist())


def main() -> None:
    """Run it and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--times", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, corpus = Path(folder) / "home", Path(folder) / "rows.jsonl"
        with corpus.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows(given.corpus, given.times))
        imported, _ = timed([ORGMEM, "import", corpus], home)
        whole, peak = timed([ORGMEM, "curate"], home)
        nothing, _ = timed([ORGMEM, "curate"], home)
        shares = shares_of(home)
        watch, texts = alone(home)
    pure = sum(watch.seconds.values())
    outside = pure * shares.beside_none
    rest, strict = whole - shares.embedding - outside, whole - shares.nothing_but - pure
    print(f"import              {imported:8.1f} s")
    print(f"curate, whole       {whole:8.1f} s   peak {peak} MB")
    print(
        f"  embedding         {shares.embedding:8.1f} s   {texts} texts; {shares.nothing_but:.1f} s nothing else"
    )
    named = ", ".join(f"{name} {seconds:.1f}" for name, seconds in watch.seconds.items())
    print(f"  pure stages       {pure:8.1f} s   {named}")
    print(f"    beside no embed {outside:8.1f} s")
    print(f"  all the rest      {rest:8.1f} s   {rest / whole:.1%} of the run")
    print(f"    strict count    {strict:8.1f} s   {strict / whole:.1%} of the run")
    print(f"curate, nothing new {nothing:8.1f} s")


if __name__ == "__main__":
    main()
