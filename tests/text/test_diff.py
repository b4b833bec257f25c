"""Patches apply to the byte and agree with their hunks."""

import pytest
from diff_match_patch import diff_match_patch
from hypothesis import given
from hypothesis import strategies as st

from orgmem.errors import InputError
from orgmem.text.diff import apply_patch, line_hunks, make_patch, patch_agrees, split_lines

LINES = st.lists(
    st.sampled_from(
        ["# A\n", "## B\n", "same\n", "x\r\n", "\n", "\u4f60\u597d\n", "\ufeff", "a\0b\n",
         "%41 + @@ -1 +1 @@\n", "\r", "\u2028\n", "```\n"]
    )
    | st.text(max_size=5),
    max_size=25,
).map("".join)  # fmt: skip


@given(LINES, LINES)
def test_a_patch_turns_before_into_after_to_the_byte(before: str, after: str) -> None:
    patch, hunks = make_patch(before, after), line_hunks(before, after)
    assert apply_patch(patch, before) == after
    assert patch_agrees(patch, hunks)
    assert sum(line.startswith("@@ ") for line in patch.splitlines()) == len(hunks)


@given(LINES, LINES)
def test_hunks_are_whole_lines_apart_by_unchanged_ones(before: str, after: str) -> None:
    hunks = line_hunks(before, after)
    assert "".join(split_lines(before)) == before
    for hunk in hunks:
        for context in (hunk.context_before, hunk.context_after):
            assert len(split_lines(context)) <= 5
            assert context in before
            assert context in after
        assert hunk.before in before
        assert hunk.after in after


@given(LINES, LINES)
def test_the_library_itself_can_apply_what_it_is_told(before: str, after: str) -> None:
    engine = diff_match_patch()
    assert all(part.diffs for part in engine.patch_fromText(make_patch(before, after)))


def test_equal_texts_have_no_patch_and_no_hunk() -> None:
    assert make_patch("a\n", "a\n") == ""
    assert line_hunks("a\n", "a\n") == ()
    assert apply_patch("", "a\n") == "a\n"


def test_a_hunk_carries_context_and_heading_path() -> None:
    before = "# Guide\n\n## Build\n\n1\n2\n3\n4\n5\n6\nold\n7\n8\n"
    (hunk,) = line_hunks(before, before.replace("old\n", "new\nmore\n"))
    assert (hunk.before, hunk.after) == ("old\n", "new\nmore\n")
    assert hunk.context_before == "2\n3\n4\n5\n6\n"
    assert hunk.context_after == "7\n8\n"
    assert hunk.heading_path == ("Guide", "Build")


def test_an_added_section_does_not_stand_under_the_one_before() -> None:
    before = "# Guide\n\n## Build\n\nRun make.\n"
    (hunk,) = line_hunks(before, before + "\n## Deploy\n\nRun ship.\n")
    assert hunk.heading_path == ("Guide",)


def test_a_deleted_line_is_placed_by_the_text_it_stood_in() -> None:
    before = "# Guide\n\n## Build\n\nRun make.\n"
    (hunk,) = line_hunks(before, "# Guide\n")
    assert hunk.before == "\n## Build\n\nRun make.\n"
    assert hunk.heading_path == ("Guide",)


def test_two_changes_in_one_place_are_two_hunks() -> None:
    assert len(line_hunks("a\nb\nc\n", "A\nb\nC\n")) == 2


def test_a_patch_for_another_text_is_refused() -> None:
    patch = make_patch("one\ntwo\n", "one\nthree\n")
    with pytest.raises(InputError, match="does not belong"):
        apply_patch(patch, "something else\n")
    with pytest.raises(InputError, match="not diff-match-patch text"):
        apply_patch("rubbish", "one\n")


def test_patch_and_hunks_that_differ_do_not_agree() -> None:
    patch = make_patch("a\nb\n", "a\nc\n")
    assert not patch_agrees(patch, line_hunks("a\nb\n", "a\nd\n"))
    assert not patch_agrees(patch, ())
    assert not patch_agrees("rubbish", ())


def test_two_large_unlike_files_are_one_change_and_take_no_age() -> None:
    before, after = ("".join(f"{name}{number}\n" for number in range(50_000)) for name in "ab")
    (hunk,) = line_hunks("# T\n" + before + "end\n", "# T\n" + after + "end\n")
    assert (hunk.before, hunk.after) == (before, after)
    assert hunk.context_after == "end\n"
