"""A unit's answer, example and caveats: the learning's own sentences, cleaned."""

import re
import textwrap
from collections.abc import Sequence

from orgmem.models.builtin.markdown import Kind
from orgmem.models.builtin.novelty import Fresh
from orgmem.models.builtin.sentences import CODE_SPAN, plain
from orgmem.models.builtin.units import MOST_LINES, Unit
from orgmem.text.tags import load_registry, starts_command

WARNING = re.compile(
    r"\b(?:never|do not|don't|must not|mustn't|cannot|can't|should not|shouldn't|unless|except(?:ion)?s?"
    r"|careful|beware|warning|caution|caveat|forbidden|deprecated|note that|otherwise)\b"
    r"|^(?:note|important)\b",
    re.IGNORECASE,
)
_FLAGGED = re.compile(r"^(?:\$ |\./)?[a-z][\w./@-]* (?:\S+ )*--?[a-z]")
_SHELL = frozenset({"bash", "sh", "shell", "zsh", "console", "powershell", ""})
_COMMENTED = re.compile(r"^(?:\$ )?(\S.*?)\s+#\s+(\S.*)$")
_COMMENT = re.compile(r"^\s*(?:#|//|--)\s*(\S.*)$")
LONGEST_LEAD = 30
"""Words of a lead that an answer repeats above its parts."""
SHORTEST_WARNING = 4
SHORTEST_COMMAND = 3
FEW_LINES = 4
"""Remarks or commands of a listing that its answer repeats."""
PAIR = 2
"""Columns of a table that read as `name: meaning` without their header."""


def answer_of(unit: Unit, caveats: Sequence[str]) -> str:
    """Sentences of the unit that are no caveats; items as a list below their lead."""
    lines = [line for part in unit.prose if (line := _line(part, caveats))]
    if not lines and unit.code:
        return _about_code(unit)
    lead = unit.lead if unit.lead and len(unit.lead.split()) <= LONGEST_LEAD else ""
    if lead and unit.prose[0].block.kind is Kind.PARAGRAPH and not lead.endswith(":"):
        return "\n".join([f"{_sentence(lead)} {lines[0]}", *lines[1:]])
    if lead and unit.prose:
        lead = lead if lead.endswith(":") else f"{lead.rstrip('.')}:"
        return "\n".join([lead, *(f"- {line}" for line in lines)]) if len(lines) > 1 else f"{lead} {lines[0]}"
    if len(lines) > 1 and all(part.block.kind in (Kind.ITEM, Kind.ROW) for part in unit.prose):
        return "\n".join(f"- {line}" for line in lines)
    return "\n".join(lines)


def caveats_of(unit: Unit) -> tuple[str, ...]:
    """Warnings and exceptions that follow what the unit says first."""
    texts = [text for part in unit.prose if part.block.kind is not Kind.ROW for text in part.kept]
    warnings = [
        _sentence(text) for text in texts[1:] if WARNING.search(text) and len(text.split()) >= SHORTEST_WARNING
    ]
    return tuple(warning for warning in dict.fromkeys(warnings) if warning != _sentence(texts[0]))


def example_of(unit: Unit) -> str | None:
    """The listing, or the first command in a code span."""
    if unit.code:
        block = unit.code.block
        whole = block.language not in _SHELL and block.text.count("\n") < MOST_LINES
        return textwrap.dedent(block.text if whole else "\n".join(unit.code.kept)).strip("\n")
    for part in unit.prose:
        for text in part.kept:
            for match in CODE_SPAN.finditer(text):
                command = match[0].strip("`").strip()
                if _is_command(command):
                    return command.removeprefix("$ ")
    return None


def _is_command(text: str) -> bool:
    text = text.removeprefix("$ ")
    return len(text.split()) >= SHORTEST_COMMAND and (
        starts_command(text, load_registry()) or bool(_FLAGGED.match(text))
    )


def _line(part: Fresh, caveats: Sequence[str]) -> str:
    if part.block.kind is Kind.ROW:
        return _row(part)
    said = [_sentence(text) for text in part.kept]
    line = " ".join(text for text in said if text not in caveats)
    return f"{line} It takes the place of `{part.replaced}`." if line and part.replaced else line


def _row(part: Fresh) -> str:
    first, *rest = part.kept[0].split(" | ")
    names = part.block.header[1:] if len(part.block.header) > PAIR else ()
    cells = [f"{name} {cell}" if name else cell for name, cell in _paired(names, rest) if cell]
    return _sentence(f"{first}: {'; '.join(cells)}" if cells else first)


def _paired(names: Sequence[str], cells: Sequence[str]) -> list[tuple[str, str]]:
    padded = [*names, *[""] * len(cells)]
    return list(zip(padded, cells, strict=False))


def _about_code(unit: Unit) -> str:
    assert unit.code is not None
    told = [f"`{match[1]}`: {match[2]}" for line in unit.code.kept if (match := _COMMENTED.match(line.strip()))]
    if unit.lead and len(unit.lead.split()) <= LONGEST_LEAD * 2:
        return _sentence(unit.lead.rstrip(":"))
    if told:
        return "\n".join(f"- {line}" for line in told)
    remarks = [match[1] for line in unit.code.block.text.split("\n") if (match := _COMMENT.match(line))]
    if remarks and unit.code.whole:
        return " ".join(_sentence(remark) for remark in remarks[:FEW_LINES])
    about = plain(unit.path[-1]).rstrip(":.") if unit.path else "Do it"
    if unit.code.block.language in _SHELL and len(unit.code.kept) <= FEW_LINES:
        return f"{about}: {', '.join(_span(line) for line in unit.code.kept)}."
    return f"{about}, as in the example."


def _span(line: str) -> str:
    return f"`{line.strip().replace('`', '')}`"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else f"{text.rstrip(';,')}."
