"""The edits of a history that may leave the machine, as learnings; what may not is counted by its reason."""

import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from functools import cache
from typing import NamedTuple

from pydantic import ValidationError

from orgmem.capture.backfill_git import Content, Lost, TooLarge
from orgmem.capture.backfill_history import Repository, Revision, revisions
from orgmem.capture.changes import Place, Source, change_of
from orgmem.capture.globs import FilePatterns
from orgmem.capture.learning import learning_of
from orgmem.capture.memory_file import is_personal, text_of
from orgmem.capture.state import candidates, database
from orgmem.capture.state.candidates import APPROVED, Candidate, Change
from orgmem.capture.tree import NO_NAME
from orgmem.capture.watch import ABOUT_USER, Watch
from orgmem.capture.watch_list import AUTO_MEMORY
from orgmem.errors import StoreError
from orgmem.settings import Settings
from orgmem.store.rejects import in_one_line, reasons
from schemas.learning import ApprovedVia, Learning


class _Decisions(NamedTuple):
    """What the user has decided before."""

    rules: dict[tuple[str, str], str]
    """always or never, by project and path; path '' is the whole project."""
    denied: frozenset[str]
    """Ids of learnings."""

    def refuse(self, change: Change) -> str | None:
        """Why a change may not leave."""
        if change.learning_id in self.denied:
            return "denied before"
        of_project = self.rules.get((change.project, ""))
        of_file = self.rules.get((change.project, change.path), of_project)
        return "never to be shared, by your rule" if of_file == "never" else None


class Edits:
    """The edits of a repository's memory files, read once."""

    def __init__(
        self, repository: Repository, settings: Settings, *, now: datetime, since: datetime | None = None
    ) -> None:
        """Look up what the user has decided; edits before `since` are passed over.

        Raises:
            ConfigurationError: a glob of the user is none.
            StoreError: capture.db can't be read.
        """
        self.left_out: Counter[str] = Counter()
        """Edits that may not leave, by reason."""
        self.commits = 0
        """Read so far."""
        self._repository = repository
        self._settings = settings
        self._now = now.timestamp()
        self._since = since.timestamp() if since else float("-inf")
        self._watch = Watch(settings)
        self._decisions = _decisions(settings)
        self._can_be_personal = FilePatterns(() if settings.watch_personal else AUTO_MEMORY).match

    def read(self, note: Callable[[int], None]) -> Iterator[Learning]:
        """Every edit that may leave, in order, not approved yet. `note` gets the number of commits read so far."""

        def count(commits: int) -> None:
            self.commits = commits
            note(commits)

        wanted = cache(self._watch.matches)
        for revision in revisions(self._repository, wanted, self._settings.watch_max_bytes, count):
            match self._outcome(revision):
                case str(reason):
                    self.left_out[reason] += 1
                case Learning() as learning:
                    yield learning
                case None:
                    pass  # line ends, a byte order mark, another name: no reader sees a difference

    def _outcome(self, revision: Revision) -> Learning | str | None:
        """The learning, why there is none, or nothing where there is no edit."""
        moment = min(revision.written_at, revision.committed_at)
        if moment < self._since:
            return None
        if moment > self._now:
            return "dated in the future"
        path = unicodedata.normalize("NFC", revision.path)  # as the watch list has it
        if not path.isprintable():
            return NO_NAME
        for content in (revision.before, revision.after):
            if reason := self._unfit(path, content):
                return reason
        before, after = (each if isinstance(each, bytes) else None for each in (revision.before, revision.after))
        root, project = self._repository.root, self._repository.project
        place = Place(project, path, root, f"{root}/{revision.path}")
        change = change_of(place, before, after, Source("backfill", None, moment, revision.commit))
        return change and (self._decisions.refuse(change) or self._learning(change))

    def _unfit(self, path: str, content: Content) -> str | None:
        """Why a version of a file may not leave."""
        match content:
            case TooLarge():
                return f"larger than {self._settings.watch_max_bytes:,} bytes"
            case Lost():
                return "missing from this clone, or damaged"
            case bytes():
                text = text_of(content)
                if text is None:
                    return "neither UTF-8 nor UTF-16"
                return ABOUT_USER if self._can_be_personal(path) and is_personal(text) else None
            case None:
                return None

    def _learning(self, change: Change) -> Learning | str:
        candidate = Candidate(0, change, APPROVED, ApprovedVia.SCRIPT, self._now)
        try:
            learning = learning_of(candidate, approved_at=self._now)
        except ValidationError as error:
            return in_one_line(reasons(error))
        longest = self._settings.max_row_bytes
        return f"larger than {longest:,} bytes" if len(learning.model_dump_json()) > longest else learning


def _decisions(settings: Settings) -> _Decisions:
    if not (settings.capture_folder / "capture.db").exists():
        return _Decisions({}, frozenset())
    try:
        with closing(database.connect(settings.capture_folder)) as db:
            rules = {(project, path): verdict for project, path, verdict in candidates.rules(db)}
            denied = candidates.select(db, "status=?", (candidates.DENIED,))
    except sqlite3.Error as error:
        raise StoreError(f"capture.db can't be read: {error}", "orgmem capture doctor") from error
    return _Decisions(rules, frozenset(each.change.learning_id for each in denied))
