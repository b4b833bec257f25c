"""`orgmem search` and `orgmem show` print memories, `orgmem mcp` serves them to an assistant."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from orgmem.cli.console import Json, away_from_here, emit_json, load_settings, printable, remark

if TYPE_CHECKING:
    from orgmem.serve.answer import MemoryView


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command("search")(search)
    app.command("show")(show)
    app.command("mcp")(mcp)


def search(  # noqa: PLR0913, PLR0917 - one parameter an option
    query: Annotated[str, typer.Argument(help="What you want to know.")],
    mode: Annotated[str, typer.Option(help="fast; normal and deep are not in this release.")] = "fast",
    project: Annotated[str | None, typer.Option(help="The project asking; its memories come first.")] = None,
    only_project: Annotated[bool, typer.Option("--only-project", help="Only that project's memories.")] = False,
    tag: Annotated[list[str] | None, typer.Option(help="Only memories with this tag; may be repeated.")] = None,
    limit: Annotated[int, typer.Option(help="Memories at most, 1 to 50.")] = 5,
    budget: Annotated[int | None, typer.Option(help="Tokens (word pieces) of text at most.")] = None,
    as_json: Json = False,
) -> None:
    """Find the memories that answer a question, best first."""
    settings = load_settings()
    from orgmem.serve.retrieve import Question, open_retriever

    asked = Question(query, mode, project, only_project, tuple(tag or ()), limit, budget)
    answer = open_retriever(settings).search(asked)
    if as_json:
        emit_json(answer.model_dump(mode="json"))
        return
    console = Console(highlight=False)
    for number, found in enumerate(answer.results, 1):
        console.print(_card(found, f"{number}. ", f"relevance {found.score:.2f}"))
    remark(f"nothing relevant; next: {answer.hint}" if answer.hint else f"{len(answer.results)} memories")


def show(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A memory's id, as search prints it.")],
    as_json: Json = False,
) -> None:
    """Show one memory with its trust, sources and links."""
    settings = load_settings()
    from orgmem.serve.retrieve import open_retriever

    memory = open_retriever(settings).show(id_)
    if as_json:
        emit_json(memory.model_dump(mode="json"))
        return
    console = Console(highlight=False)
    console.print(_card(memory, "", str(memory.state)))
    console.print(Padding(Group(*map(line, _details(memory))), (0, 0, 0, 3), expand=False))


def mcp() -> None:
    """Serve memories to a coding assistant over MCP.

    Over standard input and output.
    """
    settings = load_settings()
    with away_from_here():
        from orgmem.serve.mcp import build_server
        from orgmem.serve.retrieve import open_retriever

        build_server(open_retriever(settings)).run("stdio", show_banner=False)


def line(text: str, style: str = "") -> Text:
    """A stored text for a terminal: never markup, never a control sequence."""
    return Text(printable(text), style=style)


def _card(memory: "MemoryView", number: str, remark_: str) -> RenderableType:
    """A memory as text: question, answer, example, caveats, and a line about where it comes from."""
    body: list[Text] = [line(memory.answer)]
    if memory.example:
        body.append(line("\n".join(f"  {line}" for line in memory.example.splitlines()), style="cyan"))
    body += [line(f"! {caveat}", style="yellow") for caveat in memory.caveats]
    tags = ", ".join((*memory.tags.tools, *memory.tags.types))
    about = f"{memory.project} · trust {memory.trust.score:.1f} · {memory.standing} · {_age(memory.age_days)}"
    body += [line(f"{about} · {remark_}", style="dim"), line(f"{tags} · {memory.id}", style="dim")]
    question = line(f"{number}{memory.question}", style="bold")
    return Group(question, Padding(Group(*body), (0, 0, 1, 3), expand=False))


def _details(memory: "MemoryView") -> list[str]:
    trust = memory.trust
    parts = (
        f"example {trust.example:.1f}, caveats {trust.caveats:.1f}, recency {trust.recency:.1f}, "
        f"agents {trust.agent:.1f}, people {trust.human:.1f}"
    )
    lines = [f"trust      {trust.score:.1f} = {parts}"]
    lines += [f"source     {source.path} ({source.learning_id})" for source in memory.sources]
    lines += [f"link       {link.kind} {link.direction} {link.id} ({link.score:.2f})" for link in memory.links]
    if memory.superseded_by:
        lines.append(f"superseded by {memory.superseded_by}")
    return lines


def _age(days: int) -> str:
    return "today" if days == 0 else f"{days} days old" if days > 1 else "1 day old"
