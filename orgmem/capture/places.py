"""Which checkouts a round walks: those in which something happened, and those that hold a file that differs."""

import os
from collections.abc import Iterator

from orgmem.capture.evidence import is_within, real
from orgmem.capture.look import has_altered, is_folder
from orgmem.capture.project import checkout_of
from orgmem.capture.rounds import PERSONAL, Round
from orgmem.capture.state.replicas import Checkout, checkouts, last_sight, mark_gone


def places(this: Round, here: str | None) -> tuple[Checkout, ...]:
    """Checkouts to walk, each once; `here` is a folder whose checkout is wanted in any case."""
    found: dict[str, Checkout] = {}
    for folder in _folders(this, here):
        if checkout := checkout_of(folder):
            found[checkout.root] = checkout
    for known in checkouts(this.db):
        if checkout := _still(this, known):
            found.setdefault(checkout.root, checkout)
    for path in this.evidence.named:
        if checkout := _of_file(this, path, (*found.values(), *checkouts(this.db))):
            found.setdefault(checkout.root, checkout)
    return tuple(each for each in found.values() if not _is_personal(this, each.root))


def leave_personal(this: Round) -> None:
    """Personal memory is not watched any more: look at none of its folders."""
    for known in checkouts(this.db):
        if _is_personal(this, known.root):
            mark_gone(this.db, known.root, this.now)


def _folders(this: Round, here: str | None) -> Iterator[str]:
    """Folders in which something happened."""
    named = dict.fromkeys(real(each.cwd) for each in this.evidence.occurrences if each.cwd)
    return (folder for folder in (*named, *([here] if here else [])) if is_folder(folder))


def _still(this: Round, known: Checkout) -> Checkout | None:
    """A known checkout as it is now, if it is to be walked.

    A folder that has become part of a repository around it is no checkout any more: its replicas go over to that.
    """
    if not is_folder(known.root) or _is_personal(this, known.root):
        return None
    now = checkout_of(known.root) or known
    if now.root != known.root:
        mark_gone(this.db, known.root, this.now)
        return now
    return now if this.thorough or has_altered(this.db, known.root, this.now) else None


def _of_file(this: Round, path: str, around: tuple[Checkout, ...]) -> Checkout | None:
    """The checkout of a memory file that an event names; the nearest around it rather than its bare folder."""
    own = checkout_of(path)
    if own is None or own.common_dir is None:
        own = max(
            (each for each in around if is_within(path, each.root)), key=lambda each: len(each.root), default=own
        )
    return own if own and this.watch.matches(os.path.relpath(path, own.root)) else None


def _is_personal(this: Round, root: str) -> bool:
    sight = last_sight(this.db, root)
    return sight is not None and sight.watched.startswith(PERSONAL)
