"""Checkouts whose folder is gone: what payloads tell of edits there is saved, what nothing tells of is said.

Nobody deleted the files of a removed worktree by an edit, so its replicas stay as they are.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from orgmem.capture.baseline import was_never_read
from orgmem.capture.changes import Place, change_of
from orgmem.capture.evidence import Content, is_within, real
from orgmem.capture.look import Occurrence, is_folder
from orgmem.capture.project import checkout_of
from orgmem.capture.rounds import Remark, Round, Step
from orgmem.capture.state.replicas import (
    Checkout,
    Replica,
    checkout_above,
    checkouts,
    get_replica,
    last_sight,
    stamps_of,
)
from orgmem.identity import digest

LOST_EDIT = "the folder is gone, and the payload of an edit does not tell what the file was before and after it"
LOST_COMMAND = "the folder is gone: what a command changed in memory files there is not known"


class Gone(NamedTuple):
    """A checkout that is gone, and what its last edits came to."""

    checkout: Checkout
    steps: tuple[Step, ...]
    remarks: tuple[Remark, ...]


def gone(this: Round) -> tuple[Gone, ...]:
    """Every checkout that was found missing now, or that an edit of this round was made in."""
    edited: dict[Checkout, list[str]] = {each: [] for each in checkouts(this.db) if not is_folder(each.root)}
    for path in this.evidence.edits:
        if checkout := _gone_checkout(this, path, this.evidence.named[path]):
            edited.setdefault(checkout, []).append(path)
    return tuple(_gone(this, checkout, paths) for checkout, paths in edited.items())


def lost_commands(this: Round) -> Iterator[Remark]:
    """A remark for each folder that was gone before what a command did in it could be seen."""
    for each in this.evidence.occurrences:
        did_something = each.event.kind == "shell" or (each.event.kind == "edit" and not each.event.edits)
        if did_something and each.cwd and (checkout := _gone_checkout(this, f"{real(each.cwd)}/.", each)):
            yield Remark("lost", checkout.root, LOST_COMMAND)


def _gone(this: Round, checkout: Checkout, paths: list[str]) -> Gone:
    steps: list[Step] = []
    remarks: list[Remark] = []
    for path in paths:
        short = os.path.relpath(path, checkout.root)
        if not this.watch.matches(short):
            continue
        if step := _step(this, checkout, path, short):
            steps.append(step)
        if step is None or this.evidence.edits[path][-1].after is None:
            remarks.append(Remark("lost", path, LOST_EDIT))
    return Gone(checkout, tuple(steps), tuple(remarks))


def _step(this: Round, checkout: Checkout, real_path: str, path: str) -> Step | None:
    before = _before(this, checkout, real_path)
    after = next((each.after for each in reversed(this.evidence.edits[real_path]) if each.after), None)
    if before is None or after is None:
        return None
    place = Place(checkout.project, path, checkout.root, real_path)
    change = change_of(place, before.data, after.data, this.evidence.source(real_path, checkout.root))
    return Step(Replica(real_path, checkout.root, checkout.project, path, after.data, None), change)


def _before(this: Round, checkout: Checkout, real_path: str) -> Content | None:
    """What a file was when it was last seen; else what the first payload tells."""
    known, sight = get_replica(this.db, real_path), last_sight(this.db, checkout.root)
    if known and not was_never_read(known):
        return Content(known.content)
    if known is None and sight and sight.watched == this.watched:
        return Content(None)
    return this.evidence.before(real_path)


def _gone_checkout(this: Round, path: str, occurrence: Occurrence) -> Checkout | None:
    """The checkout that a path was in, if that is gone; none if only folders inside it are, or none is."""
    folder = _above(path)
    if is_folder(folder):
        return None
    known = checkout_above(this.db, path)
    if known and not is_folder(known.root):
        return known
    missing = _outermost_missing(folder)
    if known and any(is_within(each, missing) for each in stamps_of(this.db, known.root)):
        return None
    cwd = real(occurrence.cwd)
    root = cwd if is_within(path, cwd) and is_within(cwd, missing) else missing
    near = known or checkout_of(occurrence.wake.project_dir or _above(missing))
    if near:
        return Checkout(root, near.project, near.common_dir)
    return Checkout(root, f"local/{root.rpartition('/')[2]}-{digest(root)[:8]}", None)


def _outermost_missing(folder: str) -> str:
    while not is_folder(parent := _above(folder)):
        folder = parent
    return folder


def _above(path: str) -> str:
    return path.rpartition("/")[0] or "/"
