"""Payloads of Claude Code: real ones, and those that no capture exists of, after its type declarations."""

import json
from pathlib import Path

import pytest

from orgmem.capture.payloads import Answer, Edit, Event, Kind, parse

REAL = Path(__file__).parent / "payloads"
QUESTION = "May these 2 edits be shared? [n-1]"


def real(name: str) -> bytes:
    return (REAL / f"{name}.json").read_bytes()


def packed(**members: object) -> bytes:
    return json.dumps({"session_id": "s1", "cwd": "/repo", **members}).encode()


def asked(response: object, **members: object) -> tuple[Answer, ...]:
    return parse(
        "PostToolUse",
        packed(
            hook_event_name="PostToolUse", tool_name="AskUserQuestion", tool_response=response, **members
        ),
    ).answers  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind", "tool"),
    [
        ("PostToolUse.Bash", "shell", "Bash"),
        ("PostToolUse.Edit", "edit", "Edit"),
        ("PostToolUse.Write", "edit", "Write"),
        ("PostToolUse.NotebookEdit", "edit", "NotebookEdit"),
        ("PostToolUse.Glob", "other", "Glob"),
        ("PreToolUse.Edit", "other", "Edit"),
        ("SessionStart", "session_start", None),
        ("SessionEnd", "session_end", None),
        ("Stop", "stop", None),
        ("UserPromptSubmit", "prompt", None),
    ],
)
def test_a_real_payload_says_what_happened(name: str, kind: Kind, tool: str | None) -> None:
    event = parse("Whatever", real(name))
    assert (event.kind, event.tool, event.assistant) == (kind, tool, "claude-code")
    assert (event.session, event.cwd) == ("test-session-id", "/test/project")


def test_a_real_edit_gives_both_whole_texts() -> None:
    path = "/tmp/test-edit-target.json"
    event = parse("PostToolUse", real("PostToolUse.Edit"))
    assert event.edits == (Edit(path, '{"greeting": "hello"}\n', '{"greeting": "world"}\n'),)
    assert event.paths == (path,)


def test_a_real_write_of_a_new_file_starts_from_nothing() -> None:
    event = parse("PostToolUse", real("PostToolUse.Write"))
    assert event.edits == (Edit("/tmp/test-write-output.txt", "", "test data"),)


def test_a_shell_command_is_told_and_names_no_path() -> None:
    event = parse("PostToolUse", real("PostToolUse.Bash"))
    assert (event.command, event.paths, event.edits) == ("pwd", (), ())


def test_nothing_has_happened_before_a_tool_ran() -> None:
    event = parse("PreToolUse", real("PreToolUse.Edit"))
    assert (event.paths, event.edits) == ((), ())


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("SessionStart", "session_start"),
        ("UserPromptSubmit", "prompt"),
        ("PostToolUse", "edit"),
        ("Stop", "stop"),
        ("SubagentStop", "subagent_stop"),
        ("PreCompact", "compact"),
        ("SessionEnd", "session_end"),
        ("FileChanged", "file_changed"),
        ("PreToolUse", "other"),
        ("NotThereYet", "other"),
    ],
)
@pytest.mark.parametrize(
    "payload", [b"", b"\0\xff\x80", b"[]", b'"Stop"', b"7", b'{"hook_event_name": ["Stop"]}', b"{"]
)
def test_what_names_no_event_is_the_event_of_the_command_line(payload: bytes, word: str, kind: Kind) -> None:
    assert parse(word, payload, cwd="/repo") == Event(kind, "unknown", cwd="/repo")


def test_the_payload_knows_its_event_better_than_the_command_line() -> None:
    assert parse("Stop", packed(hook_event_name="SubagentStop", agent_id="a1"))[:5] == (
        "subagent_stop", "claude-code", "s1", "/repo", "a1",
    )  # fmt: skip
    assert parse("PostToolUse", packed(hook_event_name="SomethingNew", tool_name="Edit")).kind == "other"


def test_a_prompt_counts_as_a_persons_only_on_evidence() -> None:
    def evidence(entrypoint: str, **members: object) -> bool | None:
        payload = packed(hook_event_name="UserPromptSubmit", prompt="hello", **members)
        return parse("UserPromptSubmit", payload, entrypoint=entrypoint).interactive

    assert evidence("", source="user") is True
    assert evidence("cli") is True
    assert evidence("cli", source=None) is True
    assert evidence("cli", source="sdk") is False
    assert evidence("cli", source="loop_wakeup") is False
    assert evidence("cli", source=["user"]) is False
    assert evidence("") is None
    assert evidence("sdk-cli") is None
    assert evidence("cli", turn_id="codex has one") is None


