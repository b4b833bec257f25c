"""What an edit of a memory file comes to: texts normalised, our own block left out, both sides masked alike."""

from typing import NamedTuple

from orgmem.capture.memory_file import essence, text_of, without_our_block
from orgmem.capture.state.candidates import Change
from orgmem.errors import InputError
from orgmem.identity import learning_id
from orgmem.text.redact import Redacted, redact
from orgmem.text.secrets import MASK


class Place(NamedTuple):
    """Where a memory file is."""

    project: str
    """Identity of the project."""
    path: str
    """Inside the project, forward slashes."""
    root: str
    """The checkout's."""
    real_path: str


class Source(NamedTuple):
    """How an edit was noticed."""

    origin: str
    """hook, sync or backfill."""
    session: str | None
    observed_at: float
    """Seconds since 1970."""
    commit_id: str | None = None


def change_of(place: Place, before: bytes | None, after: bytes | None, source: Source) -> Change | None:
    """The change from one content of a file to another; none: the file is not there.

    Returns:
        Nothing where the masked texts differ in what no reader sees: line ends, byte order mark, space at the
        end of lines, blank lines at the end.

    Raises:
        InputError: a content is no text.
    """
    old, new = masked(before), masked(after)
    if essence(old.text) == essence(new.text):
        return None
    project, path = redact(place.project).text, redact(_visible(place.path)).text
    return Change(
        learning_id=learning_id(project, path, old.text, new.text),
        project=project,
        path=path,
        root=place.root,
        real_path=place.real_path,
        before=old.text,
        after=new.text,
        masked=old.count + new.count,
        rules=tuple(sorted({*old.rules, *new.rules})),
        origin=source.origin,
        session=source.session,
        observed_at=source.observed_at,
        commit_id=source.commit_id,
    )


def joined(first: Change, further: Change) -> Change:
    """Two changes of a file, one after the other, as one; equal texts mean that it was edited back."""
    between = len(MASK.findall(further.before))
    return further._replace(
        learning_id=learning_id(first.project, first.path, first.before, further.after),
        before=first.before,
        masked=max(0, first.masked + further.masked - 2 * between),
        rules=tuple(sorted({*first.rules, *further.rules})),
    )


def follows(first: Change, further: Change) -> bool:
    """Whether a change begins where another one ends, to a reader's eye."""
    return essence(first.after) == essence(further.before)


def changes_nothing(change: Change) -> bool:
    """Whether before and after differ in nothing that a reader sees."""
    return essence(change.before) == essence(change.after)


def masked(content: bytes | None) -> Redacted:
    """The text of a file as it may leave the machine; empty where there is no file.

    Raises:
        InputError: it is no text.
    """
    text = "" if content is None else text_of(content)
    if text is None:
        raise InputError("neither UTF-8 nor UTF-16")
    return redact(without_our_block(text))


def same_text(one: bytes | None, other: bytes | None) -> bool:
    """Whether two contents say the same to a reader; no file is an empty one."""
    if one == other:
        return True
    texts = tuple("" if content is None else text_of(content) for content in (one, other))
    return None not in texts and essence(texts[0] or "") == essence(texts[1] or "")


def _visible(path: str) -> str:
    """The path with every character that can't be printed as its escape."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in path)
