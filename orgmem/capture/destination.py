"""Where approved learnings go: a staging folder or a server. One attempt at a time, and what came of it.

The token goes to the address in the settings and nowhere else: redirects are not followed, certificates are
checked, and no message holds it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, urlsplit

from orgmem.capture.faults import storable
from orgmem.errors import ConfigurationError
from orgmem.identity import Clock
from orgmem.settings import Settings
from orgmem.store.atomic import write_atomically
from orgmem.store.staging import Staging
from orgmem.text.redact import redact
from schemas.learning import Learning
from schemas.session_count import SessionCount

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 15.0
"""For each part of the answer; hooks don't wait for it, but what is captured meanwhile is looked at later."""
LONGEST_WAIT = 3600.0
"""Seconds that a server may ask to be left alone."""
_ARRIVED = frozenset({200, 201, 202, 204, 409})
_REFUSED = frozenset({400, 413, 415, 422})
_STUMBLED = 500
_ANSWER_BYTES = 4096
_REASON = 300
"""Characters of what the other end says that a reason keeps."""


class Arrived(NamedTuple):
    """The other end has it, from this attempt or an earlier one."""


class Refused(NamedTuple):
    """The other end will never take it."""

    reason: str


class Later(NamedTuple):
    """It may work later."""

    reason: str
    wait: float | None = None
    """Seconds that the other end asks for."""
    alone: bool = False
    """The trouble may be with this one alone: others are worth a try."""


Outcome = Arrived | Refused | Later


class Folder:
    """A staging folder; this home's own is made, another one must be there: a mount can be missing."""

    def __init__(self, settings: Settings, elsewhere: Path | None) -> None:
        self._staging = Staging(settings)
        self._elsewhere = elsewhere
        if elsewhere:
            self._staging.folder = elsewhere

    def send(self, learning: Learning) -> Outcome:
        """Stage a learning."""
        return self._write(learning)

    def send_count(self, count: SessionCount) -> Outcome:
        """Replace a session's figures in the folder `counts` beside the learnings."""
        return self._write(count)

    def _write(self, row: Learning | SessionCount) -> Outcome:
        folder = self._staging.folder
        try:
            if self._elsewhere and not self._elsewhere.is_dir():
                return Later(f"there is no staging folder {folder}")
            match row:
                case Learning():
                    self._staging.write(row)
                case SessionCount():
                    write_atomically(folder / "counts" / f"{row.id}.json", row.model_dump_json().encode())
        except OSError as error:
            return Later(f"{folder}: {error.strerror or type(error).__name__}")
        return Arrived()


class Server:
    """A server's REST interface."""

    def __init__(self, endpoint: str, token: str, client: "httpx.Client", clock: Clock) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._token = token
        self._client = client
        self._clock = clock

    def send(self, learning: Learning) -> Outcome:
        """Post a learning; its id is the idempotency key."""
        return self._post("learnings", learning.model_dump_json(), {"Idempotency-Key": learning.id})

    def send_count(self, count: SessionCount) -> Outcome:
        """Post a session's figures."""
        return self._post("session-counts", count.model_dump_json(), {})

    def _post(self, place: str, body: str, headers: dict[str, str]) -> Outcome:
        import httpx

        address = f"{self._endpoint}/api/v1/{place}"
        try:
            with self._client.stream("POST", address, content=body.encode(), headers=headers) as response:
                return self._outcome(response, _beginning(response))
        except httpx.HTTPError as error:
            return Later(self._clean(f"{shown(self._endpoint)}: {str(error) or type(error).__name__}"))

    def _outcome(self, response: "httpx.Response", said: str) -> Outcome:
        status = response.status_code
        if status in _ARRIVED and not _is_page(response):
            return Arrived()
        told = "" if _is_page(response) else said
        reason = self._clean(f"{shown(self._endpoint)} answers {status}{_advice(response)}: {told}".rstrip(": "))
        if status in _REFUSED:
            return Refused(reason)
        return Later(reason, self._asked_wait(response), alone=status == _STUMBLED)

    def _asked_wait(self, response: "httpx.Response") -> float | None:
        """Seconds of Retry-After, which are given as such or as a date."""
        asked = response.headers.get("Retry-After", "").strip()
        if asked.isascii() and asked.isdigit():
            return min(float(asked[:9]), LONGEST_WAIT)
        with suppress(ValueError, TypeError):  # no date, or one without a zone
            wait = (parsedate_to_datetime(asked) - self._clock()).total_seconds()
            return min(max(wait, 0.0), LONGEST_WAIT)
        return None

    def _clean(self, text: str) -> str:
        """One line without token and secrets: the other end may repeat what it was sent."""
        line = " ".join(text.split())
        line = line.replace(self._token, "[token]") if self._token else line
        return storable(redact(line).text[:_REASON])


