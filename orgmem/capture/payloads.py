"""Reads the payload that an assistant hands to a hook, whichever assistant and whatever it holds.

Light: json and what it imports. Any member may be missing, extra or of another type; nothing here raises, and of a
payload that can't be read at all there remains what the hook's command line says.

Claude Code's shapes are checked against real payloads. Those of Codex, Gemini CLI, Cursor, Copilot CLI, VS Code,
Windsurf and Cline follow their documentation. For OpenCode a plugin of ours hands on what it is called with:

    {"type": "tool.execute.after", "directory": "/repo", "input": {"tool", "sessionID", "callID", "args"},
     "output": {"title", "output", "metadata"}}
    {"type": "file.edited", "directory": "/repo", "properties": {"file": "/repo/AGENTS.md"}}
    {"type": "session.idle", "directory": "/repo", "properties": {"sessionID": "..."}}
"""

from typing import Literal, NamedTuple

from orgmem.capture.payload_assistants import Assistant, assistant_of
from orgmem.capture.payload_edits import Edit, edits_of, paths_of
from orgmem.capture.payload_values import (
    Fields,
    absolute,
    fields,
    first_fields,
    first_text,
    letters,
    members,
    text,
)

__all__ = ["Answer", "Assistant", "Edit", "Event", "Kind", "parse"]

Kind = Literal[
    "session_start", "prompt", "edit", "shell", "answer", "stop", "subagent_stop", "compact", "session_end",
    "file_changed", "other",
]  # fmt: skip

QUESTION_TOOL = "AskUserQuestion"
"""The one tool whose answers count. No other assistant's question tool has a payload that is known for certain."""

_EVENTS: dict[str, Kind | Literal["tool"]] = {
    "sessionstart": "session_start", "taskstart": "session_start", "taskresume": "session_start",
    "userpromptsubmit": "prompt", "userpromptsubmitted": "prompt", "beforesubmitprompt": "prompt",
    "beforeagent": "prompt", "preuserprompt": "prompt",
    "posttooluse": "tool", "posttoolusefailure": "tool", "aftertool": "tool", "toolexecuteafter": "tool",
    "afterfileedit": "edit", "aftertabfileedit": "edit", "postwritecode": "edit",
    "aftershellexecution": "shell", "postruncommand": "shell",
    "filechanged": "file_changed", "fileedited": "file_changed", "filewatcherupdated": "file_changed",
    "stop": "stop", "afteragent": "stop", "agentstop": "stop", "sessionidle": "stop", "agentturncomplete": "stop",
    "taskcomplete": "stop", "postcascaderesponse": "stop", "postcascaderesponsewithtranscript": "stop",
    "subagentstop": "subagent_stop",
    "precompact": "compact", "postcompact": "compact", "precompress": "compact", "sessioncompacted": "compact",
    "experimentalsessioncompacting": "compact",
    "sessionend": "session_end", "taskcancel": "session_end",
}  # fmt: skip
_SHELLS = {
    "bash", "powershell", "shell", "localshell", "shellcommand", "execcommand", "unifiedexec", "runshellcommand",
    "runinterminal", "runterminalcommand", "runterminalcmd", "executecommand", "terminal",
}  # fmt: skip
_EDITORS = {
    "edit", "multiedit", "write", "notebookedit", "applypatch", "patch", "writefile", "replace", "create",
    "createfile", "editfile", "editfiles", "replacestringinfile", "multireplacestringinfile",
    "inserteditintofile", "writetofile", "replaceinfile", "strreplace", "searchreplace", "delete", "deletefile",
}  # fmt: skip
_READERS = {
    "read", "readfile", "readmanyfiles", "view", "viewimage", "notebookread", "grep", "grepsearch", "glob", "ls",
    "list", "listdir", "listdirectory", "listfiles", "searchfiles", "searchfilecontent", "filesearch",
    "listcodedefinitionnames", "lsp",
}  # fmt: skip


class Answer(NamedTuple):
    """What the user answered to one question of the assistant's question tool."""

    question: str
    label: str
    """Of the chosen option; empty when there is none, or several."""
    idle: bool
    """The question closed by itself."""
    unanswered: bool
    """The user skipped or dismissed it, or no single label was given."""


class Event(NamedTuple):
    """What a payload tells, as far as capture needs it."""

    kind: Kind
    assistant: Assistant
    session: str | None = None
    cwd: str | None = None
    agent: str | None = None
    """Id of the subagent it happened in."""
    tool: str | None = None
    command: str | None = None
    """What the shell ran."""
    paths: tuple[str, ...] = ()
    """Files that were edited or changed, absolute; none for an edit whose payload could not be read."""
    edits: tuple[Edit, ...] = ()
    answers: tuple[Answer, ...] = ()
    interactive: bool | None = None
    """Evidence that a person sits at the session, or that none does."""
    stop_active: bool = False
    """The assistant goes on already because a hook asked it to."""
    background: bool = False
    """Background tasks are running."""


