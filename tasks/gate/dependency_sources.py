"""The places that a text takes packages from: indices, registries, unchecked hosts, installers."""

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from tasks.gate.dependency_mention import Source, SourceKind
from tasks.gate.dependency_rules import rules

_URL = r"""["'=: \t]{1,4}(https?://[^\s"'`<>|;)\]]{1,300})"""
_ANY_CASE = re.IGNORECASE | re.MULTILINE
_HOST = r"([\w.:*-]{1,200})"
_PLACES: tuple[tuple[SourceKind, str, re.Pattern[str]], ...] = (
    ("extra-index", "extra", re.compile(rf"(?:--|\b|_)extra[-_]index[-_]url{_URL}", _ANY_CASE)),
    ("index", "index", re.compile(
        rf"(?<!extra[-_])(?<!extra)(?:\b|_)(?:index[-_]url|default-index){_URL}", _ANY_CASE
    )),
    ("index", " -i", re.compile(rf"\bpip[\d.]{{0,4}}[ \t][^\n`]{{1,200}}?[ \t]-i{_URL}")),
    ("index", "--", re.compile(rf"--(?:index|source){_URL}")),
    ("index", "registry", re.compile(rf"(?:--|npm_config_|config set |npm)registry(?:server)?{_URL}", _ANY_CASE)),
    ("index", "registry", re.compile(r"^registry[ ]?=[ ]?(https?://\S{1,300})", _ANY_CASE)),
    ("index", "source", re.compile(rf"^[ \t]{{0,9}}source{_URL}[\"'][ )]{{0,4}}(?:do)?\s{{0,9}}$", _ANY_CASE)),
    ("unchecked-host", "host", re.compile(rf"--(?:trusted-host|allow-insecure-host)[= \t]{{1,4}}{_HOST}")),
    ("unchecked-host", "host", re.compile(
        rf"^[ \t]{{0,9}}(?:export )?(?:PIP_TRUSTED_HOST|trusted-host)[ \t]{{0,9}}=[ \t]{{0,9}}{_HOST}", _ANY_CASE
    )),
)  # fmt: skip
"""What a place is, the lower-case word without which its pattern can't hit, and the pattern."""
_PIPED = re.compile(
    r"\|[ \t]{0,9}(?:sudo[ \t]{1,9}(?:-\w{1,4}[ \t]{1,9})?)?(?:(?:ba|z|da)?sh|iex|python3?|node)\b"
)
_SUBSTITUTED = re.compile(r"\b(?:ba|z)?sh[ \t]{1,9}(?:-c[ \t]{1,9}[\"']?\$\(|<\()[ \t]{0,9}(?:curl|wget)\b")
_FETCHERS = ("curl", "wget", "iwr", "irm", "Invoke-WebRequest")
_ADDRESS = re.compile(r"https?://[^\s\"'`|)]{1,200}")
_LINE = 300
_INSIDE = re.compile(r"(?:^[^.:]+|\.(?:local|internal|lan|corp|home|intranet|localdomain))$")


def of_places(text: str) -> Iterator[Source]:
    """The places in the text."""
    lowered = text.lower()
    for kind, word, pattern in _PLACES:
        if word in lowered:
            for found in pattern.finditer(text):
                yield Source(kind, found[1], found.start(1))
    if "http" in lowered:
        yield from _installers(text)


def is_known(place: str) -> bool:
    """Whether a URL's host is a registry, code host or installer that everybody uses."""
    labels = host_of(place).split(".")
    known = any(".".join(labels[at:]) in rules().hosts for at in range(len(labels)))
    return known and labels[0] not in ("test", "gist")


def is_this_machine(place: str) -> bool:
    """Whether a URL or host is of the loopback."""
    host = host_of(place)
    return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")


def is_inside(place: str) -> bool:
    """Whether a URL's host is of a private network by its name or address."""
    host = host_of(place)
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return bool(_INSIDE.search(host))


def host_of(place: str) -> str:
    """The host of a URL, or of a host with a port, in lower case; empty where there is none."""
    try:
        return (urlsplit(place if "://" in place else f"//{place}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _installers(text: str) -> Iterator[Source]:
    """The URLs of scripts that are fetched and run at once."""
    for pipe in _PIPED.finditer(text):
        start = max(text.rfind("\n", 0, pipe.start()) + 1, pipe.start() - _LINE)
        fetcher = max(text.rfind(name, start, pipe.start()) for name in _FETCHERS)
        if fetcher >= 0 and (address := _ADDRESS.search(text, fetcher, pipe.start())):
            yield Source("installer", address[0], address.start())
    for call in _SUBSTITUTED.finditer(text):
        if address := _ADDRESS.search(text, call.end(), call.end() + _LINE):
            yield Source("installer", address[0], address.start())
