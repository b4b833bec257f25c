"""Dependency: packages and places that a text tells its reader to install from.

Near a popular name is a caveat: a company's own package may be one letter away. A name made to be misread, a
release known to be malicious and an install over plain http are unsafe. A name that is merely unknown is no risk,
and no finding means "not detected", never "verified".
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files

from orgmem.text.views import View, views
from schemas.verdict import Status
from tasks.gate.dependency_commands import of_commands
from tasks.gate.dependency_manifests import of_manifests
from tasks.gate.dependency_mention import Mention, Package, Source
from tasks.gate.dependency_names import canonical, is_popular, passes_for
from tasks.gate.dependency_sources import is_inside, is_known, is_this_machine, of_places
from tasks.gate.hit import Hit

_CAVEAT = Status.SAFE_WITH_CAVEATS
_PLAIN_HTTP = re.compile(r"(?:git\+)?(?:http|git|ftp)://", re.IGNORECASE)
_SECURE = re.compile(r"(?:git\+)?https://", re.IGNORECASE)
_WARNED_BEFORE = re.compile(
    r"(?:\b(?:never|do not|must not|should not|cannot|avoid|stop)|n't|n\u2019t)\s+(?:ever\s+)?"
    r"(?:run|use|using|install|installing|add|adding|pin|pinning|upgrade|depend|type|typing|take|trust)\b[^.\n]{0,80}$",
    re.IGNORECASE,
)
_KNOWN_BAD = re.compile(
    r"\b(?:compromised|malicious|malware|backdoor\w*|typo-?squat\w*|hijacked|infected|yanked|supply[- ]chain)\b",
    re.IGNORECASE,
)
_AROUND = 160

_FROM: dict[str, tuple[str, str]] = {
    "package": (
        "install-from-url",
        "It installs from a URL; name the package of a registry, or pin what is fetched.",
    ),
    "index": ("unknown-index", "It installs from an index that is not a public registry; check whose it is."),
    "extra-index": (
        "extra-index",
        "With an extra index, whoever takes a name on one of them can replace a package; use one index.",
    ),
    "installer": (
        "piped-installer",
        "It runs a script from the network unread; name a package, or read the script.",
    ),
}
_UNCHECKED = Hit(
    "unchecked-host",
    "It does not check the certificate of the host that it installs from; trust the certificate.",
    status=_CAVEAT,
)
_IMITATED = Hit("confusable-name", "A package's name imitates {} with look-alike characters; write the real one.")
_OVER_HTTP = Hit("install-over-http", "It installs over an unencrypted connection; use https.")


def find_dependency(text: str) -> tuple[Hit, ...] | None:
    """The rules that hit, each once, the gravest hit first found; None where the text names no dependency.

    The joined view is left out: it glues names of neighbouring lines.
    """
    hits: dict[str, Hit] = {}
    named = False
    for view in views(text):
        if view.name == "joined":
            continue
        for mention in _mentions(view.text):
            named = True
            hit = _judged(mention, view, text)
            known = hits.get(hit.rule) if hit else None
            if hit and (known is None or (known.status, hit.status) == (_CAVEAT, Status.UNSAFE)):
                hits[hit.rule] = hit
    return tuple(hits.values()) if named else None


def _mentions(text: str) -> Iterator[Mention]:
    """What the text says about dependencies."""
    yield from of_commands(text)
    yield from of_manifests(text)
    yield from of_places(text)


def _judged(mention: Mention, view: View, original: str) -> Hit | None:
    """What the mention is, if anything; a warning against it is a caveat."""
    if isinstance(mention, Source):
        found = _of_source(mention)
    elif _is_imitated(mention, view, original):
        found = replace(_IMITATED, hint=_IMITATED.hint.format(mention.name))
    else:
        found = _of_package(mention)
    if found is None:
        return None
    warned = found.status is Status.UNSAFE and _is_warning(view.text, mention.at)
    return replace(found, view=view.name, status=_CAVEAT if warned else found.status)


def _is_imitated(package: Package, view: View, original: str) -> bool:
    """Whether letters of another script, or between hidden characters, make up a popular name."""
    if view.name != "normalised" or not is_popular(package.ecosystem, package.name):
        return False
    start, end = view.original_span(package.at, package.at + len(package.name))
    return not original[start:end].isascii()


def _of_package(package: Package) -> Hit | None:
    name = canonical(package.ecosystem, package.name)
    releases = _compromised().get((package.ecosystem, name), {})
    if advisory := releases.get("*"):
        return Hit("malicious-package", f"The package is known to be malicious ({advisory}); remove it.")
    if advisory := releases.get((package.version or "").removeprefix("v")):
        return Hit("compromised-release", f"The release is known to be malicious ({advisory}); name another one.")
    match passes_for(package.ecosystem, package.name):
        case None:
            return None
        case ("confusable", meant):
            return replace(_IMITATED, hint=_IMITATED.hint.format(meant))
        case ("standard", _):
            hint = "A package has the name of a module that comes with Python; leave it out, or check what it is."
            return Hit("standard-library-name", hint, status=_CAVEAT)
        case ("near", meant):
            hint = f"A package's name is close to {meant}, which is popular; check which one is meant."
            return Hit("near-popular-name", hint, status=_CAVEAT)


def _of_source(source: Source) -> Hit | None:
    if is_this_machine(source.place):
        return None
    if source.kind == "unchecked-host":
        return _UNCHECKED
    if _PLAIN_HTTP.match(source.place):
        return replace(_OVER_HTTP, status=_CAVEAT) if is_inside(source.place) else _OVER_HTTP
    if not _SECURE.match(source.place) or is_known(source.place):
        return None
    rule, hint = _FROM[source.kind]
    return Hit(rule, hint, status=_CAVEAT)


def _is_warning(text: str, at: int) -> bool:
    """Whether the sentence tells not to install what stands there, or that it is known to be bad."""
    start = max(text.rfind("\n", 0, at) + 1, at - _AROUND)
    end = text.find("\n", at, at + _AROUND)
    line = text[start : end if end >= 0 else at + _AROUND]
    return bool(_WARNED_BEFORE.search(text[start:at]) or _KNOWN_BAD.search(line))


@cache
def _compromised() -> dict[tuple[str, str], dict[str, str]]:
    """Ecosystem and canonical name -> version -> advisory."""
    lines = files("tasks.gate").joinpath("data", "compromised.txt").read_text("ascii").splitlines()
    table: dict[tuple[str, str], dict[str, str]] = {}
    for line in lines:
        if not line.startswith("#"):
            ecosystem, name, versions, advisory = line.split()
            table.setdefault((ecosystem, name), {}).update(dict.fromkeys(versions.split(","), advisory))
    return table
