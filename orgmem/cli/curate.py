"""`orgmem curate`: the ingest and curate flows, to the end."""

import asyncio
import errno
import os
import shutil
import time
from typing import Annotated

import typer
from rich.console import Console

from orgmem.cli.console import Json, away_from_here, emit_json, load_settings, remark
from orgmem.cli.funnel import funnel, outcomes
from orgmem.cli.policy import todays_policy
from orgmem.cli.progress import progress_of
from orgmem.errors import ConfigurationError, StoreError, UsageError
from orgmem.settings import Settings
from schemas.tally import Tally

ROOM = 512 * 1024
"""Bytes below which a disk counts as full."""
CURATORS = ("builtin",)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("curate")(curate)


def curate(
    curator: Annotated[str | None, typer.Option(help="Who reads the learnings: builtin.")] = None,
    limit: Annotated[int | None, typer.Option(help="Curate at most this many learnings.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what waits; write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Turn staged learnings into memories.

    Ingest, then enrich, gate, trust, tag, collide and persist.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"--limit must be at least 1, not {limit}", "orgmem curate --limit 100")
    if curator not in (None, *CURATORS):
        raise ConfigurationError(
            f"curator {curator!r} is not in this release, which has: {', '.join(CURATORS)}",
            "orgmem curate --curator builtin",
        )
    settings = load_settings(make_home=not dry_run)
    if dry_run:
        _say_what_waits(settings, as_json)
        return
    todays_policy(settings)  # a mistake in the file is said before anything is loaded
    began = time.monotonic()
    with away_from_here(), progress_of(settings):
        tally = _run(settings, limit)
    seconds = round(time.monotonic() - began, 1)
    if as_json:
        emit_json({**tally.model_dump(mode="json", by_alias=True), "seconds": seconds})
    else:
        _print(tally, seconds)


def _run(settings: Settings, limit: int | None) -> Tally:
    from flows.server import ensure_prefect, warm_up

    server = ensure_prefect()
    if server and any(_waiting(settings)):
        warm_up()
    try:
        return asyncio.run(_flow(str(settings.home), settings.tenant, limit))
    except Exception as error:
        # Prefect tells of a full disk in many ways, most of them about its server.
        if shutil.disk_usage(settings.home).free < ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(settings.home)) from error
        if server and (last_words := server.last_words()):
            raise StoreError(f"Prefect's server did not stay: {last_words}", "orgmem curate") from error
        raise


async def _flow(home: str, tenant: str, limit: int | None) -> Tally:
    from flows.curate import curate as flow

    return await flow(home, tenant, limit)


def _waiting(settings: Settings) -> tuple[int, int]:
    """How many files are staged, and how many learnings in the lake are pending."""
    from orgmem.store.lake import Lake
    from orgmem.store.staging import Staging

    return Staging(settings).count(), len(Lake(settings).pending_ids(None))


def _say_what_waits(settings: Settings, as_json: bool) -> None:
    staged, pending = _waiting(settings)
    if as_json:
        emit_json({"dry_run": True, "staged": staged, "pending": pending})
    else:
        remark(f"{staged} staged files would be loaded, {pending} learnings in the lake are pending")


def _print(tally: Tally, seconds: float) -> None:
    console = Console(highlight=False)
    console.print(outcomes(tally))
    console.print()
    console.print(funnel(tally))
    if tally.learnings.captured:
        remark(f"done in {seconds} s; next: orgmem search 'how do I run the tests'")
    else:
        remark("no learnings yet; next: orgmem import FILE.jsonl")
