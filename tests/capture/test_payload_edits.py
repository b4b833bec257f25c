"""Whole texts are rebuilt from a payload where they follow from it, and nowhere else."""

import json

import pytest

from orgmem.capture.payloads import Edit, Event, parse

FILE = "/repo/CLAUDE.md"
WHOLE = "# Notes\n- use tabs\n- use tabs\n"


def done(tool: str, given: object, response: object = None, **members: object) -> Event:
    payload = {
        "session_id": "s1", "cwd": "/repo", "hook_event_name": "PostToolUse", "tool_name": tool,
        "tool_input": given, "tool_response": response, **members,
    }  # fmt: skip
    return parse("PostToolUse", json.dumps(payload).encode())


def edited(old: str, new: str, original: object = WHOLE, **response: object) -> tuple[str | None, str | None]:
    """Both sides of a Claude Code Edit."""
    (edit,) = done(
        "Edit",
        {"file_path": FILE, "old_string": old, "new_string": new},
        {"filePath": FILE, "originalFile": original, **response},
    ).edits
    return edit.before, edit.after


def test_an_edit_replaces_the_first_place_or_all() -> None:
    assert edited("use tabs", "use spaces") == (WHOLE, "# Notes\n- use spaces\n- use tabs\n")
    assert edited("use tabs", "no", replaceAll=True) == (WHOLE, "# Notes\n- no\n- no\n")


def test_an_edit_that_does_not_fit_leaves_after_unknown() -> None:
    assert edited("use commas", "use spaces") == (WHOLE, None)
    assert edited("", "put before everything") == (WHOLE, None)


def test_what_is_deleted_to_the_end_of_its_line_takes_the_line_end_along() -> None:
    """Met once in 104 edits of real transcripts; Claude Code's own patch shows it."""
    assert edited("# Notes", "") == (WHOLE, "- use tabs\n- use tabs\n")


def test_an_edit_of_a_file_too_large_to_show_is_known_by_name_only() -> None:
    event = done("Edit", {"file_path": FILE, "old_string": "a", "new_string": "b"}, {"originalFile": None})
    assert (event.paths, event.edits) == ((FILE,), ())


def test_an_edit_with_nothing_to_replace_creates_the_file() -> None:
    assert edited("", "# New\n", original=None) == ("", "# New\n")
    assert edited("", "# New\n", original="") == ("", "# New\n")


def test_an_edit_that_the_user_changed_is_read_from_its_patch() -> None:
    hunk = {
        "oldStart": 2,
        "oldLines": 2,
        "newStart": 2,
        "newLines": 1,
        "lines": ["-- use tabs", "-- use tabs", "+- fine"],
    }
    assert edited("use tabs", "x", userModified=True, structuredPatch=[hunk]) == (WHOLE, "# Notes\n- fine\n")
    assert edited("use tabs", "x", userModified=True) == (WHOLE, None)


@pytest.mark.parametrize(
    "hunk",
    [
        {"oldStart": 2, "oldLines": 1, "lines": ["-- other", "+- fine"]},
        {"oldStart": 99, "oldLines": 1, "lines": ["+- fine"]},
        {"oldStart": float("nan"), "oldLines": 1, "lines": ["+- fine"]},
        {"oldStart": -5, "oldLines": 1, "lines": ["+- fine"]},
        {"oldStart": 2, "oldLines": 1, "lines": "+- fine"},
        {"oldStart": 2, "oldLines": 1, "lines": [None]},
        {"oldStart": 2, "oldLines": 1, "lines": ["?"]},
        {},
    ],
)
def test_a_patch_that_does_not_fit_is_not_applied(hunk: dict[str, object]) -> None:
    assert edited("gone", "x", structuredPatch=[hunk]) == (WHOLE, None)


def test_a_patch_of_several_hunks_is_the_last_resort() -> None:
    hunks = [
        {"oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+first"]},
        {"oldStart": 3, "oldLines": 1, "newStart": 4, "newLines": 1, "lines": ["-- use tabs", "+- last"]},
    ]
    assert edited("gone", "x", structuredPatch=hunks) == (WHOLE, "first\n# Notes\n- use tabs\n- last\n")


def test_several_edits_of_one_call_follow_each_other() -> None:
    steps = [
        {"old_string": "tabs", "new_string": "spaces", "replace_all": True},
        {"old_string": "spaces", "new_string": "two"},
    ]
    event = done("MultiEdit", {"file_path": FILE, "edits": steps}, {"originalFile": WHOLE})
    assert event.edits == (Edit(FILE, WHOLE, "# Notes\n- use two\n- use spaces\n"),)


def test_one_step_that_does_not_fit_makes_the_whole_call_unknown() -> None:
    steps = [{"old_string": "tabs", "new_string": "x"}, {"old_string": "nowhere", "new_string": "y"}]
    event = done("MultiEdit", {"file_path": FILE, "edits": steps}, {"originalFile": WHOLE})
    assert event.edits == (Edit(FILE, WHOLE, None),)


