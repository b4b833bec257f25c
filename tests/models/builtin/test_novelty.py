"""What an edit says that the file did not say, and why the rest is dropped."""

import pytest

from orgmem.models.curator import NothingReason
from tests.models.builtin.edits import drafts_of, reason_of

RULE = "Write the result to `out/report.json` after each run, and read the older one before you start.\n"


@pytest.mark.parametrize(
    ("reason", "before", "after"),
    [
        ("deletion_only", f"# Rules\n\nKeep it.\n{RULE}", "# Rules\n\nKeep it.\n"),
        ("formatting_only", f"- {RULE}", f"* **Write** {RULE.removeprefix('Write ')}"),
        ("formatting_only", "Write the result\nafter each run.\n", "Write the result after\neach run.\n"),
        ("formatting_only", "1. Fetch the tags.\n2. Push them.\n", "2. Fetch the tags.\n3. Push them.\n"),
        ("moved", f"{RULE}\n# Rules\n\nKeep it.\n", f"# Rules\n\nKeep it.\n\n{RULE}"),
        ("reference_update", RULE, RULE.replace("out/report.json", "build/report.json")),
        ("wording_only", RULE, RULE.replace("older", "previous")),
        ("index_only", "# Guide\n", "# Guide\n\nPlease see [the agent rules](AGENTS.md) for more.\n"),
        (
            "index_only",
            "# Guide\n\n## See also\n",
            "# Guide\n\n## See also\n\n- The notes on plans, good to know.\n",
        ),
        ("front_matter_only", "---\ntype: a\n---\n# Guide\n", "---\ntype: b\n---\n# Guide\n"),
        ("status_log", "# Guide\n", "# Guide\n\nLast updated: 2026-03-01\n"),
        (
            "status_log",
            "# Guide\n\n## Changelog\n",
            "# Guide\n\n## Changelog\n\n- Fixed the retry in v1.2.3 (#12)\n",
        ),
        (
            "generic_persona",
            "# Guide\n",
            "# Guide\n\nYou are a helpful senior engineer who writes great code.\n",
        ),
        ("too_little_context", "# Guide\n", "# Guide\n\nUpdate the following:\n"),
        (
            "too_little_context",
            "# Guide\n",
            "# Guide\n\nThis makes everything much faster for all of them.\n",
        ),
    ],
)
def test_noise_is_dropped_with_its_reason(reason: str, before: str, after: str) -> None:
    assert reason_of(before, after) is NothingReason(reason)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("This project uses Go 1.25 on servers.\n", "This project uses Go 1.26 on servers.\n"),
        ("We use Postgres 15 in every environment.\n", "We use Postgres 16 in every environment.\n"),
        ("The limit is set by `TIMEOUT=10`.\n", "The limit is set by `TIMEOUT=30`.\n"),
    ],
)
def test_another_number_in_the_same_sentence_is_news(before: str, after: str) -> None:
    (draft,) = drafts_of(before, after)
    assert draft.answer.startswith(after.strip())


def test_an_edit_that_turns_a_rule_round_is_news_however_short() -> None:
    (draft,) = drafts_of(
        "Commit the lock file with the change.\n", "Do not commit the lock file with the change.\n"
    )
    assert draft.answer == "Do not commit the lock file with the change."


def test_another_library_in_the_same_sentence_is_news_that_names_the_old_one() -> None:
    (draft,) = drafts_of(
        "# Stack\n\n- `zod` - Schema validation of input\n",
        "# Stack\n\n- `valibot` - Schema validation of input\n",
    )
    assert "`valibot`" in draft.answer
    assert "takes the place of `zod`" in draft.answer


def test_only_the_new_sentence_of_a_long_paragraph_is_told() -> None:
    old = "The runner starts three workers. Each of them reads its own queue."
    (draft,) = drafts_of(f"{old}\n", f"{old} Set `WORKERS=1` when you debug the scheduler.\n")
    assert draft.answer == "Set `WORKERS=1` when you debug the scheduler."


def test_a_new_sentence_that_leans_on_the_one_before_brings_it_along() -> None:
    old = "The runner starts three workers."
    (draft,) = drafts_of(f"{old}\n", f"{old} They share one lock, so a crash of any of them blocks the queue.\n")
    assert draft.answer.startswith(old)


def test_a_paragraph_split_into_items_says_nothing_new() -> None:
    assert (
        reason_of(
            "Pin the compiler version in CI and rebuild the image weekly.\n",
            "- Pin the compiler version in CI\n- rebuild the image weekly.\n",
        )
        is NothingReason.WORDING_ONLY
    )