Destination = Folder | Server


@contextmanager
def open_destination(settings: Settings, clock: Clock) -> Iterator[Destination]:
    """Where this home's approved learnings go.

    Raises:
        ConfigurationError: the endpoint is no folder and no address that a token may be sent to.
    """
    if not settings.endpoint:
        yield Folder(settings, None)
    elif not is_address(settings.endpoint):
        yield Folder(settings, _folder(settings.endpoint))
    else:
        with _client(_checked(settings.endpoint), settings.token.get_secret_value()) as client:
            yield Server(settings.endpoint, settings.token.get_secret_value(), client, clock)


def is_address(endpoint: str) -> bool:
    """Whether an endpoint is an address rather than a folder."""
    return "://" in endpoint


def shown(endpoint: str) -> str:
    """The endpoint without what could be a credential."""
    if not is_address(endpoint):
        return endpoint
    scheme, _, rest = endpoint.partition("://")
    host = rest.split("/")[0].split("?")[0].split("#")[0].rpartition("@")[2]
    path = rest.partition("/")[2].split("?")[0].split("#")[0]
    return f"{scheme}://{host}{'/' if path else ''}{path}"


def _folder(endpoint: str) -> Path:
    folder = Path(endpoint).expanduser()
    if not folder.is_absolute():
        raise ConfigurationError(
            f"endpoint {endpoint!r} is no absolute path and no address", "set ORGMEM_ENDPOINT to one of them"
        )
    return folder


def _checked(endpoint: str) -> SplitResult:
    try:
        parts = urlsplit(endpoint)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    hint = "set ORGMEM_ENDPOINT to the server's address: https://host"
    if not host or parts.scheme not in {"https", "http"} or not endpoint.isprintable() or " " in endpoint:
        raise ConfigurationError(f"endpoint {shown(endpoint)!r} is no address of a server", hint)
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigurationError(
            f"endpoint {shown(endpoint)!r} has more than scheme, host and path", "set ORGMEM_TOKEN for the token"
        )
    if parts.scheme == "http" and not _is_loopback(host):
        raise ConfigurationError(f"endpoint {shown(endpoint)!r} would send the token in the clear", hint)
    return parts


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _client(address: SplitResult, token: str) -> "httpx.Client":
    import httpx

    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise ConfigurationError("the token has characters that no header can hold", "set ORGMEM_TOKEN again")
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        return httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=address.scheme == "https",  # a proxy would see what goes to this machine in the clear
        )
    except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
        raise ConfigurationError(
            f"no connection to {address.hostname} can be made: {type(error).__name__}",
            "check HTTPS_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
        ) from None


def _advice(response: "httpx.Response") -> str:
    if response.status_code in {401, 403}:
        return "; set ORGMEM_TOKEN"
    if response.has_redirect_location:
        return f" to {shown(response.headers['Location'])}; set ORGMEM_ENDPOINT if that is right"
    return "; set ORGMEM_ENDPOINT" if response.status_code in {404, 405} or _is_page(response) else ""


def _is_page(response: "httpx.Response") -> bool:
    """Whether this is a web site: one may answer 200 to anything, and have kept nothing."""
    return bool(response.headers.get("Content-Type", "").lower().startswith("text/html"))


def _beginning(response: "httpx.Response") -> str:
    """What the answer says, cut; what is too slow is left out, since the status says enough."""
    import httpx

    until, said = time.monotonic() + ANSWER_SECONDS, b""
    with suppress(httpx.HTTPError):
        for part in response.iter_raw():
            said += part
            if len(said) >= _ANSWER_BYTES or time.monotonic() > until:
                break
    return said[:_ANSWER_BYTES].decode("utf-8", "replace")
