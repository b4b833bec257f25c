"""Lines come one by one, whatever their length; what is no JSON Lines file is refused in a word."""

import gzip
import hashlib
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.errors import InputError, NotFoundError
from orgmem.store.jsonl import read_lines

LONGEST = 1024


def test_blank_lines_are_counted_but_not_given(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"a":1}\r\n\n   \n{"b":2}')
    assert [(line.number, line.data) for line in read_lines(file, LONGEST)] == [
        (1, b'{"a":1}'),
        (4, b'{"b":2}'),
    ]


@given(st.lists(st.binary(min_size=1, max_size=40).filter(lambda data: not set(data) & {0, 10, 13, 31, 239})))
def test_plain_and_gzipped_files_give_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("jsonl")
    (folder / "plain").write_bytes(b"\n".join(lines))
    (folder / "packed").write_bytes(gzip.compress(b"\n".join(lines)))
    plain = list(read_lines(folder / "plain", 16))
    assert plain == list(read_lines(folder / "packed", 16))
    assert [line.size for line in plain if line.whole] == [len(line.data) for line in plain if line.whole]
    assert [line.number for line in plain] == [number for number, data in enumerate(lines, 1) if data.strip()]


def test_of_a_line_that_is_too_long_the_beginning_the_size_and_the_hash_are_given(tmp_path: Path) -> None:
    line = b"x" * 5_000_000
    file = tmp_path / "rows.jsonl"
    file.write_bytes(line + b"\nnext\n")
    tracemalloc.start()
    long, following = read_lines(file, LONGEST)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not long.whole
    assert (long.data, long.size) == (line[:LONGEST], len(line) + 1)
    assert long.sha256 == hashlib.sha256(line + b"\n").hexdigest()
    assert (following.number, following.data, following.whole) == (2, b"next", True)
    assert peak < 1_000_000


def test_a_line_of_just_the_longest_length_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"x" * LONGEST + b"\n" + b"y" * LONGEST)
    assert [line.whole for line in read_lines(file, LONGEST)] == [True, True]


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no file"):
        list(read_lines(tmp_path / "missing.jsonl", LONGEST))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        list(read_lines(tmp_path, LONGEST))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_binary_file_is_refused(tmp_path: Path, pack: type[bytes]) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(pack(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 40))
    with pytest.raises(InputError, match="is binary"):
        list(read_lines(file, LONGEST))


@pytest.mark.parametrize("cut", [5, 40, -1, -8])
def test_a_gzip_that_is_cut_off_is_refused(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "rows.jsonl.gz"
    file.write_bytes(gzip.compress(b"".join(b"%d\n" % number for number in range(500)))[:cut])
    with pytest.raises(InputError, match="damaged gzip, or cut off"):
        list(read_lines(file, LONGEST))
