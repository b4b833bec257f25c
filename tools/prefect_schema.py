"""Write flows/prefect_schema.sql anew, after an upgrade of Prefect: python tools/prefect_schema.py."""
# ruff: noqa: INP001  (a script, no package)

import asyncio
import tempfile
from pathlib import Path

from flows.server_schema import dump
from orgmem.settings import Settings, prefect_home, quiet_libraries

TARGET = Path(__file__).parents[1] / "flows" / "prefect_schema.sql"


def main() -> None:
    """Let the installed Prefect migrate an empty file, and write down what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        quiet_libraries(Settings(home=Path(folder)))
        from prefect.server.database import provide_database_interface

        asyncio.run(provide_database_interface().create_db())
        TARGET.write_text(dump(prefect_home() / "prefect.db"), "utf-8")


if __name__ == "__main__":
    main()
