"""The code in a text: fenced blocks, and runs of unfenced lines that are plainly code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPENING = re.compile(
    r"^(?P<quote>[ \t>]{0,40})(?:[-*+]|\d{1,3}[.)])?[ \t]{0,20}(?P<fence>`{3,20}|~{3,20})[ \t]{0,8}"
    r"\{?\.?(?P<language>[\w+#.-]{0,30})[^`]{0,300}$"
)
_NAMES = {
    "python": "py py2 py3 python2 python3 python pycon ipython ipython3 jupyter py-console python-repl starlark",
    "shell": "bash sh shell zsh ksh fish console terminal shell-session shellsession bash-session",
    "javascript": "js javascript jsx mjs cjs node ts typescript tsx mts cts vue svelte",
    "sql": "sql mysql postgresql postgres psql plpgsql tsql sqlite plsql",
    "yaml": "yaml yml compose helm",
    "dockerfile": "dockerfile docker containerfile",
    "c": "c h cpp c++ cc cxx hpp objc objective-c arduino",
    "java": "java kotlin kt scala groovy gradle",
    "csharp": "cs csharp c# dotnet vb",
    "php": "php",
    "go": "go golang",
    "ruby": "rb ruby erb rails",
    "rust": "rust rs",
    "powershell": "powershell ps1 pwsh ps",
    "html": "html htm xml jinja jinja2 django svg",
    "markdown": "markdown md mdx mdc",
    "data": "json json5 jsonc toml ini csv css scss less graphql mermaid log output tree",
}
_LANGUAGES = {alias: language for language, aliases in _NAMES.items() for alias in aliases.split()}
_CODE_LINE = re.compile(
    r"^[ \t]*(?:"
    r"(?:>>> ?|\.\.\. |In \[\d{1,4}\]: )"
    r"|(?:from [\w.]{1,99} import |import [\w.]{1,99}(?: as \w{1,99})?[ \t]*(?:$|[;#,]))"
    r"|(?:(?:async )?def \w{1,99} ?\(|class \w[^.]{0,80}:$)"
    r"|@\w[\w.]{0,80}(?:\(|$)"
    r"|(?:if|elif|for|while|with|try|except|else|finally)\b[^.!?]{0,200}:[ \t]*$"
    r"|(?:return|raise|yield|assert|del|print|exec|await|const|let|var|function|export|public|private|static)\b"
    r".{0,200}[\w)\]}'\";:{]$"
    r"|[\w.\[\]'\"$]{1,80}(?:: ?[\w\[\], .|]{1,60})? ?[-+*/|&%]?= ?\S"
    r"|[$\w.]{1,120}\([^\n]{0,400}\)?[ \t]*[;,{(]?$"
    r"|(?:FROM|RUN|CMD|ENTRYPOINT|COPY|ADD|ENV|WORKDIR|EXPOSE|USER) \S"
    r"|(?:#include|#!/|<\?php|\$ )"
    r"|[\w-]{1,60}:(?: \S{1,200})?$"
    r")"
    r"|[;{}][ \t]*$"
)
_INSIDE = re.compile(r"^[ \t]{2,}\S|^[ \t]*[)\]}]|^[ \t]*(?:#|//)|^[ \t]*$")
_CLEARLY_PYTHON = re.compile(
    r"^[ \t]*(?:from [\w.]{1,99} import \S|import [\w.]{1,99}(?: as \w{1,99})?[ \t]*(?:$|[,#])"
    r"|(?:async )?def \w{1,99} ?\([^\n]{0,300}:|class \w{1,99}(?:\([^\n()]{0,200}\))?:|>>> |In \[\d{1,4}\]: "
    r"|(?:if|elif|for|while|with|except)\b[^{\n]{1,200}:[ \t]*$|try:|print\()",
    re.MULTILINE,
)
_NOT_PYTHON = re.compile(
    r"[;{][ \t]*$|^[ \t]*(?:(?:const|let|var|function|package|func|public|fn|use)\b|<\?php|\$)", re.MULTILINE
)
_MARKDOWN_DEPTH = 2


@dataclass(frozen=True)
class Block:
    """A piece of code and its language; empty where neither fence nor form says which."""

    language: str
    text: str


def blocks(text: str, depth: int = 0) -> Iterator[Block]:
    """The code of a Markdown text in order."""
    for language, piece in _pieces(text):
        if language is None or language == "markdown":
            if language and depth < _MARKDOWN_DEPTH:
                yield from blocks(piece, depth + 1)
            else:
                yield from (_recognised(run) for run in _runs(piece))
        elif known := _LANGUAGES.get(language):
            yield Block(known, piece)
        else:
            yield _recognised(piece)


def _recognised(code: str) -> Block:
    return Block("python" if looks_like_python(code) else "", code)


def looks_like_python(code: str) -> bool:
    """Whether the code has Python's marks and not another language's."""
    return bool(_CLEARLY_PYTHON.search(code)) and not _NOT_PYTHON.search(code)


def _pieces(text: str) -> Iterator[tuple[str | None, str]]:
    """Fenced pieces under their fence's first word, the text between them under None."""
    lines: list[str] = []
    opening: re.Match[str] | None = None
    for line in text.splitlines():
        if opening is None:
            if opening := _OPENING.match(line):
                yield None, "\n".join(lines)
                lines = []
            else:
                lines.append(line)
        elif _closes(line, opening["fence"]):
            yield opening["language"].lower(), "\n".join(lines)
            opening, lines = None, []
        else:
            quoted = ">" in opening["quote"]
            lines.append(re.sub(r"^[ \t]{0,9}>[ \t]?", "", line) if quoted else line)
    yield (None if opening is None else opening["language"].lower()), "\n".join(lines)


def _closes(line: str, fence: str) -> bool:
    bare = line.strip(" \t>")
    return len(bare) >= len(fence) and bare == fence[0] * len(bare)


def _runs(text: str) -> Iterator[str]:
    """Runs of unfenced lines that are code: from a line of code on, with what stands inside it."""
    run: list[str] = []
    for line in text.split("\n"):
        if _CODE_LINE.search(line[:1000]) or (run and _INSIDE.match(line)):
            run.append(line)
        elif run:
            yield "\n".join(run)
            run = []
    if run:
        yield "\n".join(run)
