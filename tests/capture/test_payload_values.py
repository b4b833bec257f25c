"""Whatever a payload holds, it is read without an error, and what can be read of it is kept."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.capture.payloads import Event, parse

REAL = tuple((Path(__file__).parent / "payloads").glob("*.json"))
WORDS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "afterFileEdit", "post_write_code", "")
EDIT = {
    "session_id": "s1",
    "hook_event_name": "PostToolUse",
    "cwd": "/repo",
    "tool_name": "Write",
    "tool_input": {"file_path": "CLAUDE.md", "content": "項目 \N{RIGHT-TO-LEFT MARK}<|endoftext|>\r\n\0"},
}

strange = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
NAMES = (
    "session_id", "hook_event_name", "hookName", "type", "cwd", "workspace_roots", "tool_name", "tool",
    "tool_input", "tool_response", "toolArgs", "tool_info", "postToolUse", "input", "output", "properties",
    "file_path", "edits", "content", "command", "answers", "annotations", "afkTimeoutMs", "source",
    "background_tasks", "metadata",
    "originalFile", "old_string", "new_string", "structuredPatch", "lines", "oldStart", "oldLines", "filediff",
)  # fmt: skip
plausible = st.recursive(
    strange
    | st.sampled_from(["PostToolUse", "AskUserQuestion", "Edit", "Write", "/repo/CLAUDE.md", "*** Begin Patch"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=8),
    max_leaves=30,
)


def held(event: Event) -> tuple[str | None, str | None]:
    return event.session, event.kind


def texts(value: object) -> list[str]:
    """Every text in an event."""
    if isinstance(value, str):
        return [value]
    return [text for each in value for text in texts(each)] if isinstance(value, tuple) else []


@given(plausible, st.sampled_from(WORDS))
def test_any_json_is_read_and_gives_only_texts_that_can_be_written(value: object, word: str) -> None:
    event = parse(word, json.dumps(value).encode())
    assert not [text for text in texts(event) if text.encode("utf-8", "replace").decode() != text]


@given(st.binary(max_size=200), st.sampled_from(WORDS))
def test_any_bytes_are_read(payload: bytes, word: str) -> None:
    assert parse(word, payload).kind == parse(word, b"").kind


@given(st.sampled_from(REAL), st.data())
def test_any_change_of_a_real_payload_is_read_and_keeps_the_session(file: Path, data: st.DataObject) -> None:
    payload = json.loads(file.read_bytes())
    inside = data.draw(st.sampled_from([payload, *(each for each in payload.values() if isinstance(each, dict))]))
    name = data.draw(st.sampled_from(sorted(inside)))
    if data.draw(st.booleans()):
        del inside[name]
    else:
        inside[name] = data.draw(strange)
    session = payload.get("session_id")
    event = parse("Stop", json.dumps(payload).encode())
    if isinstance(session, str):
        assert event.session == session.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    else:
        assert event.session is None


@pytest.mark.parametrize("file", REAL, ids=lambda file: file.stem)
def test_each_member_can_be_missing_and_the_event_is_known_still(file: Path) -> None:
    """Public report: thedotmack/claude-mem#260; a payload without `cwd` or `transcript_path` was thrown away."""
    whole = json.loads(file.read_bytes())
    known = parse("", file.read_bytes())
    for name in whole:
        rest = {other: value for other, value in whole.items() if other != name}
        event = parse(
            whole["hook_event_name"], json.dumps({**rest, "new in some release": 1}).encode(), cwd="/here"
        )
        if name not in {"tool_name", "tool_response"}:
            assert event.kind == known.kind
        assert event.cwd == ("/here" if name == "cwd" else known.cwd)
        assert event.session == (None if name == "session_id" else known.session)
        if name != "tool_input":
            assert event.paths == known.paths


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_payload_may_be_of_any_unicode_encoding(encoding: str) -> None:
    event = parse("", json.dumps(EDIT, ensure_ascii=False).encode(encoding))
    assert event.session == "s1"
    assert event.edits[0].after == EDIT["tool_input"]["content"]  # type: ignore[index]


def test_a_byte_that_is_no_text_costs_that_character_only() -> None:
    event = parse("", json.dumps(EDIT, ensure_ascii=False).encode().replace(b"<|", b"\xff|"))
    assert event.edits[0].after == "項目 \u200f\ufffd|endoftext|>\r\n\0"


def test_a_lone_surrogate_becomes_a_replacement_character_and_a_pair_its_character() -> None:
    payload = rb'{"session_id": "s\ud800", "hook_event_name": "Stop", "cwd": "/\ud83d\ude00"}'
    event = parse("", payload)
    assert (event.session, event.cwd) == ("s\ufffd", "/\N{GRINNING FACE}")


@pytest.mark.parametrize(
    "damage",
    [
        b'"tool_input": {"content": "cut off in the middle of a te',
        b'"tool_input": ' + b"[" * 100_000,
        b'"tool_input": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'"tool_input": \x80\x81, "x": 1}',
        b'"tool_input"',
        b"tool_input: 1}",
        b"",
    ],
    ids=["cut", "deep-list", "deep-object", "binary", "no-value", "no-json", "ends"],
)
def test_of_a_broken_payload_the_members_before_the_fault_are_kept(damage: bytes) -> None:
    payload = b'{"session_id": "s1", "hook_event_name" : "PostToolUse", "tool_name":"Write",\n ' + damage
    event = parse("Stop", payload, cwd="/here")
    assert (event.session, event.kind, event.tool, event.cwd) == ("s1", "edit", "Write", "/here")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999999", "9" * 5000, "-0"])
def test_a_number_that_is_none_harms_nothing(number: str) -> None:
    payload = f'{{"session_id": "s1", "hook_event_name": "Stop", "timestamp": {number}, "cwd": {number}}}'
    assert held(parse("", payload.encode())) == ("s1", "stop")


def test_of_a_member_given_twice_the_last_counts() -> None:
    assert parse("", b'{"hook_event_name": "Stop", "session_id": "s1", "session_id": "s2"}').session == "s2"


def test_a_payload_of_fifty_megabytes_is_read() -> None:
    event = parse(
        "", json.dumps({**EDIT, "tool_input": {"file_path": "/a.md", "content": "x" * 50_000_000}}).encode()
    )
    assert event.paths == ("/a.md",)


def test_reading_payloads_imports_json_and_nothing_that_json_does_not() -> None:
    """They are read while the assistant waits, when a session stops."""
    import subprocess
    import sys

    code = (
        "import sys, json, typing; before = set(sys.modules); import orgmem.capture.payloads;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if not name.startswith("orgmem")} == set()
