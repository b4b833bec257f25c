"""How much one memory says."""

from tests.models.builtin.edits import drafts_of

SENTENCE = "The importer reads block {0} of `data/{0}.csv` and keeps the bad rows in `rejects/{0}`. "


def test_short_rules_under_one_heading_are_one_memory() -> None:
    (draft,) = drafts_of(
        "", "# Naming\n\n- Types: PascalCase\n- Variables: camelCase\n- Constants: UPPER_SNAKE_CASE\n"
    )
    assert draft.answer.count("\n- ") == 2
    assert "types" in draft.question


def test_sections_are_memories_of_their_own() -> None:
    drafts = drafts_of(
        "", "# Guide\n\n## Tests\n\nRun `make test` first.\n\n## Release\n\nTag the commit on `main`.\n"
    )
    assert [draft.heading_path[-1] for draft in drafts] == ["Tests", "Release"]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    text = "".join(SENTENCE.format(number) for number in range(12))
    drafts = drafts_of("", f"# Import\n\n{text}\n")
    assert len(drafts) > 1
    assert all(len(draft.answer.split()) <= 80 for draft in drafts)
    assert " ".join(draft.answer for draft in drafts).split() == text.split()


def test_a_listing_stays_with_the_sentence_that_introduces_it() -> None:
    (draft,) = drafts_of("", "# Release\n\nTo publish the wheel, run:\n\n```bash\nuv build\nuv publish\n```\n")
    assert draft.example == "uv build\nuv publish"
    assert draft.question.startswith("How do I publish the wheel")


def test_a_listing_of_remarks_only_is_no_memory() -> None:
    drafts = drafts_of("", "# Guide\n\nKeep functions short here.\n\n## Notes file\n\n```md\n# Title\n```\n")
    assert len(drafts) == 1
