"""Laws that every draft of the builtin curator keeps."""

from hypothesis import given
from hypothesis import strategies as st

from orgmem.models.builtin import BuiltinCurator
from orgmem.models.curator import Enriched
from orgmem.text.terms import ungrounded
from schemas.learning import Learning
from schemas.memory import Draft
from tests.models.builtin.edits import an_edit

SPANS = st.sampled_from(
    [
        "`uv run pytest -k one`",
        "`src/app/Main.tsx`",
        "`--no-verify`",
        "Node.js 22",
        "https://example.org/a?b=c#d",
        "`a | b`",
    ]
)
WORDS = st.lists(
    st.one_of(
        SPANS,
        st.sampled_from(
            ["run", "the", "tests", "never", "when", "if", "use", "to", "for", "is", "in", "before", "Always"]
        ),
    ),
    min_size=1,
    max_size=24,
)
SENTENCES = WORDS.map(lambda words: " ".join(words).strip() + ".")
BLOCKS = st.one_of(
    SENTENCES,
    SENTENCES.map(lambda text: f"- **Rule**: {text}"),
    SENTENCES.map(lambda text: f"  - {text}"),
    SENTENCES.map(lambda text: f"| {text} | b | c |"),
    SENTENCES.map(lambda text: f"{text[:-1]}:"),
    st.sampled_from(
        [
            "## Tests (slow)",
            "# Guide",
            "",
            "---",
            "```bash",
            "```",
            "<RULES>",
            "[a](b.md)",
            "| a | b |",
            "|---|---|",
        ]
    ),
)
MARKDOWN = st.lists(BLOCKS, max_size=14).map(lambda lines: "\n".join(lines) + "\n")


def source_of(learning: Learning) -> str:
    hunks = [
        "\n".join([*hunk.heading_path, hunk.context_before, hunk.before, hunk.after, hunk.context_after])
        for hunk in learning.hunks
    ]
    return "\n".join([learning.project, learning.path, *hunks])


def texts_of(draft: Draft) -> tuple[str, ...]:
    return (draft.question, draft.answer, draft.example or "", *draft.caveats)


@given(MARKDOWN, MARKDOWN.filter(str.strip))
def test_every_fact_of_a_draft_occurs_in_the_learning(before: str, after: str) -> None:
    if before == after:
        return
    learning = an_edit(before, after)
    enrichment = BuiltinCurator().enrich(learning)
    if isinstance(enrichment, Enriched):
        source = source_of(learning)
        for draft in enrichment.drafts:
            assert [ungrounded(text, source) for text in texts_of(draft)] == [()] * len(texts_of(draft))


@given(st.text(), st.text())
def test_any_two_texts_give_drafts_or_a_reason_and_the_same_again(before: str, after: str) -> None:
    if before == after:
        return
    learning = an_edit(before, after)
    assert BuiltinCurator().enrich(learning) == BuiltinCurator().enrich(learning)


@given(MARKDOWN)
def test_questions_end_in_a_question_mark_and_name_the_project(after: str) -> None:
    if not after:
        return
    enrichment = BuiltinCurator().enrich(an_edit("", after))
    if isinstance(enrichment, Enriched):
        assert all(draft.question.endswith("?") and "payments" in draft.question for draft in enrichment.drafts)
