"""A hunk's Markdown as blocks."""

from orgmem.models.builtin.markdown import Block, Kind, blocks_after
from schemas.learning import Hunk


def blocks(after: str, above: str = "", below: str = "", path: tuple[str, ...] = ("Doc",)) -> tuple[Block, ...]:
    return blocks_after(Hunk(heading_path=path, before="", after=after, context_before=above, context_after=below))


def added(after: str, above: str = "", below: str = "", path: tuple[str, ...] = ("Doc",)) -> tuple[Block, ...]:
    return tuple(block for block in blocks(after, above, below, path) if block.added)


def test_a_list_item_carries_the_sentence_before_its_list() -> None:
    (item,) = added("- the help text\n", above="When you add a flag, update:\n\n")
    assert (item.kind, item.text, item.lead) == (Kind.ITEM, "the help text", "When you add a flag, update:")


def test_a_nested_item_carries_its_parent() -> None:
    (item,) = added("  - on Windows too\n", above="- Normalise paths:\n")
    assert item.lead == "Normalise paths:"


def test_headings_inside_the_change_extend_the_path() -> None:
    block, deeper = added("## Tests\nRun them.\n### Slow ones\nSkip them.\n", path=("Guide",))
    assert block.path == ("Guide", "Tests")
    assert deeper.path == ("Guide", "Tests", "Slow ones")


def test_a_sibling_heading_takes_the_place_of_the_last_one() -> None:
    (block,) = added("## Release\nTag it.\n", above="# Guide\n## Tests\n", path=("Guide",))
    assert block.path == ("Guide", "Release")


def test_a_line_added_inside_a_fence_is_code_though_the_hunk_shows_only_the_closing_mark() -> None:
    (block,) = added("npm run hmr\n", above="npm install\n", below="npm start\n```\n")
    assert block.kind is Kind.CODE
    assert "npm run hmr" in block.text


def test_a_fence_that_opens_after_a_blank_line_is_not_taken_for_a_closing_one() -> None:
    (block,) = added("Keep it short.\n", above="# Doc\n", below="\n```\ncode\n")
    assert block.kind is Kind.PARAGRAPH


def test_a_directory_tree_without_any_fence_mark_is_code() -> None:
    (block,) = added("├── store/\n│   └── lake.py\n", above="├── cli/\n", below="└── text/\n")
    assert block.kind is Kind.CODE


def test_rows_keep_the_names_of_their_columns() -> None:
    (row,) = added("| E2 | disk full |\n", above="| Code | Meaning |\n|---|---|\n| E1 | no rights |\n")
    assert (row.text, row.header) == ("E2 | disk full", ("Code", "Meaning"))


def test_rows_without_their_header_are_rows() -> None:
    (row,) = added("| E2 | disk full |\n", above="| E1 | no rights |\n")
    assert (row.kind, row.text) == (Kind.ROW, "E2 | disk full")


def test_lone_tags_and_comments_do_not_swallow_the_list_below_them() -> None:
    (item,) = added("<RULES>\n<!-- for agents -->\n- Keep it flat.\n</RULES>\n")
    assert (item.kind, item.text) == (Kind.ITEM, "Keep it flat.")


def test_tags_and_comments_inside_a_fence_are_code() -> None:
    (block,) = added("```html\n<main>\n<!-- start -->\n</main>\n```\n")
    assert block.text == "<main>\n<!-- start -->\n</main>"


def test_front_matter_at_the_start_is_metadata_and_a_rule_further_down_is_not() -> None:
    kinds = [block.kind for block in added("---\ntitle: Plans\n---\nText.\n\n---\nmore: text\n", path=())]
    assert kinds == [Kind.META, Kind.PARAGRAPH, Kind.PARAGRAPH]


def test_a_line_of_front_matter_is_metadata_though_the_hunk_shows_no_mark() -> None:
    kinds = {
        block.kind for block in added("audit: clean\n", above="title: Plans\n", below="read_when: now\n", path=())
    }
    assert kinds == {Kind.META}


def test_indentation_alone_makes_no_code() -> None:
    (item,) = added("      - Deeply nested rule.\n", path=("Doc",))
    assert item.kind is not Kind.CODE
