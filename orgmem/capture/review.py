"""Decisions of a person at a terminal: one candidate after the other, each step undoable; and who is no person.

A candidate's text never changes once it was shown, so that a yes is a yes to what was seen. What somebody words
otherwise is a candidate of its own; the first wording is denied with it.
"""

import os
import shlex
import sqlite3
import subprocess
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple, Self

from orgmem.capture.changes import Place, Source, change_of, changes_nothing
from orgmem.capture.state import candidates
from orgmem.capture.state.candidates import APPROVED, DENIED, PENDING, Candidate
from orgmem.capture.state.database import transaction
from orgmem.errors import InputError, UsageError
from orgmem.identity import Clock
from orgmem.text.secrets import MASK

UNDO_SECONDS = 30.0
"""What is approved in a review is not delivered before that, unless the review ends."""

ASSISTANTS = {
    # Only what an assistant sets for what it starts. CLAUDE_CODE_SSE_PORT, CURSOR_TRACE_ID, REPL_ID and
    # WINDSURF_CASCADE_TERMINAL_KIND are in a person's own terminal of the editor, too; CODEX_HOME, COPILOT_MODEL,
    # CLAUDE_CODE_USE_BEDROCK and the like are settings that people export.
    "CLAUDECODE": "Claude Code",
    "CLAUDE_CODE_ENTRYPOINT": "Claude Code",
    "CLAUDE_CODE_SESSION_ID": "Claude Code",
    "CLAUDE_CODE_CHILD_SESSION": "Claude Code",
    "CLAUDE_CODE_REMOTE": "Claude Code",
    "CODEX_SANDBOX": "Codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "Codex",
    "CODEX_THREAD_ID": "Codex",
    "CODEX_CI": "Codex",
    "GEMINI_CLI": "Gemini CLI",
    "CURSOR_AGENT": "Cursor",
    "COPILOT_CLI": "Copilot",
    "COPILOT_AGENT": "Copilot",
    "COPILOT_AGENT_SESSION_ID": "Copilot",
    "COPILOT_AGENT_JOB_ID": "Copilot",
    "VSCODE_COPILOT_TERMINAL": "Copilot",
    "OPENCODE": "OpenCode",
    "OPENCODE_CLIENT": "OpenCode",
    "OPENCODE_PID": "OpenCode",
    "WINDSURF_CASCADE_TERMINAL": "Windsurf",
    "CLINE_ACTIVE": "Cline",
    "CLINE_TASK_ID": "Cline",
    "ROO_ACTIVE": "Roo Code",
    "ANTIGRAVITY_AGENT": "Antigravity",
    "AUGMENT_AGENT": "Augment",
    "GOOSE_TERMINAL": "Goose",
    "AMP_CURRENT_THREAD_ID": "Amp",
    "TRAE_AI_SHELL_ID": "Trae",
    "PI_CODING_AGENT": "Pi",
    "OPENCLAW_SHELL": "OpenClaw",
    "AI_AGENT": "an assistant",  # proposed for all; Claude Code sets it, too
}
"""Variables that tell that an assistant has started this process, and which."""


def inside_assistant(environ: Mapping[str, str]) -> str | None:
    """The assistant that has started a process with this environment; none known."""
    return next((name for variable, name in ASSISTANTS.items() if environ.get(variable)), None)


def refuse_assistants(done: str = "decided", command: str = "orgmem review") -> None:
    """Stop where an assistant would decide.

    Raises:
        UsageError: this process was started by an assistant.
    """
    if assistant := inside_assistant(os.environ):
        raise UsageError(
            f"nothing was {done}: {assistant} can't decide for its user",
            f"run {command} in a terminal of your own",
        )


