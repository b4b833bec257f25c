"""Intake: rows of a JSON Lines file become staged learnings, and rows that are none become staged rejects.

Input: revisions of memory files (`schemas.import_row`). Output: files in staging, all or none. Promise: read
is new plus seen plus rejected; importing again stages nothing; memory stays bounded whatever a line's length.
"""

from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from orgmem import __version__
from orgmem.identity import Clock, learning_id
from orgmem.settings import Settings
from orgmem.store.jsonl import Line, read_lines
from orgmem.store.lake import Lake
from orgmem.store.rejects import in_one_line, reasons, reject
from orgmem.store.staging import Staging
from orgmem.text.diff import line_hunks, make_patch
from orgmem.text.redact import redact
from schemas.import_row import ImportRow
from schemas.learning import ApprovedVia, Learning, Origin, Reject
from schemas.record import Record

NO_CHANGE = "no_change"
"""Reason of a row whose texts differ in nothing but line ends, a byte order mark or space at line ends."""


class Imported(Record):
    """What became of the rows; read is new plus seen plus rejected."""

    read: int
    new: int
    """Learnings that were in neither lake nor staging."""
    seen: int
    """Rows that repeat a known learning."""
    rejected: int
    first_reason: str | None = None
    """Line and reason of the first rejected row."""


def import_file(path: Path, settings: Settings, clock: Clock, *, dry_run: bool = False) -> Imported:
    """Stage what a file holds; with `dry_run` only count.

    Raises:
        OrgmemError: it is no JSON Lines file; nothing is staged.
        OSError: the disk is full or the folder can't be written; nothing is staged.
    """
    staging, lake = Staging(settings), Lake(settings)
    learnings: set[str] = set()
    read = rejected = 0
    first: str | None = None
    with staging.batch(dry_run=dry_run) as batch:
        for line in read_lines(path, settings.max_row_bytes):
            row = parse_line(line, path.name, clock(), settings.max_row_bytes)
            batch.add(row)
            read += 1
            match row:
                case Learning():
                    learnings.add(row.id)
                case Reject():
                    rejected += 1
                    first = first or f"line {row.line}: {row.reason}"
        new = len(learnings - staging.learning_ids() - lake.known("learnings", learnings))
        batch.publish(lake.known("sightings", batch.ids()) | lake.known("rejects", batch.ids()))
    return Imported(read=read, new=new, seen=read - rejected - new, rejected=rejected, first_reason=first)


def parse_line(line: Line, source: str, moment: datetime, longest: int) -> Learning | Reject:
    """The learning that a line tells of, approved at `moment`, or the line as a reject.

    A learning whose staging file would be over `longest` bytes is rejected too: ingest would not take it.
    """
    outcome = _learning_or_reason(line.data, moment) if line.whole else f"row: longer than {longest} bytes"
    if isinstance(outcome, Learning) and len(outcome.model_dump_json()) > longest:
        outcome = f"row: its learning is larger than {longest} bytes"
    if isinstance(outcome, Learning):
        return outcome
    return reject(source, line.number, outcome, line.data, size=line.size, sha256=line.sha256, rejected_at=moment)


def _learning_or_reason(data: bytes, moment: datetime) -> Learning | str:
    try:
        row = ImportRow.model_validate_json(data)
        return _learning(row, moment)
    except ValidationError as error:
        return in_one_line(reasons(error))


def _learning(row: ImportRow, moment: datetime) -> Learning | str:
    before, after = redact(_plain(row.before)), redact(_plain(row.after))
    if _essence(before.text) == _essence(after.text):
        return NO_CHANGE
    project, path = redact(row.repo).text, redact(row.path).text
    return Learning(
        id=learning_id(project, path, before.text, after.text),
        origin=Origin.IMPORT,
        approved_via=ApprovedVia.SCRIPT,
        approved_at=moment,
        observed_at=row.date,
        project=project,
        path=path,
        patch=make_patch(before.text, after.text),
        hunks=line_hunks(before.text, after.text),
        masked=before.count + after.count,
        client=f"orgmem {__version__}",
        external_ids=() if row.id is None else (redact(str(row.id)).text,),
        commit=None if row.commit is None else redact(row.commit).text,
    )


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _essence(text: str) -> list[str]:
    """The text's lines without what no reader sees: space at line ends, blank lines at the end."""
    return [line.rstrip() for line in text.rstrip().split("\n")]
