"""The one approval of a backfill: by a person at a terminal, or by a script; never by an assistant."""

import os
from pathlib import Path

from orgmem.capture.review import inside_assistant
from orgmem.errors import UsageError

TERMINAL = Path("/dev/tty")


def refuse_assistants() -> None:
    """Stop where an assistant would approve.

    Raises:
        UsageError: this process was started by an assistant.
    """
    if assistant := inside_assistant(os.environ):
        raise UsageError(
            f"nothing was handed over: {assistant} can't approve for its user",
            "run the same command in a terminal of your own",
        )


def ask_person(question: str) -> str | None:
    """The line that a person types on the controlling terminal, whatever standard input is; none without one."""
    try:
        with TERMINAL.open("w", encoding="utf-8") as terminal:
            terminal.write(question)
        with TERMINAL.open(encoding="utf-8", errors="replace") as terminal:
            return terminal.readline().strip()
    except OSError:
        return None
