"""Reading memory files: what is read, what is not, and which texts are the same."""

import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.capture.memory_file import (
    Content,
    Missing,
    Skipped,
    essence,
    is_personal,
    read,
    text_of,
    without_our_block,
)
from orgmem.capture.state.replicas import Stamp

LONGEST = 1000
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=60)
OURS = "<!-- orgmem:begin lessons -->\nWrite lessons here.\n<!-- orgmem:end -->\n"
PIECES = st.sampled_from(
    ["text\n", "\n", "<!-- orgmem:begin x -->\n", "  <!-- orgmem:end -->\r\n", "end", "```\n"]
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path)) / "CLAUDE.md"


def test_a_file_is_read_with_the_stamp_it_had(file: Path) -> None:
    file.write_bytes(b"- Use uv.\n")
    found = file.stat()
    assert read(str(file), LONGEST) == Content(b"- Use uv.\n", Stamp(found.st_mtime_ns, 10, found.st_ino))


def test_an_empty_file_has_content(file: Path) -> None:
    file.touch()
    content = read(str(file), LONGEST)
    assert isinstance(content, Content)
    assert content.data == b""


def test_a_file_may_be_as_long_as_the_limit_and_no_longer(file: Path) -> None:
    file.write_bytes(b"x" * LONGEST)
    assert isinstance(read(str(file), LONGEST), Content)
    file.write_bytes(b"x" * (LONGEST + 1))
    skipped = read(str(file), LONGEST)
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "it has 1,001 bytes, at most 1,000 are read"
    assert skipped.stamp.size == 1001


def test_a_huge_sparse_file_is_not_read(file: Path) -> None:
    """obra/double-shot-latte#13."""
    with file.open("wb") as handle:
        handle.truncate(50 * 1024**3)
    assert isinstance(read(str(file), LONGEST), Skipped)


@pytest.mark.parametrize("path", ["gone.md", "gone/CLAUDE.md", "CLAUDE.md/below.md", "folder"])
def test_what_is_no_file_is_missing(file: Path, path: str) -> None:
    file.write_text("text")
    file.with_name("folder").mkdir()
    assert read(str(file.parent / path), LONGEST) == Missing()


def test_a_file_that_has_become_a_link_is_missing_under_its_old_real_path(file: Path) -> None:
    file.with_name("AGENTS.md").write_text("text")
    file.symlink_to("AGENTS.md")
    assert read(str(file), LONGEST) == Missing()


def test_a_file_whose_folder_has_become_a_link_is_missing_under_its_old_real_path(file: Path) -> None:
    (file.parent / "rules").mkdir()
    (file.parent / "rules" / "a.md").write_text("text")
    (file.parent / "link").symlink_to("rules")
    assert read(str(file.parent / "link" / "a.md"), LONGEST) == Missing()


def test_a_loop_of_links_is_missing(file: Path) -> None:
    file.symlink_to("AGENTS.md")
    file.with_name("AGENTS.md").symlink_to("CLAUDE.md")
    assert read(str(file), LONGEST) == Missing()


