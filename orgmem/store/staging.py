"""Staging: learnings and rejects that wait for ingest, one JSON file each, there whole or not at all.

Hooks, intake and imports write; the ingest flow reads, and removes a file only when its rows are in the lake.
A file is one sighting of a learning and is named after it, so the same sighting is the same file. Names that
begin with a dot or end in `.tmp`, `.part` or `~` are other writers' work in progress and passed over.
"""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from pydantic import ValidationError

from orgmem.identity import digest
from orgmem.settings import Settings
from orgmem.store.atomic import TEMPORARY, to_disk, write_atomically
from orgmem.store.rejects import Problem, reasons
from orgmem.text.diff import patch_agrees
from orgmem.text.redact import redact
from schemas.learning import Learning, Reject, Sighting
from schemas.session_count import SessionCount

_STALE_SECONDS = 24 * 3600
"""Work in progress of ours that nobody has touched for a day belongs to a killed process."""
_UNFINISHED = (".tmp", ".part", "~")
_REJECT = "rej_"
COUNTS = "counts"
"""Folder of the session counts, beside the learnings."""


@dataclass(frozen=True)
class Invalid:
    """A file that is neither a learning nor a reject."""

    problems: tuple[Problem, ...]
    data: bytes
    """Its bytes; only the beginning where it is too large."""
    size: int
    """Bytes of the whole file."""
    sha256: str
    """Of the whole file."""


@dataclass(frozen=True)
class Gone:
    """The file was removed since it was listed: another run has loaded it."""


def parse_learning(data: bytes) -> Learning | tuple[Problem, ...]:
    """A learning whose patch and hunks say the same, or what is wrong, by field."""
    try:
        learning = Learning.model_validate_json(data)
    except ValidationError as error:
        return reasons(error)
    if not patch_agrees(learning.patch, learning.hunks):
        return (Problem("patch", "removes or adds other lines than hunks says: they must agree"),)
    unmasked = tuple(Problem(name, "holds what looks like a secret: mask it") for name in _unmasked(learning))
    return unmasked or learning


def _unmasked(learning: Learning) -> Iterator[str]:
    """Fields that would bring a secret into the lake; a client masks before it diffs."""
    hunks = (text for hunk in learning.hunks for text in (*hunk.heading_path, hunk.before, hunk.after))
    context = (text for hunk in learning.hunks for text in (hunk.context_before, hunk.context_after))
    named = {
        "project": learning.project,
        "path": learning.path,
        "external_ids": "\n".join(learning.external_ids),
        "commit": learning.commit or "",
        "client": learning.client,
        "contributor": learning.contributor or "",
        "hunks": "\n".join((*hunks, *context)),
    }
    return (name for name, text in named.items() if text and redact(text).count)


def sightings_of(learning: Learning) -> tuple[Sighting, ...]:
    """One sighting for each external id, or one without."""
    return tuple(_sighting(learning, external_id) for external_id in learning.external_ids or (None,))


def _sighting(learning: Learning, external_id: str | None) -> Sighting:
    moment = learning.observed_at.isoformat()
    return Sighting(
        id=f"sgt_{digest(learning.id, external_id or '', learning.commit or '', learning.origin, moment)}",
        learning_id=learning.id,
        external_id=external_id,
        commit=learning.commit,
        origin=learning.origin,
        observed_at=learning.observed_at,
    )


def lake_ids(row: Learning | Reject) -> tuple[str, ...]:
    """Ids of the sightings, or of the reject, that a staged file becomes in the lake."""
    match row:
        case Learning():
            return tuple(each.id for each in sightings_of(row))
        case Reject():
            return (row.id,)


def file_name(row: Learning | Reject) -> str:
    """The staging file's name: the same sighting or reject, the same file."""
    match row:
        case Learning():
            return f"{row.id}.{digest(*lake_ids(row))[:12]}.json"
        case Reject():
            return f"{row.id}.json"


