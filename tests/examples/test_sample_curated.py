"""The demo runs, and the sample organization ends as examples/acme/expected.json says."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from orgmem.cli.main import build
from orgmem.settings import Settings
from orgmem.store.lake import Lake
from orgmem.store.memories import MemoryStore
from schemas.disposition import Disposition, Outcome, Stage
from tasks.tally import End, ends

Row = dict[str, Any]


@dataclass(frozen=True)
class Curated:
    """What the demo printed and left behind."""

    printed: subprocess.CompletedProcess[str]
    settings: Settings
    learnings: dict[str, Row]
    """By external id, of every sighting."""
    memories: tuple[Row, ...]
    links: tuple[Row, ...]
    dispositions: tuple[Disposition, ...]
    ends: dict[str, End]
    """By external id."""

    def memories_of(self, external_id: str) -> dict[str, Row]:
        wanted = self.learnings[external_id]["id"]
        return {row["id"]: row for row in self.memories if row["learning_id"] == wanted}


@pytest.fixture(scope="module")
def expected(checkout: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        (checkout / "examples" / "acme" / "expected.json").read_text(encoding="utf-8")
    )
    return data


@pytest.fixture(scope="module")
def curated(prefect_server: str, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Curated:
    home = tmp_path_factory.mktemp("demo")
    program = (
        "import runpy, pathlib; "
        f"runpy.run_path({str(checkout / 'examples' / 'demo.py')!r})['main'](pathlib.Path({str(home)!r}))"
    )
    printed = subprocess.run(
        [sys.executable, "-P", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        cwd=home,
    )
    assert printed.returncode == 0, printed.stderr
    settings = Settings(home=home)
    lake, store = Lake(settings), MemoryStore(settings)
    rows = {row["id"]: row for row in lake.rows("learnings").to_pylist()}
    learnings = {row["external_id"]: rows[row["learning_id"]] for row in lake.rows("sightings").to_pylist()}
    dispositions = tuple(lake.dispositions())
    by_id = ends(rows, dispositions)
    return Curated(
        printed,
        settings,
        learnings,
        tuple(store.rows("memories").to_pylist()),
        tuple(store.rows("links").to_pylist()),
        dispositions,
        {external_id: by_id[row["id"]] for external_id, row in learnings.items()},
    )


def test_the_demo_prints_at_80_columns_and_nothing_else_on_the_screen(curated: Curated) -> None:
    assert curated.printed.stderr == ""
    lines = curated.printed.stdout.splitlines()
    assert not [line for line in lines if len(line) > 80]
    for word in ("enrich", "persist", "question", "answer", "trust", "live memories", "orgmem mcp"):
        assert word in curated.printed.stdout


def test_the_readme_shows_what_the_demo_prints(curated: Curated, checkout: Path) -> None:
    shown = lasting((checkout / "README.md").read_text(encoding="utf-8"))
    printed = lasting(curated.printed.stdout)
    assert len(printed) > 50
    assert [line for line in printed if line not in shown] == []


def lasting(text: str) -> list[str]:
    """Lines without what changes from day to day: seconds, and the trust that age takes away."""
    without = re.sub(r"in [\d.]+ seconds|trust +[\d.]+ of 10|recency [\d.]+", "", text)
    return [line.rstrip() for line in without.splitlines()]


def test_the_demo_prints_the_answers(curated: Curated, expected: dict[str, Any]) -> None:
    run_on = "".join(curated.printed.stdout.split())
    for search in expected["searches"]:
        assert "".join(search["contains"].split()) in run_on, search["query"]


def test_every_revision_became_a_learning_or_a_sighting_of_one(curated: Curated, expected: dict[str, Any]) -> None:
    assert len(curated.learnings) == expected["read"]
    assert len({row["id"] for row in curated.learnings.values()}) == expected["new"]
    for again, first in expected["seen_again"].items():
        assert curated.learnings[again]["id"] == curated.learnings[first]["id"]


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("productive", Outcome.PRODUCTIVE), ("rejected", Outcome.REJECTED), ("dropped", Outcome.REJECTED)],
)
def test_revisions_end_as_expected(
    curated: Curated, expected: dict[str, Any], kind: str, outcome: Outcome
) -> None:
    others = {name: curated.ends[name] for name in expected[kind] if curated.ends[name].outcome is not outcome}
    assert not others


def test_injections_are_dropped_by_the_gate(curated: Curated, expected: dict[str, Any]) -> None:
    for name in expected["dropped"]:
        stop = curated.ends[name].stop
        assert stop is not None
        assert (stop.stage, stop.reason.partition(".")[0]) == (Stage.GATE, "injection"), name


def test_secrets_are_masked_in_the_expected_revisions_only(curated: Curated, expected: dict[str, Any]) -> None:
    masked = [name for name, row in sorted(curated.learnings.items()) if row["masked"]]
    assert masked == expected["masked"]


def test_what_must_never_be_found_is_nowhere(curated: Curated, expected: dict[str, Any]) -> None:
    secret, host = expected["never_found"]
    for path in curated.settings.home.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path
    everything = json.dumps([curated.memories, *curated.learnings.values()], default=str)
    assert secret not in everything
    answers = json.dumps(
        [[row[name] for name in ("question", "answer", "example", "caveats")] for row in curated.memories]
    )
    assert host not in answers


def test_newer_facts_retire_older_ones(curated: Curated, expected: dict[str, Any]) -> None:
    for pair in expected["superseded"]:
        newer = curated.memories_of(pair["new"])
        retired = [
            row
            for row in curated.memories_of(pair["old"]).values()
            if row["state"] == "superseded" and row["superseded_by"] in newer
        ]
        assert retired, pair["about"]


def test_a_fact_met_again_is_a_duplicate_of_the_first_or_linked_to_it(
    curated: Curated, expected: dict[str, Any]
) -> None:
    for pair in expected["same_fact"]:
        again = curated.learnings[pair["again"]]["id"]
        named = {name for row in curated.dispositions if row.learning_id == again for name in row.related}
        named |= {
            row[end]
            for row in curated.links
            for end, other in (("source", "target"), ("target", "source"))
            if row[other] in curated.memories_of(pair["again"])
        }
        assert named & set(curated.memories_of(pair["first"])), pair["about"]


@pytest.fixture
def search(curated: Curated) -> Callable[[str], list[Row]]:
    def ask(question: str) -> list[Row]:
        run = CliRunner().invoke(
            build(),
            ["search", question, "--json"],
            env={"ORGMEM_HOME": str(curated.settings.home)},
            catch_exceptions=False,
        )
        results: list[Row] = json.loads(run.stdout)["results"]
        return results

    return ask


def test_the_best_answer_comes_from_the_revision_that_has_it(
    search: Callable[[str], list[Row]], expected: dict[str, Any]
) -> None:
    for wanted in expected["searches"]:
        best = search(wanted["query"])[0]
        assert wanted["source"] in [source["external_id"] for source in best["sources"]], wanted["query"]
