"""`orgmem import` and `orgmem validate`: what comes in from files."""

from pathlib import Path
from typing import Annotated

import typer

from orgmem.cli.console import Json, emit_json, load_settings, remark, stderr
from orgmem.errors import InputError, NotFoundError

SEE_REJECTS = 'orgmem snapshot && orgmem sql "select * from rejects"'


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command("import")(import_)
    app.command("validate")(validate)


def import_(
    file: Annotated[
        Path,
        typer.Argument(help="JSON Lines or gzip of it: {id?, repo, path, date, before, after}.", readable=False),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, but stage nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Stage edits of memory files as approved learnings.

    Importing twice changes nothing.
    """
    from orgmem.identity import now
    from tasks.intake import import_file

    settings = load_settings(make_home=not dry_run)
    with stderr.status(f"reading {file.name}"):
        done = import_file(file, settings, now, dry_run=dry_run)
    if as_json:
        emit_json(done.model_dump(exclude={"first_reason"}))
    else:
        print(f"read {done.read:,}, new {done.new:,}, seen {done.seen:,}, rejected {done.rejected:,}")
    if not done.read:
        remark(f"{file} is empty: nothing to import")
    elif done.new and not (as_json or dry_run or done.rejected):
        remark("next: orgmem curate")
    if done.rejected:
        remark(f"{done.rejected:,} rejected, first {done.first_reason}; next: orgmem curate && {SEE_REJECTS}")


def validate(
    file: Annotated[Path, typer.Argument(help="A staging file: one learning as JSON.", readable=False)],
    as_json: Json = False,
) -> None:
    """Check a staging file against the learning schema.

    Its patch and hunks must agree, too.
    """
    from orgmem.store.staging import parse_learning

    longest = load_settings().max_row_bytes
    found = parse_learning(_bytes_of(file, longest))
    problems = found if isinstance(found, tuple) else ()
    message, hint = f"{file} is no valid learning", f"mend these fields, then orgmem validate {file}"
    if as_json:
        report = {"file": str(file), "valid": not problems, "errors": [each._asdict() for each in problems]}
        error = {"error": {"code": InputError.code, "message": message, "hint": hint}}
        emit_json({**report, **error} if problems else report)
    elif problems:
        print("\n".join(f"{field}: {what}" for field, what in problems))
        remark(f"error: {message}; next: {hint}")
    else:
        print(f"{file} is a valid learning")
    if problems:
        raise typer.Exit(1)


def _bytes_of(file: Path, longest: int) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(longest + 1)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {file}", f"ls {file.parent}") from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"can't read {file}: {error.strerror}", f"ls -ld {file}") from None
    if len(data) > longest:
        raise InputError(f"{file} is larger than {longest} bytes", "set ORGMEM_MAX_ROW_BYTES")
    return data
