"""The one question of a backfill, put to a person at a terminal."""

from pathlib import Path

TERMINAL = Path("/dev/tty")


def ask_person(question: str) -> str | None:
    """The line that a person types on the controlling terminal, whatever standard input is; none without one."""
    try:
        with TERMINAL.open("w", encoding="utf-8") as terminal:
            terminal.write(question)
        with TERMINAL.open(encoding="utf-8", errors="replace") as terminal:
            return terminal.readline().strip()
    except OSError:
        return None
