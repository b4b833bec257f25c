"""A Prefect server for as long as this process lives, for a machine that has none.

Prefect would start one by itself, yet later (when the first flow asks), with the current folder on its
import path, and it would outlive a killed parent. This one starts at once, side by side with slow imports,
and ends when the pipe to its parent closes, however the parent ends.
"""

import atexit
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING

from orgmem.settings import has_prefect_server, prefect_home, use_prefect_server

if TYPE_CHECKING:
    import uvicorn

SLOW_IMPORTS = ("great_expectations", "lancedb", "dlt", "onnxruntime")
"""4.8, 2.4, 1.0 and 0.1 seconds; what they are for is the business of those who use them."""
LAST_EVENTS_SECONDS = 10
"""How long a server may take to write down the last events of a run."""


@dataclass(frozen=True)
class Server:
    """A child of this process that serves Prefect's API."""

    child: "subprocess.Popen[bytes]"
    log: Path

    def last_words(self) -> str:
        """The last line that a server has left which did not stay; empty while it is at work."""
        if self.child.poll() is None:
            return ""
        lines = self.log.read_text("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "no word of why")

    def end(self) -> None:
        """Close its pipe and wait until it has written down the last events."""
        if self.child.stdin:
            self.child.stdin.close()
        try:
            self.child.wait(timeout=LAST_EVENTS_SECONDS)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


def ensure_prefect() -> Server | None:
    """Start a server unless one is configured. Must run before prefect is imported."""
    if has_prefect_server():
        return None
    log = prefect_home() / "server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket() as listener, log.open("wb") as errors:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        fd = listener.fileno()
        child = subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
            [sys.executable, "-P", "-c", f"from flows.server import serve; serve({fd})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=[fd],
        )
        use_prefect_server(f"http://127.0.0.1:{listener.getsockname()[1]}/api")
    server = Server(child, log)
    atexit.register(server.end)
    return server


def warm_up() -> None:
    """Import what a run needs anyway while the server starts: seconds that would otherwise follow it."""
    for name in SLOW_IMPORTS:
        import_module(name)


def serve(fd: int) -> None:
    """Serve Prefect's API on an inherited listening socket until standard input closes. Runs in the child."""
    import uvicorn
    from prefect.server.api.server import create_app
    from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL

    from flows.server_schema import plant_database

    plant_database(PREFECT_API_DATABASE_CONNECTION_URL.value())
    config = uvicorn.Config(
        create_app, factory=True, fd=fd, log_level="error", lifespan="on", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    threading.Thread(target=_stop_with_parent, args=(server, sys.stdin.buffer), daemon=True).start()
    server.run()


def _stop_with_parent(server: "uvicorn.Server", pipe: IO[bytes]) -> None:
    pipe.read()
    server.should_exit = True
