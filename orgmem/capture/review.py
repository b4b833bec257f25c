"""Review: a person decides about candidates at a terminal; what they see is what would leave the machine."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from orgmem.capture.changes import changes_nothing
from orgmem.capture.state.candidates import Candidate, Change
from orgmem.errors import UsageError
from orgmem.identity import learning_id
from orgmem.text.diff import line_hunks
from orgmem.text.redact import redact
from schemas.learning import Hunk

TERMINAL = Path("/dev/tty")

OF_ASSISTANTS = {
    "CLAUDECODE": "Claude Code",
    "CLAUDE_CODE_ENTRYPOINT": "Claude Code",
    "CLAUDE_CODE_SESSION_ID": "Claude Code",
    "CLAUDE_CODE_CHILD_SESSION": "Claude Code",
    "CODEX_SANDBOX": "Codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "Codex",
    "CODEX_THREAD_ID": "Codex",
    "GEMINI_CLI": "Gemini CLI",
    "CURSOR_AGENT": "Cursor",
    "COPILOT_CLI": "Copilot CLI",
    "COPILOT_AGENT_SESSION_ID": "Copilot CLI",
    "OPENCODE": "OpenCode",
    "WINDSURF_CASCADE_TERMINAL": "Windsurf",
    "CLINE_ACTIVE": "Cline",
    "AI_AGENT": "an assistant",
}
"""Variables that assistants set for what they start, and whose they are."""


def inside_assistant(environ: Mapping[str, str]) -> str | None:
    """The assistant that has started this process; none: a person, or nothing known."""
    return next((name for variable, name in OF_ASSISTANTS.items() if environ.get(variable)), None)


def has_terminal() -> bool:
    """Whether a person can see what is shown and has a terminal to answer on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.access(TERMINAL, os.R_OK | os.W_OK)


def refuse_assistants() -> None:
    """Stop where an assistant would decide.

    Raises:
        UsageError: this process was started by one.
    """
    if assistant := inside_assistant(os.environ):
        raise UsageError(
            f"nothing was decided: {assistant} can't decide for its user",
            "run orgmem review in a terminal of your own",
        )


def hunks_of(change: Change) -> tuple[Hunk, ...]:
    """What would leave: the changed lines with their headings and the lines around them."""
    return line_hunks(change.before, change.after)


def diff_lines(change: Change) -> Iterator[str]:
    """The hunks as lines of a diff: `@@ headings`, then ` `, `-` and `+` before each line."""
    for hunk in hunks_of(change):
        yield f"@@ {' > '.join(hunk.heading_path)}".rstrip()
        for mark, text in (
            (" ", hunk.context_before),
            ("-", hunk.before),
            ("+", hunk.after),
            (" ", hunk.context_after),
        ):
            yield from (f"{mark}{line}" for line in text.removesuffix("\n").split("\n") if text)


def with_after(candidate: Candidate, text: str) -> Change | None:
    """The change with another end, masked as all that leaves; none: that would change nothing."""
    clean = redact(text.replace("\r\n", "\n"))
    first = candidate.change
    change = first._replace(
        learning_id=learning_id(first.project, first.path, first.before, clean.text),
        after=clean.text,
        masked=first.masked + clean.count,
        rules=tuple(sorted({*first.rules, *clean.rules})),
    )
    return None if changes_nothing(change) else change


def ask(prompt: str) -> str | None:
    """What a person types on the controlling terminal, whatever standard input is; none: there is no terminal."""
    try:
        with TERMINAL.open("w", encoding="utf-8") as terminal:
            terminal.write(prompt)
        with TERMINAL.open(encoding="utf-8", errors="replace") as terminal:
            line = terminal.readline()
    except OSError:
        return None
    return line.strip() if line else None


def in_editor(text: str) -> str | None:
    """What the person's editor makes of a text; none: it failed, or there is none."""
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="orgmem-") as folder:
        file = Path(folder) / "shared.md"
        file.write_text(text, encoding="utf-8", newline="")
        try:
            done = subprocess.run([*editor, str(file)], check=False)  # noqa: S603 - the person's own editor
            return file.read_text(encoding="utf-8") if done.returncode == 0 else None
        except (OSError, UnicodeDecodeError):
            return None
