"""One payload of each kind and assistant, after their documentation; unverified, since no capture exists here."""

import json
from typing import NamedTuple

import pytest

from orgmem.capture.payloads import Assistant, Edit, Event, Kind, parse

FILE = "/repo/AGENTS.md"
PATCH = "*** Begin Patch\n*** Add File: AGENTS.md\n+- Use uv.\n*** End Patch\n"
CLAUDE_LIKE = {"session_id": "s1", "cwd": "/repo"}
CODEX = {**CLAUDE_LIKE, "turn_id": "t1", "transcript_path": None, "model": "m", "permission_mode": "default"}
GEMINI = {
    **CLAUDE_LIKE,
    "timestamp": "2026-11-30T10:00:00Z",
    "transcript_path": "/home/u/.gemini/tmp/x/chats/s.json",
}
CURSOR = {"conversation_id": "s1", "generation_id": "g1", "workspace_roots": ["/repo"], "cursor_version": "2.4"}
COPILOT = {"sessionId": "s1", "timestamp": 1764500000000, "cwd": "/repo"}
VSCODE = {**CLAUDE_LIKE, "timestamp": "2026-11-30T10:00:00Z", "transcript_path": "/u/GitHub.copilot-chat/s1.json"}
OPENCODE = {"directory": "/repo"}
WINDSURF = {"trajectory_id": "s1", "execution_id": "x1", "timestamp": "2026-11-30T10:00:00Z"}
CLINE = {"clineVersion": "3.40", "taskId": "s1", "workspaceRoots": ["/repo"], "userId": "u", "timestamp": "1"}


class Case(NamedTuple):
    assistant: Assistant
    payload: dict[str, object]
    kind: Kind
    edits: tuple[Edit, ...] = ()
    paths: tuple[str, ...] = ()
    command: str | None = None


