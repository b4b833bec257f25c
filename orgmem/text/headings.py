"""Where in a Markdown file a line stands: the headings above it, outermost first.

ATX and setext headings count; lines of fenced code and of YAML front matter don't.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?$")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})(.*)$")
_NO_PARAGRAPH = re.compile(r"[ \t]*(?:$|[-*+>|][ \t]|\d{1,9}[.)][ \t]|[-*_=][ \t]*(?:[-*_=][ \t]*){2,}$)")


class Heading(NamedTuple):
    """A heading: its line's index, its level from 1 to 6, its text without marks."""

    line: int
    level: int
    title: str


def headings(lines: Sequence[str]) -> tuple[Heading, ...]:
    """Every heading, in order. Lines may keep their ends."""
    return tuple(_headings([line.rstrip("\r\n") for line in lines]))


def heading_path(lines: Sequence[str], index: int) -> tuple[str, ...]:
    """Titles of the headings above line `index`; a heading at `index` stands under its parents only."""
    return path_at(headings(lines), index)


def path_at(found: Sequence[Heading], index: int) -> tuple[str, ...]:
    """As `heading_path`, from headings already read: one reading serves all hunks of a file."""
    path: list[Heading] = []
    for heading in found:
        if heading.line > index:
            break
        while path and path[-1].level >= heading.level:
            path.pop()
        if heading.line < index:
            path.append(heading)
    return tuple(heading.title for heading in path if heading.title)


def _headings(lines: Sequence[str]) -> Iterator[Heading]:
    fence = ""
    start = _after_front_matter(lines)
    for index in range(start, len(lines)):
        line = lines[index]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif atx := _ATX.match(line):
            yield Heading(index, len(atx[1]), _without_closing(atx[2] or ""))
        elif index + 1 < len(lines) and (rule := _SETEXT.match(lines[index + 1])) and _is_paragraph(line):
            yield Heading(index, 1 if rule[1][0] == "=" else 2, line.strip())


def _without_closing(title: str) -> str:
    """The title without the hashes that may close it, which a blank sets apart."""
    title = title.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else title


def _is_paragraph(line: str) -> bool:
    return not _NO_PARAGRAPH.match(line)


def _after_front_matter(lines: Sequence[str]) -> int:
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return 0
    for index in range(1, len(lines)):
        if lines[index].rstrip() in ("---", "..."):
            return index + 1
    return 0