class Terminal:
    """The controlling terminal, whatever standard input is: what a pipe says is no answer."""

    def __init__(self) -> None:
        """Take it.

        Raises:
            UsageError: there is none, or what is written and read here goes elsewhere.
        """
        self._handle = -1
        if os.isatty(0) and os.isatty(1):
            with suppress(OSError):
                self._handle = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        if self._handle < 0:
            raise UsageError(
                "nothing was decided: nobody can be asked without a terminal",
                "run orgmem review in a terminal; scripts: orgmem review --json, or --yes",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def ask(self, prompt: str) -> str | None:
        """The line that a person types after this prompt, not before; none if they are gone or interrupt."""
        sys.stdout.flush()
        try:
            termios.tcflush(self._handle, termios.TCIFLUSH)
            os.write(self._handle, prompt.encode())
            line = os.read(self._handle, 4096)
        except (OSError, termios.error, KeyboardInterrupt):
            return None
        return line.decode("utf-8", "replace").strip() if line else None


def edited(text: str) -> str:
    """The text as a person leaves it in $VISUAL or $EDITOR.

    Raises:
        InputError: the editor can't be run or failed, or what it left is no UTF-8.
    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with TemporaryDirectory(prefix="orgmem-") as folder:
        file = Path(folder) / "memory.md"
        file.write_text(text, encoding="utf-8", newline="")
        try:
            done = subprocess.run([*shlex.split(command), str(file)], check=False)  # noqa: S603 - their editor
            if done.returncode:
                raise InputError(f"{command} ended with {done.returncode}, nothing was changed")
            return file.read_bytes().decode()
        except UnicodeDecodeError:
            raise InputError("what the editor left is no UTF-8, nothing was changed") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{command}: {error}", "set EDITOR") from None


class _Step(NamedTuple):
    """What one answer has done."""

    decided: tuple[int, ...] = ()
    rule: tuple[str, str, str | None] | None = None
    """Project, path, and what was remembered for them before."""
    reworded: int | None = None
    """The new wording of what was denied."""
    skipped: int | None = None


class Review:
    """A person's way through the queue, in the order of observation."""

    def __init__(self, db: sqlite3.Connection, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._steps: list[_Step] = []
        self._skipped: set[int] = set()
        self._reworded = 0

    def figures(self) -> tuple[int, int]:
        """How many candidates this review has approved and denied; a first wording counts as neither."""
        found = [
            candidates.get(self._db, each) for step in self._steps if not step.reworded for each in step.decided
        ]
        status = [each.status for each in found if each]
        return status.count(APPROVED), status.count(DENIED)

    def waiting(self) -> tuple[Candidate, ...]:
        """What has not been decided or skipped, oldest first; before all others what was just reworded."""
        found = (each for each in candidates.pending(self._db) if each.id not in self._skipped)
        return tuple(sorted(found, key=lambda each: each.id != self._reworded))

    def current(self) -> Candidate | None:
        """The next to decide on. From now on nothing is added to it, and no assistant asks about it."""
        with transaction(self._db):
            found = next(iter(self.waiting()), None)
            if found:
                candidates.mark_shown(self._db, [found.id], self._now())
        return found

    def decide(self, candidate: Candidate, *, yes: bool) -> bool:
        """Approve or deny; false when somebody else has decided meanwhile."""
        done = self._decide(candidate.id, yes=yes, via="terminal")
        if done:
            self._steps.append(_Step(decided=(candidate.id,)))
        return done

    def remember(self, candidate: Candidate, verdict: Literal["always", "never"], *, project: bool) -> int:
        """Decide like this on the candidate and on all others of its file, or project, waiting or to come.

        Returns:
            How many others were waiting.
        """
        name, path = candidate.change.project, "" if project else candidate.change.path
        known = {(of, file): said for of, file, said in candidates.rules(self._db)}
        with transaction(self._db):
            decided = [candidate.id] if self._decide(candidate.id, yes=verdict == "always", via="terminal") else []
            candidates.set_rule(self._db, name, path, verdict, self._now())
            for each in candidates.pending(self._db):
                if said := candidates.rule_for(self._db, each.change.project, each.change.path):
                    self._decide(each.id, yes=said == "always", via="policy")
                    decided.append(each.id)
        self._steps.append(_Step(tuple(decided), rule=(name, path, known.get((name, path)))))
        return sum(number != candidate.id for number in decided)

    def reword(self, candidate: Candidate, after: str) -> Candidate | None:
        """Put another wording in the candidate's place, masked, and deny the first; it is the next to decide on.

        Returns:
            Nothing when the wording says the same, or somebody else has decided meanwhile.
        """
        change = candidate.change
        place = Place(change.project, change.path, change.root, change.real_path)
        source = Source(change.origin, change.session, change.observed_at, change.commit_id)
        made = change_of(place, change.before.encode(), after.encode(), source)
        if made is None or changes_nothing(made._replace(before=change.after)):
            return None
        masked = change.masked - len(MASK.findall(change.after)) + len(MASK.findall(made.after))
        made = made._replace(masked=max(0, masked), rules=tuple(sorted({*change.rules, *made.rules})))
        with transaction(self._db):
            if not self._decide(candidate.id, yes=False, via="terminal"):
                return None
            number = candidates.add(self._db, made)
        self._reworded = number
        self._steps.append(_Step(decided=(candidate.id,), reworded=number))
        return candidates.get(self._db, number)

    def skip(self, candidate: Candidate) -> None:
        """Leave it for another time."""
        self._skipped.add(candidate.id)
        self._steps.append(_Step(skipped=candidate.id))

    def undo(self) -> str:
        """Take back the last step; says what came of it."""
        if not self._steps:
            return "nothing to undo"
        step = self._steps.pop()
        self._skipped.discard(step.skipped or 0)
        with transaction(self._db):
            if step.rule:
                self._restore(*step.rule)
            if step.reworded:
                self._withdraw(step.reworded)
            gone = [number for number in step.decided if not candidates.undo(self._db, number)]
        return f"{len(gone):,} had left already; the rest is undone" if gone else "undone"

    def _restore(self, project: str, path: str, verdict: str | None) -> None:
        if verdict:
            candidates.set_rule(self._db, project, path, verdict, self._now())
        else:
            candidates.drop_rule(self._db, project, path)

    def _withdraw(self, number: int) -> None:
        found = candidates.get(self._db, number)
        if found and found.status == PENDING:
            candidates.extend(self._db, number, found.change, empty=True)

    def _decide(self, number: int, *, yes: bool, via: str) -> bool:
        now = self._now()
        return candidates.decide(self._db, number, yes=yes, via=via, now=now, due_at=now + UNDO_SECONDS)

    def _now(self) -> float:
        return self._clock().timestamp()
