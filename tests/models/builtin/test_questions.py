"""Questions as a developer would ask them."""

import pytest

from tests.models.builtin.edits import drafts_of


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("To run one test, use `pytest -k name`.", "How do I run one test in payments?"),
        ("When adding a flag, update `README.md`.", "What should I do when adding a flag in payments?"),
        ("Never amend a pushed commit.", "May I amend a pushed commit in payments?"),
        ("Avoid bare `except` in handlers.", "Should I avoid bare `except` in handlers in payments?"),
        ("Use `uv` instead of `pip`.", "Should I use `uv` or `pip` in payments?"),
        ("Use `gt submit` to open pull requests.", "How do I open pull requests in payments?"),
        ("Always run the linter twice.", "Do I have to run the linter twice in payments?"),
        (
            "Check the logs before restarting workers.",
            "What should I do before restarting workers in payments?",
        ),
        ("Keep handlers free of SQL.", "Should I keep handlers free of SQL in payments?"),
        ("New examples should stay flat and short.", "Should new examples stay flat and short in payments?"),
        ("Fixtures live in `tests/fixtures`.", "Where do fixtures live in payments?"),
        ("The queue is stored in Redis.", "Where and how is the queue stored in payments?"),
        ("- `make types` - Checks all types", "How do I check all types in payments?"),
        ("- `make lint` - Check style and types", "How do I check style and types in payments?"),
        (
            "- `src/lock.py` \u2014 Startup lock of shared storage",
            "Where do I find startup lock of shared storage in payments?",
        ),
    ],
)
def test_a_sentence_becomes_the_question_it_answers(said: str, asked: str) -> None:
    (draft,) = drafts_of("", f"{said}\n")
    assert draft.question == asked


@pytest.mark.parametrize(
    ("heading", "asked"),
    [
        ("Adding a provider", "How do I add a provider in payments?"),
        ("Essential Commands", "What are the essential commands in payments?"),
        ("Error Handling", "How does error handling work in payments?"),
        ("Project Structure", "What is the project structure in payments?"),
        ("How to deploy", "How do I deploy in payments?"),
        ("GitHub", "What should I know about GitHub in payments?"),
    ],
)
def test_a_heading_becomes_a_question_where_the_text_gives_none(heading: str, asked: str) -> None:
    (draft,) = drafts_of("", f"# Guide\n\n## {heading}\n\nEnglish prose of three or four words.\n")
    assert draft.question == asked


def test_the_headings_and_the_label_that_the_question_lacks_follow_it() -> None:
    (draft,) = drafts_of("", "# Guide\n\n## Git\n\n- **Branch names**: Use dashes over underscores.\n")
    assert draft.question == "Should I use dashes or underscores in payments (Git: Branch names)?"


def test_the_package_of_the_file_is_named_before_its_project() -> None:
    (draft,) = drafts_of("", "Never mock the clock here.\n", path="packages/ledger/AGENTS.md")
    assert draft.question == "May I mock the clock here in ledger of payments?"


def test_a_question_is_never_cut_inside_a_code_span() -> None:
    (draft,) = drafts_of("", "When calling `load(a, b; c. D)` " + "with very many words " * 12 + ", use a lock.\n")
    assert "`load(a, b; c. D)`" in draft.question
    assert draft.question.count("`") == 2
