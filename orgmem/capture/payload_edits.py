"""The edits that a tool's payload tells of, with whole texts where it lets us rebuild them.

Evidence: Claude Code's real payloads and transcripts; the others' documentation and the tests of programs that
read them. What is not known for certain is none: a reconcile reads the file itself.
"""

from typing import NamedTuple

from orgmem.capture.payload_values import Fields, absolute, first_fields, first_text, objects, text

_PATHS = (
    "file_path", "filePath", "notebook_path", "path", "filepath", "target_file", "absolute_path", "filename",
    "file",
)  # fmt: skip
_LISTS = ("files", "paths", "edits", "replacements")
_ADD, _UPDATE, _DELETE, _MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "

_LONGEST = 16 * 1024 * 1024
"""Characters that an edit may add; no memory file has so many."""
_MOST_WORK = 256 * 1024 * 1024
"""Characters that all edits of a call may go through."""


class Edit(NamedTuple):
    """What is known of one file's edit; at least one side is."""

    path: str
    """Absolute, as the assistant wrote it."""
    before: str | None
    """The whole text; empty when the file was created; none when unknown."""
    after: str | None
    """The whole text; empty when the file was deleted; none when unknown."""


def patch_in(given: Fields) -> str | None:
    """The text of an apply_patch call."""
    found = (first_text(given, name) for name in ("command", "patchText", "input", "patch"))
    return next((each for each in found if each and "*** Begin Patch" in each), None)


def paths_of(given: Fields, response: Fields, folder: str) -> tuple[str, ...]:
    """Absolute paths that a tool's input and response name, each once."""
    named = [text(given.get(name)) for name in _PATHS]
    for name in _LISTS:
        listed = given.get(name)
        named += [text(each) for each in listed] if isinstance(listed, list) else []
        named += [first_text(each, *_PATHS) for each in objects(listed)]
    if (patch := patch_in(given)) is not None:
        named += [path for path, _ in _sections(patch)]
    named.append(first_text(response, "filePath", "file_path"))
    return tuple(dict.fromkeys(path for each in named if (path := absolute(each, folder))))


def edits_of(given: Fields, response: Fields, folder: str) -> tuple[Edit, ...]:
    """The edits of a tool that has done its work: one file's, or those of an apply_patch."""
    if (patch := patch_in(given)) is not None:
        return _patch_edits(patch, folder)
    path = absolute(first_text(given, *_PATHS) or first_text(response, "filePath", "file_path"), folder)
    before, after = _sides(given, response)
    return (Edit(path, before, after),) if path and (before, after) != (None, None) else ()


def _sides(given: Fields, response: Fields) -> tuple[str | None, str | None]:
    for shown in (
        first_fields(response, "returnDisplay"),  # Gemini CLI
        first_fields(first_fields(response, "metadata"), "filediff"),  # OpenCode
    ):
        after = first_text(shown, "newContent", "after")
        if after is not None:
            created = shown.get("isNewFile") is True
            return ("" if created else first_text(shown, "originalContent", "before")), after
    before = text(response.get("originalFile"))
    content = first_text(response, "content")
    if content is None or "originalFile" not in response:
        content = first_text(given, "content", "file_text")
    if content is not None:
        created = response.get("type") == "create" or first_fields(response, "metadata").get("exists") is False
        return (before if before is not None else "" if created else None), content
    if before is None and _is_creation(given, response):
        return "", first_text(given, "new_string")
    return before, None if before is None else _after(before, given, response)


def _is_creation(given: Fields, response: Fields) -> bool:
    """Claude Code's Edit with nothing to replace makes the file; a file too large to show says so otherwise."""
    return "originalFile" in response and given.get("old_string") == ""


def _after(before: str, given: Fields, response: Fields) -> str | None:
    """The text after Claude Code's Edit or MultiEdit; none if it does not follow from the payload."""
    replaced: str | None = before
    steps = objects(given.get("edits")) or ({**given, **response},)
    if len(steps) * len(before) > _MOST_WORK:
        return None
    for step in steps:
        replaced = None if replaced is None else _replace(replaced, step)
    if replaced is None or response.get("userModified") is True:
        return _patched(before, objects(response.get("structuredPatch")))
    return replaced


def _replace(whole: str, step: Fields) -> str | None:
    old, new = first_text(step, "oldString", "old_string"), first_text(step, "newString", "new_string")
    if old is None or new is None or old not in whole or (not old and whole):
        return None
    if not new and not old.endswith("\n") and f"{old}\n" in whole:
        old += "\n"  # as Claude Code does: what is deleted to the end of its line takes the line's end along
    everywhere = True in (step.get("replaceAll"), step.get("replace_all"))
    times = whole.count(old) if everywhere else 1
    return whole.replace(old, new, times) if times * len(new) <= _LONGEST else None


def _patched(whole: str, hunks: tuple[Fields, ...]) -> str | None:
    """The text after a structured patch; none if it does not fit line by line."""
    lines, out, at = whole.split("\n"), [], 0
    for hunk in hunks:
        start, count, marked = hunk.get("oldStart"), hunk.get("oldLines"), hunk.get("lines")
        if not isinstance(start, float | int) or not isinstance(marked, list) or not 0 <= start <= len(lines):
            return None
        first = int(start) - (1 if count else 0)
        if first < at:
            return None
        out += lines[at:first]
        at = first
        for line in (text(each) for each in marked):
            if not line or line[0] not in " -+\\" or (line[0] in " -" and lines[at : at + 1] != [line[1:]]):
                return None
            out += [line[1:]] if line[0] in " +" else []
            at += line[0] in " -"
    return "\n".join([*out, *lines[at:]]) if hunks else None


def _sections(patch: str) -> list[tuple[str, list[str]]]:
    """(path, lines from its heading on) of each file of an apply_patch; a move's new path has a section, too."""
    found: list[tuple[str, list[str]]] = []
    for line in patch.splitlines():
        heading = next((each for each in (_ADD, _UPDATE, _DELETE, _MOVE) if line.startswith(each)), None)
        if heading:
            found.append((line.removeprefix(heading).strip(), [line]))
        elif found and not line.startswith("*** End Patch"):
            found[-1][1].append(line)
    return found


def _patch_edits(patch: str, folder: str) -> tuple[Edit, ...]:
    """Whole texts are known of added and deleted files only."""
    edits = []
    for named, lines in _sections(patch):
        path = absolute(named, folder)
        if path and lines[0].startswith(_ADD):
            added = [line[1:] for line in lines[1:] if line.startswith("+")]
            edits.append(Edit(path, "", "".join(f"{line}\n" for line in added)))
        elif path and lines[0].startswith(_DELETE):
            edits.append(Edit(path, None, ""))
    return tuple(edits)
