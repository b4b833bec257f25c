"""Blocks that hold nothing for others, however new they are: indexes, status, persona, metadata."""

import re

from orgmem.models.builtin.markdown import Block, Kind
from orgmem.models.builtin.sentences import plain
from orgmem.models.curator import NothingReason

_DATE = (
    r"\d{4}-\d{2}-\d{2}|\d{1,2}/\d{1,2}/\d{2,4}"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2},? \d{4}"
)
_STATUS = re.compile(
    r"^(?:last[ _](?:updated|audited|reviewed|modified|checked|verified)|audit[ _]result|updated|date|status"
    rf"|created|version)\b[^.]{{0,60}}$|^\W*(?:{_DATE})(?![\w/-])",
    re.IGNORECASE,
)
_LOG_HEADING = re.compile(
    r"^\W*(?:changelog|change log|recent (?:changes|updates)|history|progress|status|current status|audit log"
    rf"|release notes|(?:session |work )?log|what's new|\[?v?\d+\.\d+\S*|{_DATE})\W*(?:{_DATE})?\W*$",
    re.IGNORECASE,
)
_LOG_ENTRY = re.compile(
    r"^(?:added|fixed|updated|changed|removed|moved|renamed|implemented|refactored|completed|done|merged|created"
    rf"|improved|in progress|next|blocked|current(?:ly)?)\b|\b(?:{_DATE})\b|\bv?\d+\.\d+\.\d+\b|#\d+\b",
    re.IGNORECASE,
)
_INDEX_HEADING = re.compile(
    r"^(?:table of contents|contents|toc|related(?: (?:documentation|docs|topics|files|documents))?|see also"
    r"|further reading|references|additional resources|source files)$",
    re.IGNORECASE,
)
_PERSONA = re.compile(
    r"^you(?:'re| are) \w+, (?:an?|the) \b"
    r"|^you(?:'re| are) (?:an? |the )?(?:\w+ )?(?:helpful|expert|senior|experienced|world-class|skilled|seasoned"
    r"|professional|ai assistant|assistant)\b|^(?:think|work) (?:carefully|step by step)",
    re.IGNORECASE,
)
_ABOUT_ITSELF = re.compile(
    r"^(?:this file (?:provides|contains|gives|offers)|this document (?:provides|contains)"
    r"|the following (?:guidelines|rules|instructions)|(?:general )?instructions for (?:ai|coding|agents))"
    r"[^.]*\b(?:guidance|guidelines|instructions|context|agents?|assistants?)\b",
    re.IGNORECASE,
)
_LINK_ONLY = re.compile(
    r"^\W{0,20}(?:see|read|refer to|check|please refer to|also see)?:?\s*(?:the )?!?\[[^\]]*\]\([^)]*\)\W*$",
    re.IGNORECASE,
)
_MEMORY_FILE = re.compile(
    r"(?:CLAUDE|AGENTS|GEMINI|copilot-instructions|CONTRIBUTING|README|\.cursorrules)(?:\.local)?(?:\.md)?",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"^(?:please |always )?(?:see|refer to|read|follow|check|@|for (?:more|full|detailed|further|complete)\b"
    r"|more (?:details|information)\b)",
    re.IGNORECASE,
)
_HOME = re.compile(r"(?:^|[\s`(])(?:~/(?!\.)|/Users/|/home/(?!runner|user\b))\S+")
_ARROW_LINK = re.compile(r"^\W{0,20}\[[^\]]*\]\([^)]*\.mdx?[^)]*\)\W*$")
_DOC_CELL = re.compile(r"^`?[\w./-]+\.mdx?`?$")
SHORT_POINTER = 30
"""A pointer to another guide of at most this many words says nothing by itself."""


def noise_of(block: Block) -> NothingReason | None:
    """Why the block is dropped before it is compared, or none."""
    text = plain(block.text)
    if block.kind is Kind.META:
        return NothingReason.FRONT_MATTER_ONLY
    if _STATUS.match(text) or (_LOG_ENTRY.search(text) and any(_LOG_HEADING.match(title) for title in block.path)):
        return NothingReason.STATUS_LOG
    if block.kind is Kind.CODE:
        return None
    if _PERSONA.match(text) or _ABOUT_ITSELF.match(text):
        return NothingReason.GENERIC_PERSONA
    return NothingReason.INDEX_ONLY if _is_pointer(block, text) else None


def _is_pointer(block: Block, text: str) -> bool:
    if block.path and _INDEX_HEADING.match(plain(block.path[-1])):
        return True
    if block.kind is Kind.ROW:
        cells = block.text.split(" | ")
        return bool(_DOC_CELL.match(cells[0])) or any(_ARROW_LINK.match(cell) for cell in cells)
    if _LINK_ONLY.match(block.text):
        return True
    short = len(text.split()) <= SHORT_POINTER
    if short and _HOME.search(text) and _POINTER.match(text):
        return True
    return short and bool(_POINTER.match(text)) and bool(_MEMORY_FILE.search(text)) and "`" not in text
