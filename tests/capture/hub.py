"""A stand-in for the server's intake, in a thread: it stores learnings once, and fails as it is told to."""

import socket
import struct
import threading
import time
from collections import Counter, deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, Self

from pydantic import ValidationError

from orgmem.store.staging import parse_learning
from schemas.learning import Learning
from schemas.session_count import SessionCount

TOKEN = "hub-token-1"
LONGEST = 8 * 1024 * 1024


class Says(NamedTuple):
    """An answer instead of the intake's own."""

    status: int
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class Hangs(NamedTuple):
    """No answer until the hub is closed."""


class Resets(NamedTuple):
    """The connection breaks, before or after the learning was stored."""

    stored: bool = False


Fault = Says | Hangs | Resets


class Request(NamedTuple):
    """What came in."""

    path: str
    key: str | None
    """Idempotency-Key."""
    token: str | None
    """Authorization."""


class Hub:
    """`POST /api/v1/learnings` and `/api/v1/session-counts` on a free port of this machine."""

    def __init__(self) -> None:
        self.learnings: dict[str, Learning] = {}
        self.times: Counter[str] = Counter()
        """How often each learning came in."""
        self.counts: dict[str, SessionCount] = {}
        self.requests: list[Request] = []
        self.faults: deque[Fault] = deque()
        """One for each of the next requests."""
        self.always: Fault | None = None
        """For every request, once the others are used up."""
        self.pause = 0.0
        """Seconds that each request takes."""
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.server = _Listener(self)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    def fault(self) -> Fault | None:
        """What is to go wrong with this request."""
        with self.lock:
            return self.faults.popleft() if self.faults else self.always

    def take(self, request: Request, content_type: str, data: bytes) -> Says:
        """The intake's own answer."""
        with self.lock:
            if request.token != f"Bearer {TOKEN}":
                return Says(401, '{"error": {"code": "unauthorized"}}')
            if content_type != "application/json":
                return Says(415)
            if len(data) > LONGEST:
                return Says(413)
            match request.path:
                case "/api/v1/learnings":
                    return self._take_learning(request, data)
                case "/api/v1/session-counts":
                    return self._take_count(data)
                case _:
                    return Says(404, '{"error": {"code": "not_found"}}')

    def _take_learning(self, request: Request, data: bytes) -> Says:
        found = parse_learning(data)
        if isinstance(found, tuple):
            return Says(422, "; ".join(f"{field}: {message}" for field, message in found))
        if request.key != found.id:
            return Says(400, "the key is not the id")
        self.times[found.id] += 1
        if found.id in self.learnings:
            return Says(409)
        self.learnings[found.id] = found
        return Says(201)

    def _take_count(self, data: bytes) -> Says:
        try:
            count = SessionCount.model_validate_json(data)
        except ValidationError as error:
            return Says(422, str(error))
        known = self.counts.get(count.id)
        if known is None or known.version < count.version:
            self.counts[count.id] = count
        return Says(200)


class _Listener(ThreadingHTTPServer):
    """Knows whose door it is."""

    daemon_threads = True

    def __init__(self, hub: Hub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients are killed here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_POST(self) -> None:
        hub = self.server.hub
        data = self.rfile.read(int(self.headers["Content-Length"]))
        request = Request(self.path, self.headers["Idempotency-Key"], self.headers["Authorization"])
        hub.requests.append(request)
        time.sleep(hub.pause)
        match hub.fault():
            case None:
                self._answer(hub.take(request, self.headers["Content-Type"], data))
            case Says() as says:
                self._answer(says)
            case Hangs():
                hub.closing.wait()
                self.close_connection = True
            case Resets(stored):
                if stored:
                    hub.take(request, self.headers["Content-Type"], data)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True

    def _answer(self, says: Says) -> None:
        body = says.body.encode()
        self.send_response(says.status)
        for name, value in says.headers:
            self.send_header(name, value)
        if says.status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the parent's
        """Say nothing."""
