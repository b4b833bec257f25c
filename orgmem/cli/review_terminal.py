"""The dialogue of `orgmem review`: one candidate at a time, one key a decision, the last one can be undone."""

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from orgmem.capture import review
from orgmem.capture.state import candidates
from orgmem.capture.state.database import transaction
from orgmem.cli.console import printable
from orgmem.identity import now

if TYPE_CHECKING:
    import sqlite3

    from orgmem.capture.state.candidates import Candidate

UNDO_SECONDS = 30.0
"""Approved here, a learning waits so long before another process may deliver it."""
MOST_LINES = 60
"""Of a diff that are shown at once; `p` shows all."""
KEYS = """\
y  share it                       n  keep it private, never ask again
e  edit what is shared            s  skip: decide later
a  always share this file         A  always share this project
v  never ask about this file      V  never ask about this project
p  show the whole edit            u  undo the last decision
q  quit                           ?  this help"""
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


class Dialogue:
    """Goes through what is pending, in the order of observation."""

    def __init__(self, db: "sqlite3.Connection") -> None:
        self._db = db
        self._console = Console(highlight=False, markup=False)
        self._decided: list[int] = []
        self._skipped: set[int] = set()

    def run(self) -> bool:
        """Ask until nothing is left, or the person quits; whether anything was approved."""
        while waiting := [one for one in candidates.pending(self._db) if one.id not in self._skipped]:
            self._show(waiting[0], len(waiting), MOST_LINES)
            if not self._ask(waiting[0]):
                break
        statuses = {each.status for number in self._decided if (each := candidates.get(self._db, number))}
        return candidates.APPROVED in statuses

    def _ask(self, candidate: "Candidate") -> bool:
        """One decision; false: quit."""
        while True:
            key = review.ask("share it? [y/n/e/s/u/q/?] ")
            if key is None or key == "q":
                return False
            if key == "?":
                self._console.print(KEYS)
            elif key == "p":
                self._show(candidate, 0, sys.maxsize)
            elif self._did(candidate, key):
                return True

    def _did(self, candidate: "Candidate", key: str) -> bool:
        """Whether the key has decided, so that the next candidate can be shown."""
        match key:
            case "y" | "n":
                self._decide(candidate.id, yes=key == "y")
            case "s":
                self._skipped.add(candidate.id)
            case "a" | "A" | "v" | "V":
                self._remember(candidate, key)
            case "e":
                return self._edit(candidate)
            case "u":
                return self._undo()
            case _:
                self._console.print("y, n, e, s, u or q; ? says more")
                return False
        return True

    def _decide(self, number: int, *, yes: bool) -> None:
        moment = now().timestamp()
        candidates.decide(
            self._db, number, yes=yes, via="terminal", now=moment, due_at=moment + UNDO_SECONDS if yes else None
        )
        self._decided.append(number)

    def _remember(self, candidate: "Candidate", key: str) -> None:
        path = candidate.change.path if key.islower() else ""
        with transaction(self._db):
            verdict = "always" if key in "aA" else "never"
            candidates.set_rule(self._db, candidate.change.project, path, verdict, now().timestamp())
            self._decide(candidate.id, yes=verdict == "always")

    def _edit(self, candidate: "Candidate") -> bool:
        text = review.in_editor(candidate.change.after)
        change = None if text is None else review.with_after(candidate, text)
        if change is None or change == candidate.change:
            self._console.print("nothing was changed")
            return False
        if not candidates.replace_after(self._db, candidate.id, change):
            self._console.print("this edit is known already, or was decided elsewhere")
        return True

    def _undo(self) -> bool:
        if not self._decided:
            self._console.print("nothing to undo")
            return False
        number = self._decided.pop()
        done = candidates.undo(self._db, number)
        self._console.print("undone" if done else "too late: it has been delivered")
        return done

    def _show(self, candidate: "Candidate", left: int, most: int) -> None:
        change = candidate.change
        lines = list(review.diff_lines(change))
        self._console.rule(f"{left} to decide on" if left else "", style="dim")
        self._console.print(Text(printable(f"{change.project}  {change.path}"), style="bold"))
        if change.masked:
            self._console.print(f"masked: {change.masked} ({', '.join(change.rules)})", style="yellow")
        for line in lines[:most]:
            self._console.print(Text(printable(line), style=_STYLES.get(line[:1], "")))
        if len(lines) > most:
            self._console.print(f"... {len(lines) - most} more lines: p shows them", style="dim")
