"""Tells from a payload which assistant sent it. A name to count by; nothing else depends on it."""

from typing import Literal

from orgmem.capture.payload_values import Fields, first_text, letters

Assistant = Literal[
    "claude-code", "codex", "gemini-cli", "cursor", "copilot-cli", "vscode", "opencode", "windsurf", "cline",
    "unknown",
]  # fmt: skip

_MARKS: tuple[tuple[str, Assistant], ...] = (
    ("agent_action_name", "windsurf"),
    ("hookName", "cline"),
    ("clineVersion", "cline"),
    ("conversation_id", "cursor"),
    ("cursor_version", "cursor"),
    ("workspace_roots", "cursor"),
    ("thread-id", "codex"),
    ("turn_id", "codex"),
    ("hookEventName", "vscode"),
    ("toolArgs", "copilot-cli"),
    ("sessionId", "copilot-cli"),
    ("sessionID", "opencode"),
)
"""Members that only one assistant sends, strongest first."""
_FOLDERS: tuple[tuple[str, Assistant], ...] = (
    (".gemini", "gemini-cli"),
    (".codex", "codex"),
    (".cursor", "cursor"),
    ("copilot-chat", "vscode"),
    (".copilot", "copilot-cli"),
    (".claude", "claude-code"),
)
"""Folders in which each keeps its transcripts."""
_GEMINI = {"beforeagent", "afteragent", "beforetool", "aftertool", "precompress"}


def assistant_of(given: Fields, word: str, entrypoint: str) -> Assistant:
    """The assistant that sent these members for the event `word`."""
    for member, assistant in _MARKS:
        if member in given:
            return assistant
    if "." in word:
        return "opencode"
    if letters(word) in _GEMINI:
        return "gemini-cli"
    transcript = first_text(given, "transcript_path") or ""
    for folder, assistant in _FOLDERS:
        if folder in transcript:
            return assistant
    if entrypoint or ("session_id" in given and "timestamp" not in given):
        return "claude-code"
    # With a time, Claude-like payloads are Copilot's, under an event name of Claude Code's.
    return "copilot-cli" if "session_id" in given else "unknown"
