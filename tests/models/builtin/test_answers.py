"""Answers, examples and caveats."""

from tests.models.builtin.edits import drafts_of


def test_items_answer_below_the_sentence_that_introduces_them() -> None:
    (draft,) = drafts_of("", "When you add a flag, update:\n\n- the help text\n- `README.md`\n")
    assert draft.answer == "When you add a flag, update:\n- the help text.\n- `README.md`."


def test_a_warning_that_follows_the_rule_is_a_caveat() -> None:
    (draft,) = drafts_of("", "Run `alembic upgrade head` after each pull. Never run it against production.\n")
    assert draft.answer == "Run `alembic upgrade head` after each pull."
    assert draft.caveats == ("Never run it against production.",)
    assert draft.example == "alembic upgrade head"


def test_a_prohibition_by_itself_is_the_answer() -> None:
    (draft,) = drafts_of("", "Never run migrations against production.\n")
    assert draft.answer == "Never run migrations against production."
    assert draft.caveats == ()


def test_rows_of_many_columns_are_told_with_the_names_of_their_columns() -> None:
    (draft,) = drafts_of("", "# Codes\n\n| Code | Meaning | Retry |\n|---|---|---|\n| E2 | disk full | never |\n")
    assert draft.answer == "E2: Meaning disk full; Retry never."


def test_commands_with_remarks_are_told_one_by_one() -> None:
    (draft,) = drafts_of("", "# Commands\n\n```bash\nmake up    # Start the broker\nmake down  # Stop it\n```\n")
    assert draft.answer == "- `make up`: Start the broker\n- `make down`: Stop it"
    assert draft.example == "make up    # Start the broker\nmake down  # Stop it"


def test_a_word_in_a_code_span_is_no_example_unless_it_is_a_command() -> None:
    (draft,) = drafts_of("", "Compare with `is not null` in queries.\n")
    assert draft.example is None