def test_pipes_and_sockets_are_not_opened(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(file)
    monkeypatch.chdir(file.parent)  # the path may be too long for a socket
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        for path in (file, file.with_name("socket.md")):
            skipped = read(str(path), LONGEST)
            assert isinstance(skipped, Skipped)
            assert skipped.reason == "it is not a regular file"


def test_a_file_without_the_right_to_read_it_is_skipped_and_not_missing(file: Path) -> None:
    file.write_text("text")
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read everything")
    skipped = read(str(file), LONGEST)
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "it can't be read: permission denied"
    file.chmod(0o600)
    file.parent.chmod(0)
    try:
        assert isinstance(read(str(file), LONGEST), Skipped)
    finally:
        file.parent.chmod(0o700)


def test_a_name_that_no_file_can_have_is_skipped(tmp_path: Path) -> None:
    assert isinstance(read(f"{tmp_path}/a\0b", LONGEST), Missing | Skipped)
    assert isinstance(read(f"{tmp_path}/{'x' * 300}", LONGEST), Skipped)


def test_half_of_a_write_is_never_read(file: Path) -> None:
    """A writer truncates and writes in two steps, again and again."""
    texts = {letter.encode() * 900 for letter in "ab"}
    done = threading.Event()

    def write() -> None:
        for _ in range(40):
            for text in texts:
                with file.open("wb", buffering=0) as handle:
                    handle.write(text[:450])
                    handle.write(text[450:])
                done.wait(0.001)
        done.set()

    file.write_bytes(b"a" * 900)
    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while not done.is_set():
        seen.append(read(str(file), LONGEST))
    writer.join()
    assert {each.data for each in seen if isinstance(each, Content)} <= texts
    assert {each.reason for each in seen if isinstance(each, Skipped)} <= {"it changes while it is read"}
    assert isinstance(read(str(file), LONGEST), Content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_utf_8_and_marked_utf_16_are_text(encoding: str) -> None:
    assert text_of("日本語, naïve\r\nzweite\n".encode(encoding)) == "日本語, naïve\nzweite\n"


def test_big_endian_utf_16_with_a_mark_is_text() -> None:
    assert text_of(b"\xfe\xff" + "größer".encode("utf-16-be")) == "größer"


@pytest.mark.parametrize(
    "data",
    [
        b"caf\xe9",  # Latin-1
        b"\xff\xfea",  # half a character
        b"\xff\xfe\x00\xd8a\x00",  # a lone surrogate
        "no mark".encode("utf-16-le"),
        bytes(range(256)),
    ],
)
def test_other_bytes_are_not_text(data: bytes) -> None:
    assert text_of(data) is None


def test_a_stray_nul_is_text() -> None:
    assert text_of(b"Some text with one\0 in it") == "Some text with one\0 in it"


@given(LINES)
def test_line_ends_mark_and_final_newlines_alone_never_change_the_essence(text: str) -> None:
    """NousResearch/hermes-agent#109674."""
    crlf = text.replace("\n", "\r\n")
    for other in (crlf, f"\ufeff{text}", f"{text}\n", f"{crlf}\r\n\r\n", f"{text} \t\n"):
        assert essence(other) == essence(text) or text.startswith("\ufeff")


@given(LINES)
def test_the_encoding_of_a_file_never_changes_the_essence(text: str) -> None:
    if text.startswith("\ufeff") or "\0" in text:
        return
    read_back = {text_of(text.encode(encoding)) for encoding in ("utf-8", "utf-8-sig", "utf-16")}
    assert {essence(each or "") for each in read_back} == {essence(text)}


def test_an_edit_of_a_line_changes_the_essence() -> None:
    assert essence("- Use pip.\n") != essence("- Use uv.\n")
    assert essence("a\n\nb\n") != essence("a\nb\n")
    assert essence("  a") != essence("a")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (OURS, ""),
        (f"# Title\n\n{OURS}", "# Title\n\n"),
        (f"{OURS}\n# Title\n", "# Title\n"),
        (f"Above.\n\n{OURS}\nBelow.\n", "Above.\n\nBelow.\n"),
        (f"Above.\n{OURS}Below.\n", "Above.\nBelow.\n"),
        (f"Above.\n{OURS}Between.\n{OURS}", "Above.\nBetween.\n"),
        (OURS.replace("\n", "\r\n") + "Below.\r\n", "Below.\r\n"),
        (f"```\n{OURS}```\n", "```\n```\n"),
        (OURS.removesuffix("\n"), ""),
    ],
)
def test_our_block_is_taken_out_wherever_it_stands(text: str, kept: str) -> None:
    assert without_our_block(text) == kept


def test_nested_blocks_go_with_the_outer_one() -> None:
    assert without_our_block(f"a\n<!-- orgmem:begin -->\n{OURS}still ours\n<!-- orgmem:end -->\nb\n") == "a\nb\n"


def test_a_block_that_is_never_closed_hides_nothing() -> None:
    unclosed = "<!-- orgmem:begin lessons -->\nA lesson below.\n"
    assert without_our_block(unclosed) == unclosed
    assert without_our_block(unclosed + OURS + "c\n") == unclosed + "c\n"
    stray = "a\n<!-- orgmem:end -->\nb\n"
    assert without_our_block(stray) == stray


def test_markers_inside_a_sentence_are_text() -> None:
    text = "Never touch <!-- orgmem:begin --> and <!-- orgmem:end --> lines.\n"
    assert without_our_block(text) == text


@given(st.lists(PIECES, max_size=12).map("".join))
def test_taking_our_block_out_twice_changes_nothing_more(text: str) -> None:
    once = without_our_block(text)
    assert without_our_block(once) == once


@given(LINES.map(str.strip), LINES.map(str.strip))
def test_a_block_of_ours_between_two_paragraphs_never_changes_the_essence(above: str, below: str) -> None:
    plain = "\n\n".join(filter(None, (above, below)))
    whole = "\n\n".join(filter(None, (above, OURS.strip(), below)))
    assert essence(without_our_block(whole)) == essence(plain)


@pytest.mark.parametrize(
    "line", ["type: user", "metadata:\n  type: user", 'type: "user"  # about me', "TYPE: x\ntype: user"]
)
def test_a_memory_of_type_user_is_personal(line: str) -> None:
    assert is_personal(f"---\nname: tastes\n{line}\n---\nPrefers tea.\n")


@pytest.mark.parametrize(
    "text",
    [
        "---\ntype: project\n---\n",
        "type: user\n",
        "# A\n---\ntype: user\n---\n",
        "---\ntype: user-guide\n---\n",
        "",
    ],
)
def test_other_memories_are_not_personal(text: str) -> None:
    assert not is_personal(text)
