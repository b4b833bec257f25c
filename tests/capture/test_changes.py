"""What an edit comes to: whatever the bytes, the patch turns the masked before into the masked after."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.capture.changes import Place, Source, change_of, changes_nothing, joined, masked, same_text
from orgmem.capture.memory_file import essence, text_of
from orgmem.capture.state.candidates import Change
from orgmem.errors import InputError
from orgmem.identity import learning_id
from orgmem.text.diff import apply_patch, line_hunks, make_patch
from tests.revisions import TOKEN

HERE = Place("github.com/acme/shop", "CLAUDE.md", "/shop", "/shop/CLAUDE.md")
HOOK = Source("hook", "s1", 1_000.0)
PARTS = (
    "# Büro\n",
    "- run `make`\n",
    "漢字と仮名\n",
    "a\0b\n",
    "trailing  \n",
    "\r\n",
    "\n",
    "\u2028x\n",
    "no end",
    "\f",
)


def change(before: str | bytes | None, after: str | bytes | None) -> Change | None:
    old, new = (text.encode() if isinstance(text, str) else text for text in (before, after))
    return change_of(HERE, old, new, HOOK)


def check_patch(found: Change) -> None:
    patch = make_patch(found.before, found.after)
    assert apply_patch(patch, found.before) == found.after
    assert patch.count("\n@@ -") + patch.startswith("@@ -") == len(line_hunks(found.before, found.after))
    assert found.learning_id == learning_id(found.project, found.path, found.before, found.after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# A\nb\n", "# A\r\nb\r\n"),
        ("# A\r\nb\r\n", "# A\nb\n"),
        ("# A\nb\n", b"\xef\xbb\xbf# A\nb\n"),
        (b"\xef\xbb\xbf# A\nb\n", "# A\nb\n"),
        ("# A\nb\n", "# A\nb"),
        ("# A\nb", "# A\nb\n\n\n"),
        ("# A\nb\n", "# A  \nb\t\n"),
        ("# A\nb\n", "# A\nb\n".encode("utf-16")),
        (None, ""),
        ("", None),
        ("\n\n", None),
    ],
)
def test_line_ends_marks_and_blanks_alone_are_no_learning(
    before: str | bytes | None, after: str | bytes | None
) -> None:
    assert change(before, after) is None


def test_one_line_edited_in_a_file_with_windows_line_ends_is_one_line() -> None:
    found = change(b"# A\r\none\r\ntwo\r\nthree\r\n", b"\xef\xbb\xbf# A\r\none\r\n2\r\nthree\r\n")
    assert found
    (hunk,) = line_hunks(found.before, found.after)
    assert (hunk.before, hunk.after) == ("two\n", "2\n")


def test_a_file_that_a_write_flipped_to_windows_line_ends_shows_its_one_new_line() -> None:
    found = change("# A\none\ntwo\n", "# A\r\none\r\ntwo\r\nthree\r\n")
    assert found
    (hunk,) = line_hunks(found.before, found.after)
    assert (hunk.before, hunk.after) == ("", "three\n")


def test_both_sides_are_masked_alike_and_a_changed_secret_alone_is_no_learning() -> None:
    found = change(f"token {TOKEN}\n", f"token {TOKEN}\nuse it\n")
    assert found
    assert TOKEN not in found.before + found.after
    assert found.before.splitlines()[0] == found.after.splitlines()[0]
    assert found.masked == 2
    assert found.rules
    assert change(f"token {TOKEN}\n", f"token {TOKEN[:-2]}zz\n") is None


def test_our_own_block_is_never_captured() -> None:
    block = "<!-- orgmem:begin lessons -->\nWrite lessons down.\n<!-- orgmem:end -->\n"
    assert change("# A\n", f"# A\n{block}") is None
    assert change(f"# A\n{block}", "# A\n") is None
    found = change(f"# A\n{block}", f"# A\n{block}Own line.\n")
    assert found
    assert "Write lessons" not in found.before + found.after


def test_a_path_with_a_secret_or_a_control_character_is_shown_without() -> None:
    found = change_of(HERE._replace(path=f"docs/{TOKEN}/a\x1b.md"), None, b"x\n", HOOK)
    assert found
    assert TOKEN not in found.path
    assert found.path.isprintable()


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError):
        change("a", b"\xff\xfe\xff")


def test_two_changes_in_a_row_are_one_and_back_again_is_none() -> None:
    first, second = change("a\n", "b\n"), change("b\n", f"c {TOKEN}\n")
    assert first
    assert second
    whole = joined(first, second)
    assert whole == change("a\n", f"c {TOKEN}\n")
    back = change(f"c {TOKEN}\n", "a\n")
    assert back
    assert changes_nothing(joined(whole, back))
    assert joined(whole, back).masked == 0


def test_the_same_text_in_other_bytes_is_the_same() -> None:
    assert same_text(b"a\r\n", b"\xef\xbb\xbfa\n\n")
    assert same_text(None, b"")
    assert not same_text(b"a", b"b")
    assert not same_text(b"a", b"\xff\xfe\xff")
    assert same_text(b"\xff\xfe\xff", b"\xff\xfe\xff")


texts = st.lists(st.sampled_from(PARTS) | st.text(max_size=20), max_size=12).map("".join)
contents = st.one_of(
    texts.map(lambda text: text.encode("utf-8", "surrogatepass")),
    texts.map(lambda text: b"\xef\xbb\xbf" + text.encode("utf-8", "replace")),
    texts.map(lambda text: text.replace("\n", "\r\n").encode("utf-8", "replace")),
    texts.map(lambda text: text.encode("utf-16", "surrogatepass")),
    st.binary(max_size=40),
    st.none(),
)


@given(contents, contents)
def test_any_two_contents_give_an_exact_patch_or_none_or_are_refused(
    before: bytes | None, after: bytes | None
) -> None:
    if None in [text_of(each) for each in (before, after) if each is not None]:
        with pytest.raises(InputError):
            change(before, after)
        return
    found = change(before, after)
    if found is None:
        assert essence(masked(before).text) == essence(masked(after).text)
    else:
        check_patch(found)


@given(
    st.lists(
        contents.filter(lambda content: content is None or text_of(content) is not None), min_size=3, max_size=5
    )
)
def test_changes_joined_one_by_one_are_the_change_from_first_to_last(row: list[bytes | None]) -> None:
    whole: Change | None = None
    for before, after in pairwise(row):
        step = change(before, after)
        if step and whole:
            whole = joined(whole, step)
        elif step:
            whole = step
    if whole:
        assert essence(whole.after) == essence(masked(row[-1]).text)
        assert whole.masked >= 0


def made_rows() -> Iterator[tuple[str, str]]:
    """A few dozen revisions of a memory file as people make them."""
    lines = [
        "# Shop\n",
        "\n",
        "## Tests\n",
        "Run `make test`.\n",
        "\n",
        "```sh\n",
        "make broker\n",
        "```\n",
        "- one\n",
        "- two\n",
    ]
    for at in range(len(lines)):
        yield "".join(lines), "".join(lines[:at] + lines[at + 1 :])
        yield "".join(lines[:at]), "".join(lines)
        yield "".join(lines), "".join([*lines[:at], f"注意 {at}: use `--flag={at}`.\n", *lines[at:]])
        yield "".join(lines), "".join([*lines[:at], f"export TOKEN={TOKEN}\n", *lines[at:]])
        yield "".join(lines) * 3, "".join(lines) * 2 + "".join(reversed(lines))


@pytest.mark.parametrize(("before", "after"), list(made_rows()))
def test_a_revision_as_people_make_them_gives_an_exact_patch(before: str, after: str) -> None:
    found = change(before, after)
    assert found
    check_patch(found)