def test_edits_that_would_fill_the_memory_or_take_for_ever_are_not_made() -> None:
    assert edited("a", "b" * 100_000, original="a" * 1_000_000, replaceAll=True)[1] is None
    steps = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "a"}] * 200
    event = done("MultiEdit", {"file_path": FILE, "edits": steps}, {"originalFile": "a" * 1_000_000})
    assert event.edits[0].after is None


def test_a_write_gives_the_new_text_and_the_old_where_it_is_known() -> None:
    def written(response: object) -> tuple[Edit, ...]:
        return done("Write", {"file_path": FILE, "content": "new\n"}, response).edits

    assert written({"type": "update", "originalFile": "old\n", "content": "new\n"}) == (
        Edit(FILE, "old\n", "new\n"),
    )
    assert written({"type": "create", "originalFile": None, "content": "new\n"}) == (Edit(FILE, "", "new\n"),)
    assert written({"type": "update", "originalFile": None}) == (Edit(FILE, None, "new\n"),)
    assert written({"filePath": FILE, "success": True}) == (Edit(FILE, None, "new\n"),)
    assert written("File written") == (Edit(FILE, None, "new\n"),)
    assert written(None) == (Edit(FILE, None, "new\n"),)


@pytest.mark.parametrize(
    "response",
    [
        {"success": False},
        {"error": "Permission denied"},
        {"error": {"message": "no"}},
        {"is_error": True},
        {"isError": True},
        {"status": "failed"},
        {"resultType": "denied"},
        {"metadata": {"exit_code": 1}},
        "Error: File has not been read yet",
    ],
)
def test_a_tool_that_failed_rebuilds_nothing_and_names_its_file(response: object) -> None:
    event = done("Write", {"file_path": FILE, "content": "new\n"}, response)
    assert (event.kind, event.paths, event.edits) == ("edit", (FILE,), ())


def test_a_failure_event_rebuilds_nothing_either() -> None:
    event = done("Write", {"file_path": FILE, "content": "new\n"}, hook_event_name="PostToolUseFailure")
    assert (event.paths, event.edits) == ((FILE,), ())


@pytest.mark.parametrize(
    ("path", "cwd", "absolute"),
    [
        ("CLAUDE.md", "/repo", "/repo/CLAUDE.md"),
        ("./docs/a b.md", "/repo/", "/repo/docs/a b.md"),
        ("../CLAUDE.md", "/repo/web", "/repo/web/../CLAUDE.md"),
        ("/else/CLAUDE.md", "/repo", "/else/CLAUDE.md"),
        (r"C:\repo\CLAUDE.md", "/repo", r"C:\repo\CLAUDE.md"),
        ("C:/repo/CLAUDE.md", "/repo", "C:/repo/CLAUDE.md"),
        (r"\\host\share\CLAUDE.md", "/repo", r"\\host\share\CLAUDE.md"),
        ("CLAUDE.md", r"C:\repo", r"C:\repo\CLAUDE.md"),
        ("項目/規則.md", "/repo", "/repo/項目/規則.md"),
    ],
)
def test_a_path_is_absolute_and_otherwise_as_it_was_written(path: str, cwd: str, absolute: str) -> None:
    event = done("Write", {"file_path": path, "content": "x"}, cwd=cwd)
    assert event.paths == (absolute,)
    assert event.edits == (Edit(absolute, None, "x"),)


@pytest.mark.parametrize(
    ("path", "cwd"), [("CLAUDE.md", None), ("CLAUDE.md", "repo"), ("", "/repo"), ("a\0b", "/repo")]
)
def test_a_path_that_can_be_nowhere_is_left_out(path: str, cwd: object) -> None:
    event = done("Write", {"file_path": path, "content": "x"}, cwd=cwd)
    assert (event.paths, event.edits) == ((), ())


PATCH = """*** Begin Patch
*** Add File: docs/AGENTS.md
+# Agents
+
+- Run make test.
*** Update File: AGENTS.md
*** Move to: RULES.md
@@ heading
-old
+new
*** Delete File: /repo/old.md
*** End Patch"""


@pytest.mark.parametrize(
    ("tool", "given"),
    [("apply_patch", {"command": PATCH}), ("apply_patch", {"input": PATCH}), ("patch", {"patchText": PATCH})],
)
def test_an_applied_patch_names_every_file_and_gives_added_and_deleted_texts(tool: str, given: object) -> None:
    event = done(tool, given, "Success. Updated the following files:\nA docs/AGENTS.md")
    assert event.kind == "edit"
    assert event.paths == ("/repo/docs/AGENTS.md", "/repo/AGENTS.md", "/repo/RULES.md", "/repo/old.md")
    assert event.edits == (
        Edit("/repo/docs/AGENTS.md", "", "# Agents\n\n- Run make test.\n"),
        Edit("/repo/old.md", None, ""),
    )


def test_a_patch_that_was_refused_names_its_files_only() -> None:
    event = done("apply_patch", {"command": PATCH}, {"output": "no", "metadata": {"exit_code": 1}})
    assert event.paths
    assert not event.edits
