"""What the processes of the kill test share: forked from one that has the slowest import behind it.

A process that is forked from here starts its work at once, so that kills meet work and not imports.
"""

import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read at import

import great_expectations

__all__ = ["great_expectations", "orgmem"]


def orgmem(home: Path, server: str, *words: str) -> None:
    """Run a verb of the command line in this process, and end it."""
    os.environ |= {"ORGMEM_HOME": str(home), "PREFECT_API_URL": server, "ORGMEM_BATCH_SIZE": "20"}
    sys.argv = ["orgmem", *words]
    from orgmem.cli.main import run

    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        run()
