"""The packages and places in install commands: in code, in code spans and in prose."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from tasks.gate.dependency_mention import Mention, Source, package
from tasks.gate.dependency_names import Ecosystem
from tasks.gate.dependency_rules import rules

_GAP = r"[ \t]{1,9}"
_OPTIONS = rf"(?:{_GAP}-[\w-]{{1,40}}(?:=[^\s`]{{1,200}})?){{0,4}}"  # before the verb: npm --silent install
_HEAD = re.compile(
    rf"""(?<![A-Za-z0-9_./@-])(?:
      (?P<pypi>pip[\d.]{{0,4}}{_OPTIONS}{_GAP}(?:install|download|wheel)
        |uv{_OPTIONS}{_GAP}(?:pip{_GAP}install|add|tool{_GAP}install)
        |pipx{_GAP}(?:install|inject)|(?:poetry|pdm|rye|hatch){_OPTIONS}{_GAP}add|pipenv{_GAP}install)
      |(?P<npm>(?:npm|pnpm|bun|yarn){_OPTIONS}{_GAP}(?:global{_GAP})?(?:install|add|i))
      |(?P<pypi_run>uvx|uv{_GAP}tool{_GAP}run|pipx{_GAP}run)
      |(?P<npm_run>npx|bunx|(?:pnpm|yarn){_GAP}dlx|npm{_GAP}exec|bun{_GAP}x|pnpx)
      |(?P<gem>gem{_GAP}install|bundle{_GAP}add)
      |(?P<cargo>cargo{_GAP}(?:add|install|binstall))
      |(?P<go>go{_GAP}(?:get|install))
      |(?P<composer>composer{_GAP}(?:global{_GAP})?require)
      |(?P<nuget>dotnet{_GAP}(?:add(?:{_GAP}(?!package)[^\s`]{{1,200}})?{_GAP}package|tool{_GAP}install)
        |nuget{_GAP}install|Install-Package)
    )(?=[ \t\\])""",
    re.VERBOSE,
)
_SERVER = re.compile(  # a client's configuration: "command": "npx", "args": ["-y", "name"]
    r"""["']?command["']?\s{0,9}[:=]\s{0,9}["'](npx|uvx|bunx)["']\s{0,9},?\s{0,99}"""
    r"""["']?args["']?\s{0,9}[:=]\s{0,9}\[([^\]]{0,500})\]"""
)
_TOKEN = re.compile(  # a word, quoted or not, up to text in Chinese, Japanese or Korean
    r"""(?:[ \t]|\\\r?\n)*("[^"\n`]{1,300}"|'[^'\n`]{1,300}'|[^\s`;|"'\\\u3000-\u9fff\uac00-\ud7af]{1,300})"""
)
_QUOTED = re.compile(r"""["']([^"'\n]{1,200})["']""")
_FILES = (".whl", ".tgz", ".tar.gz", ".zip", ".txt", ".toml")
_NAMING = frozenset({"--with", "--from", "--package", "-p"})
"""Options of a run command whose value is a package."""

_OF_PLACES = re.compile(r"-i$|-s$|-Source$|--[\w-]{0,30}(?:index|registry|source|proxy|feed)", re.IGNORECASE)
"""Options whose value is the address of an index: those are looked for in the whole text."""


@dataclass(frozen=True)
class _Token:
    text: str
    at: int


def of_commands(text: str) -> Iterator[Mention]:
    """The packages and URLs that commands of the text install."""
    at = 0
    while head := _HEAD.search(text, at):
        ecosystem, _, run = (head.lastgroup or "").partition("_")
        tokens, at = _arguments(text, head.end())
        yield from _installed(cast("Ecosystem", ecosystem), tokens, only_first=bool(run))
    for server in _SERVER.finditer(text):
        kind: Ecosystem = "pypi" if server[1] == "uvx" else "npm"
        arguments = [
            _Token(quoted[1], server.start(2) + quoted.start(1)) for quoted in _QUOTED.finditer(server[2])
        ]
        yield from _installed(kind, arguments, only_first=True)


def _arguments(text: str, at: int) -> tuple[list[_Token], int]:
    """The words of a command up to its end, and where that is."""
    tokens: list[_Token] = []
    while found := _TOKEN.match(text, at):
        word = found[1].strip("\"'")
        bare = word.rstrip(".,:)!?*_>")
        only = not tokens and text[found.end() : found.end() + 1] == "`"  # `npm install run` installs run
        if not bare or (bare.lower() in rules().ends_of_phrase and not only) or word[0] in "&#<>([{":
            break
        tokens.append(_Token(bare, found.start(1) + (found[1][0] in "\"'")))
        at = found.end()
        if bare != word:
            break
    return tokens, at


def _installed(ecosystem: Ecosystem, tokens: list[_Token], *, only_first: bool) -> Iterator[Mention]:
    valued = rules().options.get(ecosystem, frozenset())
    before = ""
    for token in tokens:
        option, before = before, token.text if token.text.startswith("-") else ""
        if before:
            continue
        names_package = only_first and option in _NAMING
        if "://" in token.text:
            if not _OF_PLACES.match(option):
                yield Source("package", token.text, token.at)
        elif (names_package or option not in valued) and (found := _named(ecosystem, token)) is not None:
            yield found
        if only_first and not names_package and option not in valued:
            return


def _named(ecosystem: Ecosystem, token: _Token) -> Mention | None:
    """The package of an argument; None for a path, a variable or a placeholder."""
    text = token.text
    if ecosystem == "npm":
        text = text.removeprefix("npm:")
        alias = text.partition("@npm:")
        text = alias[2] or text
    if text[:1] in "./~$%<{[*\\" or "${" in text or text.endswith(_FILES):
        return None
    return package(ecosystem, text, token.at)