class Staging:
    """The staging folder of a tenant."""

    def __init__(self, settings: Settings) -> None:
        self.folder = settings.staging
        self._longest = settings.max_row_bytes

    def names(self) -> tuple[str, ...]:
        """Every finished file, sorted."""
        if not self.folder.is_dir():
            return ()
        with os.scandir(self.folder) as entries:
            return tuple(sorted(entry.name for entry in entries if _is_finished(entry)))

    def count(self) -> int:
        """How many files wait."""
        return len(self.names())

    def learning_ids(self) -> frozenset[str]:
        """Ids of the learnings whose files are named after them."""
        return frozenset(name.partition(".")[0] for name in self.names())

    def size(self, name: str) -> int:
        """Bytes of a file; 0 if it is gone."""
        try:
            return (self.folder / name).stat().st_size
        except FileNotFoundError:
            return 0

    def read(self, name: str) -> Learning | Reject | Invalid | Gone:
        """What a file holds, parsed and checked."""
        try:
            with (self.folder / name).open("rb") as file:
                data = file.read(self._longest + 1)
                size = os.fstat(file.fileno()).st_size
                whole = hashlib.file_digest(file, lambda: hashlib.sha256(data)).hexdigest()
        except FileNotFoundError:
            return Gone()
        except PermissionError:
            return Invalid((Problem("file", "no right to read it"),), b"", self.size(name), "")
        if size > self._longest:
            return Invalid((Problem("file", f"larger than {self._longest} bytes"),), data, size, whole)
        parsed = _parse_reject(data) if name.startswith(_REJECT) else parse_learning(data)
        return Invalid(parsed, data, size, whole) if isinstance(parsed, tuple) else parsed

    def write(self, row: Learning | Reject) -> str:
        """Stage one row; returns the file's name."""
        name = file_name(row)
        write_atomically(self.folder / name, row.model_dump_json().encode())
        return name

    def set_aside(self, name: str, reject: Reject) -> str:
        """Stage the reject, then move the file that it tells of to `rejected/`; returns the reject's name.

        A crash in between does both again, to the same names.
        """
        staged = self.write(reject)
        aside = self.folder / "rejected" / f"{reject.id}{PurePath(name).suffix[:16]}"
        aside.parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            (self.folder / name).rename(aside)
        return staged

    def discard(self, names: Iterable[str]) -> None:
        """Remove files whose rows are safely in the lake."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)

    def session_counts(self) -> Iterator[SessionCount]:
        """What clients counted, one a session: each client keeps the file of its session up to date.

        They stay where they are, since a newer version takes the place of the older. A file that is none is
        passed over: it holds nothing that anybody wrote.
        """
        for path in sorted((self.folder / COUNTS).glob("cnt_*.json")):
            with suppress(OSError, ValidationError):
                yield SessionCount.model_validate_json(path.read_bytes())

    @contextmanager
    def batch(self, *, dry_run: bool = False) -> Iterator["Batch"]:
        """A folder aside in which many rows are collected; what is not published is removed."""
        if dry_run:
            yield Batch(self.folder, None)
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._sweep()
        aside = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=self.folder))
        try:
            yield Batch(self.folder, aside)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def _sweep(self) -> None:
        for path in self.folder.glob(f"{TEMPORARY}*"):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


@dataclass(frozen=True)
class Batch:
    """Rows that will all be staged, or none of them."""

    staging: Path
    aside: Path | None
    """Where the files are written; none: nowhere, it is a dry run."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """File names, with the content ids of the rows that each becomes in the lake."""

    def add(self, row: Learning | Reject) -> None:
        """Collect a row; the same sighting or reject is collected once."""
        name = file_name(row)
        if name in self.names:
            return
        if self.aside:
            (self.aside / name).write_bytes(row.model_dump_json().encode())
        self.names[name] = lake_ids(row)

    def ids(self) -> frozenset[str]:
        """Content ids of all that was collected."""
        return frozenset(each for ids in self.names.values() for each in ids)

    def publish(self, known: frozenset[str]) -> None:
        """Rename everything into staging but what is there, or whose rows are all `known`.

        Raises:
            OSError: a file can't be written; none is left in staging.
        """
        if not self.aside:
            return
        unknown = (name for name, ids in self.names.items() if not known.issuperset(ids))
        wanted = [name for name in unknown if not (self.staging / name).exists()]
        for name in wanted:
            to_disk(self.aside / name)
        published: list[str] = []
        try:
            for name in wanted:
                # Another import may have been first: a link refuses what a rename would replace.
                with suppress(FileExistsError):
                    os.link(self.aside / name, self.staging / name)
                    published.append(name)
            to_disk(self.staging)
        except BaseException:
            for name in published:
                (self.staging / name).unlink(missing_ok=True)
            raise


def _is_finished(entry: os.DirEntry[str]) -> bool:
    unfinished = entry.name.startswith(".") or entry.name.endswith(_UNFINISHED)
    return not unfinished and entry.is_file(follow_symlinks=False)


def _parse_reject(data: bytes) -> Reject | tuple[Problem, ...]:
    try:
        found = Reject.model_validate_json(data)
    except ValidationError as error:
        return reasons(error)
    # Ours are masked already; anybody can drop a file of that name.
    masked = {name: redact(getattr(found, name)).text for name in ("source", "reason", "raw")}
    return found.model_copy(update=masked)
