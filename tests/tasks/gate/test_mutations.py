"""Memories of the sample organization, each changed in one number, flag, path, command or "not", are found out."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orgmem.models.builtin import BuiltinCurator
from orgmem.models.curator import Enriched
from orgmem.text.diff import line_hunks, make_patch
from orgmem.text.tags import load_registry
from schemas.learning import Learning
from schemas.memory import Draft
from schemas.verdict import Status
from tasks.gate.grounding import check_grounding
from tasks.gate.parts import parts
from tests.samples import a_learning

Case = tuple[Learning, Draft]
COMMANDS = "|".join(sorted(load_registry().commands))
KINDS: dict[str, tuple[re.Pattern[str], Callable[[str], str]]] = {
    "number": (re.compile(r"(?<![\w.,/-])\d+(?![\w.,/-])"), lambda number: str(int(number) + 1)),
    "flag": (re.compile(r"(?<![\w-])--[a-z][\w-]+"), "{}-all".format),
    "path": (re.compile(r"(?<![\w/.-])[\w-]+(?:/[\w-]+)*\.(?:py|md|toml|ya?ml|json|sh|sql)\b"), "old_{}".format),
    "command": (
        re.compile(rf"(?<=`)(?:{COMMANDS})(?= [\w-])"),
        lambda name: "poetry" if name != "poetry" else "cargo",
    ),
    "negation": (re.compile(r"\b(?:[Nn]ever|[Dd]o not|not) "), lambda _: ""),
}  # fmt: skip
LEAST_CAUGHT, LEAST_NEGATIONS_CAUGHT = 0.95, 0.9


@pytest.fixture(scope="module")
def cases(checkout: Path) -> list[Case]:
    rows = (checkout / "examples" / "acme" / "revisions.jsonl").read_text("utf-8").splitlines()
    return [case for row in rows for case in _cases(json.loads(row))]


def _cases(row: dict[str, str]) -> Iterator[Case]:
    if hunks := line_hunks(row["before"], row["after"]):
        patch = make_patch(row["before"], row["after"])
        learning = a_learning(project=row["repo"], path=row["path"], hunks=hunks, patch=patch)
        enriched = BuiltinCurator().enrich(learning)
        yield from ((learning, draft) for draft in (enriched.drafts if isinstance(enriched, Enriched) else ()))


def status_of(learning: Learning, draft: Draft) -> Status:
    return check_grounding(parts(draft), learning).status


def test_what_the_curator_makes_is_grounded(cases: list[Case]) -> None:
    assert [draft.answer for learning, draft in cases if status_of(learning, draft) is not Status.SAFE] == []


@pytest.mark.parametrize("kind", KINDS)
def test_nearly_every_mutant_is_caught(cases: list[Case], kind: str) -> None:
    pattern, change = KINDS[kind]
    mutants = [
        (learning, draft, draft.answer[: match.start()] + change(match[0]) + draft.answer[match.end() :])
        for learning, draft in cases
        for match in pattern.finditer(draft.answer)
    ]
    missed = [
        answer
        for learning, draft, answer in mutants
        if status_of(learning, draft.model_copy(update={"answer": answer})) is not Status.UNSAFE
    ]
    assert mutants
    least = LEAST_NEGATIONS_CAUGHT if kind == "negation" else LEAST_CAUGHT
    assert len(missed) <= (1 - least) * len(mutants), missed
