"""What a file of a checkout is compared with, and whether git brought what differs."""

import math
import os
from pathlib import PurePath

from orgmem.capture import project
from orgmem.capture.changes import same_text
from orgmem.capture.evidence import Content, is_within
from orgmem.capture.memory_file import text_of
from orgmem.capture.rounds import Round
from orgmem.capture.state.candidates import Change, select, was_made_elsewhere
from orgmem.capture.state.replicas import Checkout, Replica, Stamp, last_sight, read_at


class Baseline:
    """A checkout as it was when last seen, and as git has it now."""

    def __init__(self, this: Round, checkout: Checkout) -> None:
        self.round = this
        self.checkout = checkout
        self.sight = last_sight(this.db, checkout.root)
        self.head = project.head_of(checkout)

    @property
    def is_settled(self) -> bool:
        """Whether this watch list has been walked here: a file without a replica is new."""
        return self.sight is not None and self.sight.watched == self.round.watched

    def of(self, real_path: str, known: Replica | None, data: bytes | None, stamp: Stamp | None) -> Content:
        """What the file was before; it is `data` now. The same where that can't be known."""
        if known is not None and not was_never_read(known):
            return self._missed(real_path, known) or Content(known.content)
        if known is None and self.is_settled:
            return Content(None)  # whatever a payload tells: that may be its second edit
        if told := self.round.evidence.before(real_path):
            return told
        was_walked = self.sight is not None and self.sight.watched
        return Content(data) if was_walked else self._at_first_sight(real_path, data, stamp)

    def has_arrived(self, real_path: str, change: Change, data: bytes | None) -> bool:
        """Whether git brought a change: it is that of HEAD, made in another checkout, by others, or before."""
        path, sight = self._tracked(real_path), self.sight
        if sight is None or path is None or (self.head == sight.head and not sight.gone):
            return False
        if not same_text(project.blob_at_head(self.checkout, path), data):
            return False
        return (
            sight.gone
            or was_made_elsewhere(self.round.db, change)
            or project.arrived_by_git(self.checkout, path, data, since=sight.at, old_head=sight.head)
        )

    def _missed(self, real_path: str, known: Replica) -> Content | None:
        """What the file was before an edit that was quicker than the first reading; none if there was none."""
        told = self.round.evidence.before_the_edit_to(real_path, known.content)
        read = read_at(self.round.db, real_path)
        if not told or not read or select(self.round.db, "real_path=? limit 1", (real_path,)):
            return None
        return told if _changed_at(real_path) <= read else None

    def _at_first_sight(self, real_path: str, data: bytes | None, stamp: Stamp | None) -> Content:
        """What is there already is no news, what was changed since the session began is.

        Without such a beginning, all that differs from HEAD is.
        """
        began = self.round.evidence.began(self.checkout.root)
        if began is not None and (stamp is None or stamp.mtime_ns / 1e9 < began):
            return Content(data)
        path = self._tracked(real_path)
        blob = None if path is None else project.blob_at_head(self.checkout, path)
        return Content(data if blob is None or text_of(blob) is None else blob)

    def _tracked(self, real_path: str) -> str | None:
        """The file's own path in the working tree; none outside."""
        root = self.checkout.root
        return PurePath(os.path.relpath(real_path, root)).as_posix() if is_within(real_path, root) else None


def was_never_read(known: Replica) -> bool:
    """Whether a file was skipped ever since it was first seen: what it was is not known."""
    return known.content is None and known.skipped is not None


def _changed_at(path: str) -> float:
    """When a file was last changed, which no program can set; for ever in the future where it is not there."""
    try:
        return os.lstat(path).st_ctime
    except OSError:
        return math.inf
