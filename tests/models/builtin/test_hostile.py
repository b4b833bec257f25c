"""Texts that would stall careless patterns: the work grows with the text, not with its square.

The sizes are such that a quadratic pattern runs into every test's limit and a sound one takes a second.
"""

import pytest

from orgmem.models.builtin import BuiltinCurator
from orgmem.models.curator import Enriched, Nothing
from tests.models.builtin.edits import an_edit

HOSTILE = {
    "blanks": "a" + " " * 250_000 + "b",
    "bold": "**a " * 50_000,
    "links": "[a](b(" * 10_000,
    "brackets": "[" * 50_000,
    "separator": "|" + " " * 250_000 + "a",
    "heading": "# " + "." * 50_000 + "a",
    "marks": "# a" + " " * 20_000 + "#b",
    "nested": "\n".join(" " * depth + "- a" for depth in range(300)),
    "fences": "```\n" * 5_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_read_to_its_end(name: str) -> None:
    enrichment = BuiltinCurator().enrich(an_edit("x\n", HOSTILE[name] + "\n"))
    assert isinstance(enrichment, Enriched | Nothing)