@pytest.mark.parametrize(
    ("members", "active", "background"),
    [
        ({}, False, False),
        ({"stop_hook_active": False, "background_tasks": []}, False, False),
        ({"stop_hook_active": None, "background_tasks": None}, False, False),
        ({"stop_hook_active": True, "background_tasks": [{"id": "b1", "status": "running"}]}, True, True),
        ({"stop_hook_active": "false", "background_tasks": {}}, True, True),
    ],
)
def test_at_a_stop_what_is_of_an_odd_type_counts_as_on(
    members: dict[str, object], *, active: bool, background: bool
) -> None:
    event = parse("Stop", packed(hook_event_name="Stop", **members))
    assert (event.stop_active, event.background) == (active, background)


def test_a_changed_file_is_named() -> None:
    payload = packed(hook_event_name="FileChanged", file_path="/repo/CLAUDE.md", event="unlink")
    event = parse("FileChanged", payload)
    assert (event.kind, event.paths, event.edits) == ("file_changed", ("/repo/CLAUDE.md",), ())


def test_a_tool_that_is_not_known_may_have_edited_the_file_it_names() -> None:
    def after(**members: object) -> Event:
        return parse("PostToolUse", packed(hook_event_name="PostToolUse", **members))

    assert after(tool_name="mcp__disk__put", tool_input={"path": "CLAUDE.md"}).paths == ("/repo/CLAUDE.md",)
    assert after(tool_name="mcp__disk__list", tool_input={}).kind == "other"
    assert after(tool_name="Read", tool_input={"file_path": "/repo/CLAUDE.md"}).kind == "other"


def test_an_answer_is_the_label_that_the_user_chose() -> None:
    response = {"questions": [{"question": QUESTION}], "answers": {QUESTION: "Share", "Other?": "No"}}
    assert asked(response) == (
        Answer(QUESTION, "Share", idle=False, unanswered=False),
        Answer("Other?", "No", idle=False, unanswered=False),
    )


def test_a_question_that_closed_by_itself_is_idle() -> None:
    (answer,) = asked({"answers": {QUESTION: "Share"}, "afkTimeoutMs": 60_000})
    assert answer.idle
    (answer,) = asked({"answers": {QUESTION: "Share"}, "afkTimeoutMs": 0})
    assert answer.idle


@pytest.mark.parametrize(
    "annotations",
    [
        {QUESTION: {"unanswered": "skipped"}},
        {QUESTION: {"unanswered": "of a kind that is new"}},
        {QUESTION: {"unanswered": False}},
        {QUESTION: ["skipped"]},
        [QUESTION],
        "dismissed",
    ],
)
def test_an_annotation_that_may_say_unanswered_does(annotations: object) -> None:
    (answer,) = asked({"answers": {QUESTION: "Share"}, "annotations": annotations})
    assert answer.unanswered


@pytest.mark.parametrize(
    "annotations", [None, {}, {QUESTION: {"notes": "please"}}, {"Other?": {"unanswered": "skipped"}}]
)
def test_an_annotation_of_something_else_leaves_the_answer_alone(annotations: object) -> None:
    (answer,) = asked({"answers": {QUESTION: "Share"}, "annotations": annotations})
    assert not answer.unanswered


@pytest.mark.parametrize("label", ["", None, 1, True, ["Share"], {"label": "Share"}])
def test_an_answer_that_is_no_single_label_is_none(label: object) -> None:
    assert asked({"answers": {QUESTION: label}}) == (Answer(QUESTION, "", idle=False, unanswered=True),)


@pytest.mark.parametrize(
    "response",
    [
        None,
        "User has answered your questions: Share",
        json.dumps({"answers": {QUESTION: "Share"}}),
        {"response": "Share"},
        {"answers": None},
        {"answers": []},
        {"answers": {}},
        {"answers": [{QUESTION: "Share"}]},
        [{"answers": {QUESTION: "Share"}}],
        {"answers": {QUESTION: "Share"}, "error": "interrupted"},
    ],
)
def test_text_and_empty_answers_and_failures_answer_nothing(response: object) -> None:
    assert asked(response) == ()


@pytest.mark.parametrize(
    "members",
    [
        {"tool_name": "mcp__forged__AskUserQuestion"},
        {"tool_name": "askuserquestion"},
        {"tool_name": "Bash"},
        {"hook_event_name": "PreToolUse"},
        {"hook_event_name": "PostToolUseFailure"},
        {"hook_event_name": "UserPromptSubmit"},
        {"tool_response": {}, "tool_input": {"answers": {QUESTION: "Share"}}},
        {"tool_response": None, "tool_input": {"answers": {QUESTION: "Share"}}, "answers": {QUESTION: "Share"}},
    ],
)
def test_only_the_question_tools_own_response_answers(members: dict[str, object]) -> None:
    payload = {
        "hook_event_name": "PostToolUse",
        "tool_name": "AskUserQuestion",
        "tool_response": {"answers": {QUESTION: "Share"}},
        **members,
    }
    assert parse("PostToolUse", packed(**payload)).answers == ()
