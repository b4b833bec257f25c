"""A hunk's Markdown as blocks: paragraphs, list items, table rows, code; each with what introduces it.

A hunk is a fragment: it may begin inside a fence, a list or a table. What can be told from the fragment
is mended before it is parsed (an open fence is closed, indentation is no code).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from markdown_it import MarkdownIt
from markdown_it.token import Token

from orgmem.models.builtin.sentences import VAGUE
from orgmem.text.headings import headings
from schemas.learning import Hunk

_FENCE = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})\s*(\S*)")
_TAG_LINE = re.compile(r"^\s*</?[A-Za-z][\w.-]*(?:\s[^>]*)?>\s*$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+\S")
_META = re.compile(r"^\s*(?:[\w-]+:(?:\s.*)?|-\s.*|#.*|\s+\S.*|)$")
_SEPARATOR = frozenset(" \t:|-")
_CODE_LINE = re.compile(r"(?<=\s\s)(?:#|//|\u2190)\s|[;{}]$|^[\s\u2502]*[\u251c\u2514]\u2500")
_CELL = re.compile(r"(?<!\\)\|")

_PARSER = MarkdownIt("commonmark").enable("table")
# A fragment's indentation is no code, its tags no blocks; inline marks are read in sentences.py.
_PARSER.disable(["html_block", "code", "lheading", "reference", "inline", "text_join"])


class Kind(StrEnum):
    """What a block is."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    ROW = "row"
    CODE = "code"
    META = "meta"


@dataclass(frozen=True)
class Block:
    """One block. `added`: at least one of its lines was added by the hunk."""

    kind: Kind
    text: str
    """On one line; code keeps its lines; cells of a row are joined by ` | `."""
    path: tuple[str, ...]
    lead: str
    """The parent item; the paragraph before a list or code, or that a vague beginning leans on; or empty."""
    added: bool
    header: tuple[str, ...] = ()
    """Column names of a row's table, where the hunk shows them."""
    language: str = ""


@dataclass
class _Walk:
    """Where the reading stands."""

    lines: Sequence[bool]
    """Which lines were added."""
    path: list[tuple[int, str]]
    blocks: list[Block] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    """Texts of the list items that are open."""
    header: tuple[str, ...] = ()
    previous: str = ""
    """The last paragraph outside lists."""
    list_lead: str = ""


def blocks_after(hunk: Hunk) -> tuple[Block, ...]:
    """Blocks of the text as it became, context included."""
    return _blocks(hunk, hunk.after)


def blocks_before(hunk: Hunk) -> tuple[Block, ...]:
    """Blocks of the text as it was, context included."""
    return _blocks(hunk, hunk.before)


def _blocks(hunk: Hunk, middle: str) -> tuple[Block, ...]:
    above, changed, below = (part.splitlines() for part in (hunk.context_before, middle, hunk.context_after))
    lines = [*above, *changed, *below]
    added = [False] * len(above) + [True] * len(changed) + [False] * len(below)
    metadata = _front_matter_length(hunk, lines)
    head = tuple(
        Block(Kind.META, line.strip(), (), "", added=new)
        for line, new in zip(lines[:metadata], added[:metadata], strict=True)
        if line.strip(" -")
    )
    lines, added = _closed(lines[metadata:], added[metadata:])
    walk = _Walk(added, _levels(hunk, above))
    _read(walk, _PARSER.parse("\n".join(_without_tags(lines))))
    return head + tuple(walk.blocks)


def _front_matter_length(hunk: Hunk, lines: Sequence[str]) -> int:
    """How many of the first lines are YAML front matter: it can only stand above every heading."""
    if hunk.heading_path:
        return 0
    opened = bool(lines) and lines[0].rstrip() == "---"
    for index in range(int(opened), len(lines)):
        if lines[index].rstrip() == "---":
            return index + 1
        if not _META.match(lines[index]):
            return 0
    return len(lines) if any(re.match(r"\s*[\w-]+:\s", line) for line in lines) and not _listy(lines) else 0


def _listy(lines: Sequence[str]) -> bool:
    return any(_HEADING.match(line) or not line.strip() for line in lines)


def _closed(lines: list[str], added: list[bool]) -> tuple[list[str], list[bool]]:
    """Lines with a fence put before them when the first fence mark they show is a closing one."""
    marks = [match for line in lines if (match := _FENCE.match(line))]
    bare_first = bool(marks) and not marks[0][2] and not _opens(lines)
    follows_open = len(marks) > 1 and bool(marks[1][2])
    if (bare_first and (len(marks) % 2 == 1 or follows_open)) or (not marks and _is_code(lines)):
        return ["```", *lines], [False, *added]
    return lines, added


def _opens(lines: Sequence[str]) -> bool:
    """Whether the first fence mark stands where an opening one does: after a blank line or a colon."""
    first = next(index for index, line in enumerate(lines) if _FENCE.match(line))
    above = lines[first - 1].strip() if first else "code"
    return not above or above.endswith(":")


