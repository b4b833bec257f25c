"""The rules' verdict hangs on the text and the rule set alone: no order, no process, no line end, no network."""

import importlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.verdict import Category
from tasks.gate.hit import Check
from tasks.gate.policy import plain
from tasks.gate.verdict import judge_text
from tests.gate_texts import RISKS, TEXTS, renumbered

RUNS = 10
ALONE = """
import json, sys

REFUSED = {"socket.connect", "socket.getaddrinfo", "os.system", "os.exec", "os.fork", "os.posix_spawn"}

def refuse(event, arguments):
    if event in REFUSED or event.startswith("subprocess."):
        raise RuntimeError(f"the gate tried {event}")

sys.addaudithook(refuse)
from tasks.gate.policy import plain
from tasks.gate.verdict import judge_text
for text in json.load(sys.stdin):
    verdict, kept = judge_text(text, plain("drop"))
    print(json.dumps([verdict.model_dump_json(), kept]))
"""
"""Judges texts in a process that must reach neither the network nor another program."""
DROP = plain("drop")


def checks() -> Iterator[tuple[str, Check]]:
    """Every category's check of one text, whether or not it takes part in the verdict yet."""
    for category in Category:
        try:
            module = importlib.import_module(f"tasks.gate.{category}")
        except ModuleNotFoundError:
            continue
        check = getattr(module, f"find_{category}", None)
        if check and check.__module__ == module.__name__:  # not one that it borrows
            yield category, check


CHECKS = dict(checks())


def verdict_on(text: str) -> str:
    """All of a verdict, as JSON."""
    return judge_text(text, DROP)[0].model_dump_json()


@pytest.fixture(scope="module")
def verdicts() -> dict[str, str]:
    """The verdict on each text, taken once."""
    return {name: verdict_on(text) for name, text in TEXTS.items()}


def test_ten_runs_in_any_order_give_the_same_verdicts(verdicts: dict[str, str]) -> None:
    names = list(TEXTS)
    for seed in range(RUNS):
        random.Random(seed).shuffle(names)
        assert {name: verdict_on(TEXTS[name]) for name in names} == verdicts


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_another_process_without_network_gives_the_same_verdicts(
    seed: str, verdicts: dict[str, str], checkout: Path, tmp_path: Path
) -> None:
    order = list(TEXTS) if seed == "0" else list(reversed(TEXTS))
    environment = {
        "PYTHONHASHSEED": seed, "PYTHONPATH": str(checkout), "HOME": str(tmp_path), "PATH": "",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALONE],
        input=json.dumps([TEXTS[name] for name in order]),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert {name: verdict for name, (verdict, _) in zip(order, found, strict=True)} == verdicts
    assert [kept for _, kept in found] == [judge_text(TEXTS[name], DROP)[1] for name in order]


@pytest.mark.parametrize("name", TEXTS)
def test_line_ends_change_no_verdict(name: str, verdicts: dict[str, str]) -> None:
    assert verdict_on(TEXTS[name].replace("\n", "\r\n")) == verdicts[name]


@pytest.mark.parametrize("name", [name for name in TEXTS if renumbered(TEXTS[name]) != TEXTS[name]])
def test_the_numbers_of_a_list_change_no_verdict(name: str, verdicts: dict[str, str]) -> None:
    assert verdict_on(renumbered(TEXTS[name])) == verdicts[name]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("category", CHECKS)
def test_each_check_finds_the_same_again_with_other_line_ends_and_numbers(category: str, name: str) -> None:
    check, text = CHECKS[category], TEXTS[name]
    found = check(text)
    assert check(text) == found
    assert check(text.replace("\n", "\r\n")) == found
    assert check(renumbered(text)) == found


@settings(max_examples=30)
@given(st.lists(st.sampled_from(sorted(TEXTS)), min_size=2, max_size=4))
def test_texts_put_together_change_as_little(names: list[str]) -> None:
    text = "\n".join(TEXTS[name] for name in names)
    verdict = verdict_on(text)
    assert verdict_on(text.replace("\n", "\r\n")) == verdict
    assert verdict_on(renumbered(text)) == verdict


def test_the_texts_are_of_every_category_that_has_a_check_of_one_text() -> None:
    assert {category for category, check in CHECKS.items() if not any(map(check, RISKS.values()))} == set()
