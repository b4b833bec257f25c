"""What curation costs beside its own work: the whole run, less embedding, less the pure stage functions.

    python -P benchmarks/curate.py CORPUS.jsonl.gz [--times 1]

A run of `orgmem import` and `orgmem curate` in processes of their own. The pure functions of the stages, and the
embedding, are then called once more in this process, on what the run has left in the lake: what they take alone is
taken from the whole. A stricter figure takes off only the time in which the run did nothing but embed (its own
record, Prefect's task runs): embedding shares the cores with the stages of the next batch, and that slows both.

With --times 10 the corpus is repeated under ten names of projects, with every number in it changed, so that no$
copy is a duplicate; one batch in ten is embedded again, and its seconds a text stand for all.
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
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

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


def embedding_of(home: Path) -> float:
    """Seconds in which the run did nothing but embed: time of embed tasks beside other tasks is not counted."""
    with closing(sqlite3.connect(home / "prefect" / "prefect.db")) as record:
        tasks = record.execute(
            "select name like 'embed-%', julianday(start_time) * 86400, julianday(end_time) * 86400 from task_run"
        ).fetchall()
    moments = sorted({moment for _, *ends in tasks for moment in ends})
    alone = 0.0
    for start, end in itertools.pairwise(moments):
        running = {is_embed for is_embed, began, ended in tasks if began <= start and end <= ended}
        alone += end - start if running == {1} else 0.0
    return alone


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


def alone(home: Path, times: int) -> tuple[Stopwatch, int]:
    """The pure functions over every learning of the lake, and embedding; and how many texts were embedded."""
    bench, watch, texts, again = Bench(Settings(home=home)), Stopwatch(), 0, 0
    neighbourhood, known = Neighbourhood(), vectors_by_id(bench)
    bench.embedder.embed(["so that its model is loaded"])
    for number, (batch_id, ids) in enumerate(numbered(ordered(bench), bench.settings.batch_size)):
        claim = Claim(
            batch_id=batch_id, run_id="", curator="", prompt_hash="", learnings=bench.lake.learnings(ids)
        )
        items = up_to_tag(claim, bench, watch)
        texts += 2 * len(items)
        if number % times == 0:
            again += 2 * len(items)
            with watch.of("embedding"):
                vectors_of(items, bench.embedder)
        vectors = found_or_made(items, known, bench)
        with watch.of("collide"):
            collisions = list(collide_items(items, claim.by_id, *vectors, neighbourhood))
            steps = [collide_step(item, hit) for item, hit in zip(items, collisions, strict=True)]
        with watch.of("persist"):
            to_memories(onward(steps), claim, bench.clock())
    watch.seconds["embedding"] *= texts / again
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
        nothing_but = embedding_of(home)
        watch, texts = alone(home, given.times)
    embed = watch.seconds.pop("embedding")
    pure = sum(watch.seconds.values())
    rest, strict = whole - embed - pure, whole - nothing_but - pure
    print(f"import              {imported:8.1f} s")
    print(f"curate, whole       {whole:8.1f} s   peak {peak} MB")
    print(f"  embedding         {embed:8.1f} s   {texts} texts; {nothing_but:.1f} s of the run nothing else")
    print(f"  pure stages       {pure:8.1f} s   " + ", ".join(f"{k} {v:.1f}" for k, v in watch.seconds.items()))
    print(f"  all the rest      {rest:8.1f} s   {rest / whole:.1%} of the run")
    print(f"  by the strict count {strict:6.1f} s   {strict / whole:.1%} of the run")
    print(f"curate, nothing new {nothing:8.1f} s")


if __name__ == "__main__":
    main()