def _is_code(lines: Sequence[str]) -> bool:
    """Whether a fragment without fence marks looks like the inside of a listing."""
    told = [line for line in lines if line.strip()]
    prose = any(_HEADING.match(line) and not line.startswith("# ") for line in told)
    code = [line for line in told if not line.lstrip().startswith(("|", ">")) and _CODE_LINE.search(line.rstrip())]
    return not prose and 2 * len(code) > len(told) > 0


def _levels(hunk: Hunk, above: Sequence[str]) -> list[tuple[int, str]]:
    """The heading path with levels: from the context where it shows them, else guessed from the depth."""
    shown = {heading.title: heading.level for heading in headings(above)}
    path: list[tuple[int, str]] = []
    for index, title in enumerate(hunk.heading_path):
        floor = path[-1][0] + 1 if path else 1
        path.append((max(shown.get(title, index + 1), floor), title))
    return path


def _without_tags(lines: Sequence[str]) -> Iterator[str]:
    """Comments and lone tags outside fences become blank lines: an HTML block would swallow Markdown."""
    fence, comment = "", False
    for line in lines:
        mark = _FENCE.match(line)
        hidden = comment or (not fence and (_TAG_LINE.match(line) or line.lstrip().startswith("<!--")))
        comment = bool(hidden) and "-->" not in line and (comment or "<!--" in line)
        yield "" if hidden else line
        if mark and not hidden and (not fence or (mark[1].startswith(fence) and not mark[2])):
            fence = "" if fence else mark[1]


def _read(walk: _Walk, tokens: Sequence[Token]) -> None:
    for index, token in enumerate(tokens):
        inside = tokens[index + 1].content if index + 1 < len(tokens) else ""
        match token.type:
            case "heading_open":
                _heading(walk, token, inside)
            case "paragraph_open":
                _paragraph(walk, token, inside)
            case "bullet_list_open" | "ordered_list_open" if not walk.items:
                walk.list_lead = walk.previous if walk.previous.endswith(":") else ""
            case "list_item_open":
                walk.items.append("")
            case "list_item_close":
                walk.items.pop()
            case "fence":
                _code(walk, token)
            case "thead_open":
                walk.header = _cells(tokens, index, "thead_close")
            case "tr_open" if tokens[index - 1].type != "thead_open":
                _row(walk, token, _cells(tokens, index, "tr_close"))
            case _:
                pass


def _heading(walk: _Walk, token: Token, title: str) -> None:
    level = int(token.tag[1])
    start, _ = token.map or (0, 0)
    # The path given with the hunk already holds the headings of the context above the change.
    if any(walk.lines[: start + 1]):
        walk.path = [*((known, text) for known, text in walk.path if known < level), (level, title)]
    walk.previous = ""


def _paragraph(walk: _Walk, token: Token, content: str) -> None:
    if content.lstrip().startswith("|"):
        _loose_rows(walk, token, content)
        return
    text = " ".join(content.split())
    if walk.items and not walk.items[-1]:
        walk.items[-1] = text
        parents = [item for item in walk.items[:-1] if item]
        lead = parents[-1] if parents else walk.list_lead
        walk.blocks.append(_block(walk, token, Kind.ITEM, text, lead=lead))
    else:
        leans = walk.previous if VAGUE.match(text) else ""
        lead = walk.items[-1] if walk.items else leans
        walk.blocks.append(_block(walk, token, Kind.PARAGRAPH, text, lead=lead))
    if not walk.items:
        walk.previous = text


def _code(walk: _Walk, token: Token) -> None:
    parents = [item for item in walk.items if item]
    lead = parents[-1] if parents else walk.previous
    block = _block(walk, token, Kind.CODE, token.content.strip("\n"), lead=lead)
    walk.blocks.append(replace(block, language=token.info.split(" ")[0].lower()))


def _row(walk: _Walk, token: Token, cells: Sequence[str]) -> None:
    walk.blocks.append(_block(walk, token, Kind.ROW, " | ".join(cells), header=walk.header))


def _loose_rows(walk: _Walk, token: Token, content: str) -> None:
    """Rows of a table whose header the hunk doesn't show."""
    start, _ = token.map or (0, 0)
    for offset, line in enumerate(content.split("\n")):
        if not _SEPARATOR.issuperset(line):
            cells = " | ".join(cell.strip() for cell in _CELL.split(line.strip().strip("|")))
            added = walk.lines[min(start + offset, len(walk.lines) - 1)]
            walk.blocks.append(Block(Kind.ROW, cells, _path(walk), "", added))


def _cells(tokens: Sequence[Token], start: int, end: str) -> tuple[str, ...]:
    return tuple(_until(tokens, start, end))


def _until(tokens: Sequence[Token], start: int, end: str) -> Iterator[str]:
    for token in tokens[start:]:
        if token.type == end:
            return
        if token.type == "inline":
            yield " ".join(token.content.split())


def _block(
    walk: _Walk, token: Token, kind: Kind, text: str, *, lead: str = "", header: tuple[str, ...] = ()
) -> Block:
    start, end = token.map or (0, 0)
    return Block(kind, text, _path(walk), lead, added=any(walk.lines[start:end]), header=header)


def _path(walk: _Walk) -> tuple[str, ...]:
    return tuple(title for _, title in walk.path)