def parse(event: str, payload: bytes, *, cwd: str = "", entrypoint: str = "") -> Event:
    """The event in a payload; never raises.

    `event` is the word on the hook's command line: it counts when the payload names no event. `cwd` is the hook's
    working directory: it counts when the payload has none. `entrypoint` is CLAUDE_CODE_ENTRYPOINT, or empty.
    """
    given = members(payload)
    given = {**first_fields(given, "properties"), **given}
    word = _word(given) or event
    call = _call_of(given, word)
    folder = _folder(given, call.given) or cwd
    kind = _EVENTS.get(letters(word), "other")
    if kind == "tool":
        kind = _tool_kind(call)
    touched = kind in {"edit", "file_changed"}
    assistant = assistant_of(given, word, entrypoint)
    return Event(
        kind=kind,
        assistant=assistant,
        session=_session(given),
        cwd=folder or None,
        agent=first_text(given, "agent_id", "agentId"),
        tool=call.tool,
        command=_command(call.given) if kind == "shell" else None,
        paths=paths_of(call.given, call.response, folder) if touched else (),
        edits=edits_of(call.given, call.response, folder) if kind == "edit" and not call.failed else (),
        answers=_answers(call.raw_response) if kind == "answer" and not call.failed else (),
        interactive=_interactive(given, entrypoint) if kind == "prompt" and assistant == "claude-code" else None,
        stop_active=_is_on(given, "stop_hook_active") or _is_on(given, "stopHookActive"),
        background=_is_on(given, "background_tasks"),
    )


class _Call(NamedTuple):
    """A tool call: name, input, and what came of it."""

    tool: str | None
    given: Fields
    response: Fields
    raw_response: object
    failed: bool


def _call_of(given: Fields, word: str) -> _Call:
    inner = first_fields(given, "postToolUse")  # Cline
    call = first_fields(given, "input") if "input" in given else {}  # OpenCode
    outer = {**given, **call, **inner}
    tool = first_text(outer, "tool_name", "toolName", "tool")
    names = ("tool_input", "toolInput", "toolArgs", "tool_info", "parameters", "args")
    responses = ("tool_response", "toolResponse", "tool_result", "toolResult", "tool_output", "output", "result")
    raw = next((outer[name] for name in responses if name in outer), None)
    response = fields(raw)
    failed = (
        letters(word) == "posttoolusefailure"
        or _has_failed(outer)
        or _has_failed(response)
        or _starts_with_error(raw)
    )
    return _Call(tool, first_fields(outer, *names) or outer, response, raw, failed)


def _has_failed(given: Fields) -> bool:
    """Whether the members say that the tool did not do its work."""
    outcome = (text(given.get(name)) for name in ("status", "resultType"))
    code = first_fields(given, "metadata").get("exit_code", given.get("exit_code", 0))
    return (
        given.get("success") is False
        or True in (given.get("is_error"), given.get("isError"))
        or given.get("error") not in (None, "", False)
        or any(each in {"error", "failed", "failure", "denied", "rejected"} for each in outcome)
        or code not in (0, None)
    )


def _starts_with_error(response: object) -> bool:
    return isinstance(response, str) and response.lstrip()[:5].lower() == "error"


def _word(given: Fields) -> str | None:
    """The event's name; `type` only where it is one, since many things have a type."""
    named = first_text(given, "hook_event_name", "hookEventName", "hookName", "agent_action_name")
    other = text(given.get("type"))
    return named or (other if other and letters(other) in _EVENTS else None)


def _tool_kind(call: _Call) -> Kind:
    tool = letters(call.tool or "")
    if call.tool == QUESTION_TOOL:
        return "answer"
    if tool in _SHELLS:
        return "shell"
    # A tool that is not known but names a file may have edited it; one without a name may have done anything.
    if not tool or tool in _EDITORS or (tool not in _READERS and paths_of(call.given, call.response, "/")):
        return "edit"
    return "other"


def _session(given: Fields) -> str | None:
    names = ("session_id", "sessionId", "sessionID", "conversation_id", "thread-id", "trajectory_id", "taskId")
    return first_text(given, *names) or first_text(first_fields(given, "input"), "sessionID")


def _folder(given: Fields, tool_input: Fields) -> str | None:
    """The working directory: absolute, else the first workspace folder that is."""
    roots = next((given[name] for name in ("workspace_roots", "workspaceRoots") if name in given), None)
    named = [first_text(given, "cwd", "directory"), first_text(tool_input, "cwd", "workspace_path")]
    named += [text(each) for each in roots] if isinstance(roots, list) else []
    return next((found for each in named if (found := absolute(each, ""))), None)


def _command(given: Fields) -> str | None:
    words = given.get("command")
    if isinstance(words, list):
        return " ".join(each for each in map(text, words) if each is not None)
    return first_text(given, "command", "command_line", "script", "cmd")


def _answers(response: object) -> tuple[Answer, ...]:
    """The answers in the response's object: never those in the tool's input or in a text, which a model writes."""
    given = response if isinstance(response, dict) else {}
    answers, notes = given.get("answers"), given.get("annotations")
    idle = given.get("afkTimeoutMs") is not None
    found = []
    for question, label in answers.items() if isinstance(answers, dict) else ():
        note = notes.get(question) if isinstance(notes, dict) else notes
        skipped = note is not None and (not isinstance(note, dict) or note.get("unanswered") is not None)
        chosen = text(label) or ""
        found.append(Answer(text(question) or "", chosen, idle, skipped or not chosen))
    return tuple(found)


def _interactive(given: Fields, entrypoint: str) -> bool | None:
    """Source `user`, or no source in Claude Code's terminal program; any other source speaks against a person."""
    source = given.get("source")
    if source is None:
        return True if entrypoint == "cli" else None
    return source == "user"


def _is_on(given: Fields, name: str) -> bool:
    """Whether a member is there and not plainly off: of an odd type it counts as on, which asks less."""
    value = given.get(name)
    return value not in (None, False, 0, [])
