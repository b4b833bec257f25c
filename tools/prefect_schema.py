"""Write flows/prefect_schema.sql anew, after an upgrade of Prefect: python tools/prefect_schema.py."""
# ruff: noqa: INP001  (a script, no package)

import asyncio
import os
import tempfile
from pathlib import Path

TARGET = Path(__file__).parents[1] / "flows" / "prefect_schema.sql"


def main() -> None:
    """Let the installed Prefect migrate an empty file, and write down what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PREFECT_HOME"] = folder
        from flows.server_schema import dump
        from prefect.server.database import provide_database_interface

        asyncio.run(provide_database_interface().create_db())
        TARGET.write_text(dump(Path(folder) / "prefect.db"), "utf-8")


if __name__ == "__main__":
    main()
