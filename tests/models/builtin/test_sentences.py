"""Sentences without marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.models.builtin.sentences import plain, sentences


@pytest.mark.parametrize(
    ("marked", "clean"),
    [
        ("**Never** push to *main*.", "Never push to main."),
        ("Paths like `src/**/*.ts` and a/**/b/*.ts stay.", "Paths like `src/**/*.ts` and a/**/b/*.ts stay."),
        ("See [the guide](docs/guide.md).", "See the guide (docs/guide.md)."),
        ("See [`docs/guide.md`](docs/guide.md).", "See `docs/guide.md`."),
        ("See [the rules](#rules).", "See the rules."),
        ("[ ] Bump the version", "Bump the version"),
        ("\u26a0\ufe0f Slow tests", "Slow tests"),
        ("keep __init__ and my_var_name", "keep __init__ and my_var_name"),
        ("wrapped\n  over lines", "wrapped over lines"),
    ],
)
def test_marks_that_only_format_go_and_text_stays(marked: str, clean: str) -> None:
    assert plain(marked) == clean


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Run it. Then push.", ("Run it.", "Then push.")),
        ("Use a tool, e.g. Ruff. Not flake8.", ("Use a tool, e.g. Ruff.", "Not flake8.")),
        ("Call `a. B` first.", ("Call `a. B` first.",)),
        ("Needs 3.11. `uv` does it.", ("Needs 3.11.", "`uv` does it.")),
    ],
)
def test_text_is_cut_between_sentences_only(text: str, parts: tuple[str, ...]) -> None:
    assert sentences(text) == parts


@given(st.text())
def test_cutting_loses_nothing_but_blanks(text: str) -> None:
    line = " ".join(text.split())
    assert " ".join(sentences(line)).split() == line.split()


@given(st.text(alphabet="ab *_`[]()\x00#\n.", max_size=60))
def test_any_mixture_of_marks_is_cleaned_without_failing(text: str) -> None:
    assert "\n" not in plain(text)
