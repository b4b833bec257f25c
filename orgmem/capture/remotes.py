"""What names a repository: the address of its remote, brought to one form."""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from orgmem.capture import git

PREFERRED = ("origin", "upstream")
"""Remotes that name the project, before all others."""
CASELESS = frozenset(("github.com", "gitlab.com", "bitbucket.org", "dev.azure.com"))
"""Hosts for which paths that differ in case are one repository."""
SAME_HOSTS = {
    "www.github.com": "github.com",
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
"""Hosts that serve the repositories of another."""
LONGEST = 400
"""Characters of a name; what is longer names nothing."""

_URL = re.compile(r"(?:(?:git|ssh|https?)\+)?(?:git|ssh|https?)://", re.IGNORECASE)
# One letter is a drive, and a scheme before the colon is a URL with a slash too few.
_SCP = re.compile(r"(?!(?:https?|ssh|file):)(?:[^/@:]*@)?(\[[^\]/]+\]|[^/:@]{2,}):(?!:)(.+)", re.DOTALL)
_PATH = re.compile(r"file://[^/]*(?=/)|(?=[/.~])|(?!.*:)", re.DOTALL | re.IGNORECASE)
_ENTRY = re.compile(r"(remote|url)\.(.*)\.(?:url|insteadof)", re.DOTALL)
_SECTION = re.compile(r'\s*\[\s*(?i:remote)\s+"([^"]+)"\s*\]')
_VALUE = re.compile(r'\s*(?i:url)\s*=\s*(?:"([^"]*)"|([^"\s#;]+))')


class Entry(NamedTuple):
    """A line of git's configuration: the address of a remote, or a short form of addresses."""

    kind: str
    """remote or url."""
    name: str
    value: str


def address_of(common: str) -> str | None:
    """The address that names the repository of a git common directory; None if it has no remote.

    It is that of `origin`, else `upstream`, else the first by name. An address with a full host name is taken as
    it stands in the repository's configuration: mirrors that `insteadOf` puts before it are no other project, and
    no process has to be started. For others git is asked, which knows short forms and included files.
    """
    written = _preferred(_read_config(common))
    if written and "." in (name_of(written) or "").partition("/")[0]:
        return written
    told = git.run(common, "config", "-z", "--get-regexp", r"^(remote|url)\..*\.(url|insteadof)$")
    if told is None:
        return written
    entries = _parsed(told)
    address = _preferred(entries)
    return _expanded(address, entries) if address else None


def name_of(address: str) -> str | None:
    """A remote's address as `host/owner/name`; None for a path on this machine and for what can't be read.

    Scheme, user, password, port, query, and `.git` and slashes at the end are dropped; the host is in lower case.
    """
    host, path = "", ""
    if _URL.match(address):
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        host, path = parts.hostname or "", unquote(parts.path)
    elif scp := "://" not in address and _SCP.fullmatch(address):
        host, path = scp[1].strip("[]").lower(), scp[2]
    host = SAME_HOSTS.get(host.rstrip("."), host.rstrip("."))
    segments = [each for each in path.split("/") if each]
    if host == "dev.azure.com":  # https has .../_git/name, ssh has v3/...
        segments = [each for each in segments if each not in ("_git", "v3")]
    joined = unicodedata.normalize("NFC", "/".join(segments).removesuffix(".git").rstrip("/"))
    name = f"{host}/{joined.lower() if host in CASELESS else joined}"
    return name if host and joined and name.isprintable() and len(name) <= LONGEST else None


def path_of(address: str, beside: str) -> str | None:
    """The real path that an address names on this machine, taken from the folder `beside`; None for others."""
    start = _PATH.match(address)
    if start is None or "\0" in address:
        return None
    try:
        return os.path.realpath(Path(beside, Path(address[start.end() :]).expanduser()))
    except RuntimeError:  # ~name of a user whom this machine doesn't know
        return None


def _preferred(entries: Iterable[Entry]) -> str | None:
    """The first address of the remote that names the project."""
    first: dict[str, str] = {}
    for each in entries:
        if each.kind == "remote" and each.value:
            first.setdefault(each.name, each.value)
    names = (*(name for name in PREFERRED if name in first), *sorted(first))
    return first[names[0]] if names else None


def _expanded(address: str, entries: Iterable[Entry]) -> str:
    """The address after git's `url.<base>.insteadOf`: the longest beginning that one names is replaced."""
    short = max(
        (each for each in entries if each.kind == "url" and address.startswith(each.value)),
        key=lambda each: len(each.value),
        default=None,
    )
    return address if short is None else short.name + address.removeprefix(short.value)


def _parsed(told: bytes) -> list[Entry]:
    lines = (line.partition("\n") for line in os.fsdecode(told).split("\0") if line)
    found = ((_ENTRY.fullmatch(key), value) for key, _, value in lines)
    return [Entry(entry[1], entry[2], value) for entry, value in found if entry]


def _read_config(common: str) -> Iterator[Entry]:
    """Remotes as the repository's own configuration has them, written the way git writes."""
    remote = ""
    for line in (git.text_of(Path(common, "config")) or "").split("\n"):
        if line.lstrip().startswith("["):
            section = _SECTION.match(line)
            remote = section[1] if section else ""
        elif remote and (value := _VALUE.match(line)):
            yield Entry("remote", remote, value[1] or value[2])
