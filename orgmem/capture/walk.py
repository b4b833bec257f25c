"""Compares the memory files of one checkout with their replicas. It writes nothing."""

import os
import sqlite3
import stat
import time
from collections.abc import Callable
from typing import Literal

from orgmem.capture import memory_file
from orgmem.capture.baseline import Baseline
from orgmem.capture.changes import Place, Source, change_of, same_text
from orgmem.capture.evidence import is_within, real
from orgmem.capture.faults import is_storable, reason_of
from orgmem.capture.look import is_folder, is_racy, stamp_of
from orgmem.capture.rounds import Remark, Round, Step, Walked
from orgmem.capture.state.replicas import Checkout, Replica, Stamp, checkouts, get_replica, replicas_of
from orgmem.capture.watch import Found

GAP_SECONDS = 0.05
"""An editor that saves by renaming leaves the name empty for a moment; a file may move while we look for it."""
NO_TEXT = "neither UTF-8 nor UTF-16"


class Walk:
    """The walk of one checkout."""

    def __init__(self, this: Round, checkout: Checkout) -> None:
        self.round = this
        self.checkout = checkout
        self.baseline = Baseline(this, checkout)
        self.roots = [each.root for each in checkouts(this.db)]
        self.replicas = {each.real_path: each for each in replicas_of(this.db, checkout.root)}
        self.remarks: list[Remark] = []
        self.unread: set[str] = set()

    def walked(self, find: Callable[[], tuple[Found, ...]]) -> Walked:
        """Every step that the checkout's files ask for; `find` lists those of the watch list."""
        files = self._files(find())
        if self._vanished(files):
            time.sleep(GAP_SECONDS)
            files = self._files(find())  # what was renamed while it was looked for is found now
        vanished = self._vanished(files)
        steps: list[Step] = []
        for each in files.values():
            if step := self._guarded(each, vanished):
                steps.append(step)
                vanished.pop(step.moved_from or "", None)
        removed = (self._guarded(each, vanished) for each in vanished.values())
        steps.extend(step for step in removed if step)
        head = self.baseline.head
        return Walked(self.checkout, head, tuple(steps), frozenset(self.unread), tuple(self.remarks))

    def _files(self, found: tuple[Found, ...]) -> dict[str, Found]:
        """Files to read by real path: those that were found, and those that a folder without rights hides."""
        files = {each.real_path: each for each in reversed(found) if self._is_ours(each)}
        unseen = (each for each in self.replicas.values() if each.real_path not in files)
        hidden = (Found(each.real_path, each.path, None) for each in unseen if _is_hidden(each.real_path))
        return files | {each.real_path: each for each in hidden}

    def _is_ours(self, found: Found) -> bool:
        """Whether a file is read here: it may be, and no known checkout is nearer to it."""
        if found.skipped or not is_storable(found.real_path):
            self._remark(found, "skipped", found.skipped or "its name is not UTF-8")
            return False
        roots = [root for root in self.roots if is_within(found.real_path, root)]
        nearest = max((*roots, self.checkout.root), key=len)
        if is_within(found.real_path, self.checkout.root):
            return nearest == self.checkout.root
        return not roots

    def _vanished(self, files: dict[str, Found]) -> dict[str, Found]:
        """Known and edited files that are not there any more, by real path."""
        there = (each for each in self.replicas.values() if each.content is not None or each.skipped)
        known = [Found(each.real_path, each.path, None) for each in there] + self._edited_and_gone()
        return {
            each.real_path: each for each in known if each.real_path not in files and _is_missing(each.real_path)
        }

    def _edited_and_gone(self) -> list[Found]:
        """Files without a replica that only payloads know; where the folder is gone too, a checkout may be."""
        root, watch = self.checkout.root, self.round.watch
        edited = (path for path in self.round.evidence.edits if is_within(path, root) and is_folder(_folder(path)))
        unknown = (path for path in edited if get_replica(self.round.db, path) is None)
        found = (Found(path, os.path.relpath(path, root), None) for path in unknown)
        return [each for each in found if watch.matches(each.path)]

    def _guarded(self, found: Found, vanished: dict[str, Found]) -> Step | None:
        try:
            if found.real_path in vanished:
                return self._compared(found, None, None)
            return None if self._is_unchanged(found) else self._step(found, vanished)
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one file, the others are read
            self._remark(found, "failed", reason_of(error))
            return self._skipped(found, reason_of(error), stamp_of(found.real_path))

    def _is_unchanged(self, found: Found) -> bool:
        known = self._known(found)
        if (
            known is None
            or known.stamp is None
            or known.stamp != stamp_of(found.real_path)
            or (known.root, known.path) != (self.checkout.root, found.path)
            or self.round.thorough
            or found.real_path in self.round.evidence.edits
        ):
            return False
        if known.skipped:
            self.unread.add(self._subject(found))
        return True

    def _step(self, found: Found, vanished: dict[str, Found]) -> Step | None:
        match memory_file.read(found.real_path, self.round.longest):
            case memory_file.Missing():
                return None  # since it was found; the next walk sees whether it stays so
            case memory_file.Skipped(reason, stamp):
                self._remark(found, "skipped", reason)
                return self._skipped(found, reason, stamp)
            case memory_file.Content(data, stamp) if memory_file.text_of(data) is None:
                self._remark(found, "skipped", NO_TEXT)
                return self._skipped(found, NO_TEXT, stamp)
            case memory_file.Content(data, stamp):
                if former := self._former(found, data, vanished):
                    return Step(self._replica(found, data, stamp), moved_from=former)
                return self._compared(found, data, stamp)

    def _compared(self, found: Found, data: bytes | None, stamp: Stamp | None) -> Step | None:
        known = self._known(found)
        base = self.baseline.of(found.real_path, known, data, stamp)
        place = Place(self.checkout.project, found.path, self.checkout.root, found.real_path)
        change = change_of(place, base.data, data, self._source(found, stamp))
        replica = self._replica(found, data, stamp)
        if change is None and known is not None and replica._replace(head=known.head) == known:
            return None
        arrived = change is not None and self.baseline.has_arrived(found.real_path, change, data)
        return Step(replica, change, arrived)

    def _former(self, found: Found, data: bytes, vanished: dict[str, Found]) -> str | None:
        """Real path of a vanished file that has come back under this new name."""
        known = self._known(found)
        if (known is not None and (known.content is not None or known.skipped)) or same_text(data, None):
            return None
        same = (path for path in vanished if same_text(self._content_before(path), data))
        return min(
            same, key=lambda path: (path.rpartition("/")[2] != found.path.rpartition("/")[2], path), default=None
        )

    def _content_before(self, real_path: str) -> bytes | None:
        known = self.replicas.get(real_path)
        return known.content if known else None

    def _skipped(self, found: Found, reason: str, stamp: Stamp | None) -> Step | None:
        """The replica keeps the last content that could be read; of a new file that is nothing."""
        known = self._known(found)
        content = known.content if known else b"" if self.baseline.is_settled else None
        replica = self._replica(found, content, stamp)._replace(skipped=reason)
        return None if known and replica._replace(head=known.head) == known else Step(replica)

    def _known(self, found: Found) -> Replica | None:
        return self.replicas.get(found.real_path) or get_replica(self.round.db, found.real_path)

    def _replica(self, found: Found, content: bytes | None, stamp: Stamp | None) -> Replica:
        root, project = self.checkout.root, self.checkout.project
        safe = None if stamp is None or is_racy(stamp, self.round.now) else stamp
        return Replica(found.real_path, root, project, found.path, content, safe, self.baseline.head)

    def _source(self, found: Found, stamp: Stamp | None) -> Source:
        """The session's, at the file's own time if that lies between the last look and now."""
        source = self.round.evidence.source(found.real_path, self.checkout.root)
        changed = stamp.mtime_ns / 1e9 if stamp else None
        sight = self.baseline.sight
        if changed is None or sight is None or not sight.at <= changed <= self.round.now:
            return source
        return source._replace(observed_at=changed)

    def _remark(self, found: Found, kind: Literal["skipped", "failed"], reason: str) -> None:
        self.unread.add(self._subject(found))
        self.remarks.append(Remark(kind, self._subject(found), reason))

    def _subject(self, found: Found) -> str:
        """Where the person finds it: what lies outside a project is named by the link that is inside."""
        is_inside = not found.path.startswith("~")
        return f"{self.checkout.root.rstrip('/')}/{found.path}" if is_inside else found.real_path


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _is_missing(real_path: str) -> bool:
    """Whether the name is free, or stands for a folder or for something that lies elsewhere."""
    try:
        found = os.lstat(real_path)
    except OSError:
        return not _is_hidden(real_path)
    return stat.S_ISDIR(found.st_mode) or real(real_path) != real_path


def _is_hidden(real_path: str) -> bool:
    """Whether it can't be seen what a path stands for."""
    try:
        os.lstat(real_path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return False