CASES = (
    Case(
        "codex",
        {**CODEX, "hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_input": {"command": PATCH}},
        "edit",
        (Edit(FILE, "", "- Use uv.\n"),),
        (FILE,),
    ),
    Case(
        "codex",
        {**CODEX, "hook_event_name": "PostToolUse", "tool_name": "shell", "tool_input": {"command": ["ls", "-l"]}},
        "shell",
        command="ls -l",
    ),
    Case("codex", {**CODEX, "hook_event_name": "Stop", "stop_hook_active": False}, "stop"),
    Case(
        "codex",
        {
            "type": "agent-turn-complete",
            "thread-id": "s1",
            "turn-id": "t",
            "cwd": "/repo",
            "input-messages": ["x"],
        },
        "stop",
    ),
    Case(
        "gemini-cli",
        {
            **GEMINI,
            "hook_event_name": "AfterTool",
            "tool_name": "write_file",
            "tool_input": {"file_path": "AGENTS.md", "content": "new"},
            "tool_response": {
                "llmContent": "ok",
                "returnDisplay": {
                    "fileName": "AGENTS.md",
                    "originalContent": "old",
                    "newContent": "new as written",
                    "fileDiff": "",
                },
            },
        },
        "edit",
        (Edit(FILE, "old", "new as written"),),
        (FILE,),
    ),
    Case(
        "gemini-cli",
        {
            **GEMINI,
            "hook_event_name": "AfterTool",
            "tool_name": "write_file",
            "tool_input": {"file_path": FILE, "content": "new"},
            "tool_response": {
                "llmContent": "ok",
                "returnDisplay": {"originalContent": None, "newContent": "new", "isNewFile": True},
            },
        },
        "edit",
        (Edit(FILE, "", "new"),),
        (FILE,),
    ),
    Case(
        "gemini-cli",
        {
            **GEMINI,
            "hook_event_name": "AfterTool",
            "tool_name": "replace",
            "tool_input": {"file_path": FILE, "old_string": "a", "new_string": "b"},
            "tool_response": {"llmContent": "ok", "returnDisplay": "ok"},
        },
        "edit",
        (),
        (FILE,),
    ),
    Case(
        "gemini-cli",
        {
            **GEMINI,
            "hook_event_name": "AfterTool",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "ls"},
        },
        "shell",
        command="ls",
    ),
    Case("gemini-cli", {**GEMINI, "hook_event_name": "AfterAgent", "prompt": "p", "prompt_response": "r"}, "stop"),
    Case("gemini-cli", {**GEMINI, "hook_event_name": "BeforeAgent", "prompt": "p"}, "prompt"),
    Case("gemini-cli", {**GEMINI, "hook_event_name": "PreCompress", "trigger": "auto"}, "compact"),
    Case("gemini-cli", {**GEMINI, "hook_event_name": "SessionStart", "source": "startup"}, "session_start"),
    Case(
        "cursor",
        {
            **CURSOR,
            "hook_event_name": "afterFileEdit",
            "file_path": FILE,
            "edits": [{"old_string": "a", "new_string": "b"}],
        },
        "edit",
        (),
        (FILE,),
    ),
    Case(
        "cursor",
        {**CURSOR, "hook_event_name": "afterShellExecution", "command": "ls", "output": ""},
        "shell",
        command="ls",
    ),
    Case(
        "cursor",
        {
            **CURSOR,
            "hook_event_name": "postToolUse",
            "tool_name": "Write",
            "tool_input": {"file_path": FILE, "content": "x"},
        },
        "edit",
        (Edit(FILE, None, "x"),),
        (FILE,),
    ),
    Case("cursor", {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": "p"}, "prompt"),
    Case("cursor", {**CURSOR, "hook_event_name": "stop", "status": "completed", "loop_count": 0}, "stop"),
    Case(
        "copilot-cli",
        {
            **COPILOT,
            "toolName": "create",
            "toolArgs": json.dumps({"path": FILE, "file_text": "x"}),
            "toolResult": {"resultType": "success", "textResultForLlm": "ok"},
        },
        "edit",
        (Edit(FILE, None, "x"),),
        (FILE,),
    ),
    Case(
        "copilot-cli",
        {
            **COPILOT,
            "toolName": "edit",
            "toolArgs": {"path": FILE, "old_str": "a", "new_str": "b"},
            "toolResult": {"resultType": "success"},
        },
        "edit",
        (),
        (FILE,),
    ),
    Case("copilot-cli", {**COPILOT, "toolName": "bash", "toolArgs": '{"command": "ls"}'}, "shell", command="ls"),
    Case("copilot-cli", {**COPILOT, "hook_event_name": "agentStop", "stopReason": "end_turn"}, "stop"),
    Case(
        "copilot-cli",
        {
            **CLAUDE_LIKE,
            "timestamp": "t",
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "ls"},
        },
        "shell",
        command="ls",
    ),
    Case(
        "vscode",
        {**VSCODE, "hook_event_name": "PostToolUse", "tool_name": "editFiles", "tool_input": {"files": [FILE]}},
        "edit",
        (),
        (FILE,),
    ),
    Case(
        "vscode",
        {
            **VSCODE,
            "hook_event_name": "PostToolUse",
            "tool_name": "create_file",
            "tool_input": {"filePath": FILE, "content": "x"},
        },
        "edit",
        (Edit(FILE, None, "x"),),
        (FILE,),
    ),
    Case(
        "vscode",
        {
            **VSCODE,
            "hook_event_name": "PostToolUse",
            "tool_name": "multi_replace_string_in_file",
            "tool_input": {"replacements": [{"filePath": FILE, "oldString": "a", "newString": "b"}]},
        },
        "edit",
        (),
        (FILE,),
    ),
    Case(
        "opencode",
        {
            **OPENCODE,
            "type": "tool.execute.after",
            "input": {
                "tool": "edit",
                "sessionID": "s1",
                "callID": "c",
                "args": {"filePath": FILE, "oldString": "a", "newString": "b"},
            },
            "output": {
                "title": "AGENTS.md",
                "output": "",
                "metadata": {"filediff": {"file": FILE, "before": "a\n", "after": "b\n"}},
            },
        },
        "edit",
        (Edit(FILE, "a\n", "b\n"),),
        (FILE,),
    ),
    Case(
        "opencode",
        {
            **OPENCODE,
            "type": "tool.execute.after",
            "input": {"tool": "write", "sessionID": "s1", "args": {"filePath": "AGENTS.md", "content": "x"}},
            "output": {"metadata": {"filepath": FILE, "exists": False}},
        },
        "edit",
        (Edit(FILE, "", "x"),),
        (FILE,),
    ),
    Case(
        "opencode",
        {**OPENCODE, "type": "file.edited", "properties": {"file": FILE, "sessionID": "s1"}},
        "file_changed",
        paths=(FILE,),
    ),
    Case("opencode", {**OPENCODE, "type": "session.idle", "properties": {"sessionID": "s1"}}, "stop"),
    Case(
        "windsurf",
        {
            **WINDSURF,
            "agent_action_name": "post_write_code",
            "tool_info": {
                "file_path": FILE,
                "workspace_path": "/repo",
                "edits": [{"old_string": "a", "new_string": "b"}],
            },
        },
        "edit",
        (),
        (FILE,),
    ),
    Case(
        "windsurf",
        {**WINDSURF, "agent_action_name": "post_run_command", "tool_info": {"command_line": "ls", "cwd": "/repo"}},
        "shell",
        command="ls",
    ),
    Case("cline", {**CLINE, "hookName": "TaskComplete"}, "stop"),
    Case(
        "cline",
        {
            **CLINE,
            "hookName": "PostToolUse",
            "postToolUse": {
                "toolName": "write_to_file",
                "parameters": {"path": "AGENTS.md", "content": "x"},
                "result": "ok",
                "success": True,
            },
        },
        "edit",
        (Edit(FILE, None, "x"),),
        (FILE,),
    ),
    Case(
        "cline",
        {
            **CLINE,
            "hookName": "PostToolUse",
            "postToolUse": {
                "toolName": "write_to_file",
                "parameters": {"path": "AGENTS.md", "content": "x"},
                "success": False,
            },
        },
        "edit",
        (),
        (FILE,),
    ),
    Case(
        "cline",
        {
            **CLINE,
            "hookName": "PostToolUse",
            "postToolUse": {"toolName": "execute_command", "parameters": {"command": "ls"}, "success": True},
        },
        "shell",
        command="ls",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.assistant}-{case.kind}")
def test_each_assistants_payload_is_understood(case: Case) -> None:
    event = parse("postToolUse", json.dumps(case.payload).encode())
    assert event == Event(
        case.kind, case.assistant, "s1", "/repo", None, event.tool, case.command, case.paths, case.edits
    )


def test_a_session_of_something_else_is_of_an_unknown_assistant() -> None:
    assert parse("Stop", b"{}").assistant == "unknown"
    assert parse("Stop", b"{}", entrypoint="cli").assistant == "claude-code"
    assert parse("Stop", b'{"session_id": "s1"}').assistant == "claude-code"
