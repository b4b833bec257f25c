"""`orgmem capture doctor`: is what is installed at work?"""

from pathlib import Path

import typer

from orgmem.cli.console import Json, emit_json, load_settings, printable, remark, stderr


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("doctor")(doctor)


def doctor(as_json: Json = False) -> None:
    """Test every hook and connection with a canary.

    The canary has a repository and a home of its own, both removed afterwards; nothing of yours is touched.
    """
    from orgmem.capture.doctor import examine
    from orgmem.capture.project import checkout_of

    settings = load_settings()
    here = checkout_of(str(Path.cwd()))
    root = Path(here.root) if here else Path.cwd()
    with stderr.status("testing hooks"):
        checks = tuple(examine(settings, root, Path.home()))
    if as_json:
        emit_json({"ok": all(check.ok for check in checks), "checks": [check.model_dump() for check in checks]})
    else:
        for check in checks:
            print(printable(f"{'ok    ' if check.ok else 'FAILED'}  {check.name}: {check.detail}"))
            if check.next:
                remark(f"next: {check.next}")
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
