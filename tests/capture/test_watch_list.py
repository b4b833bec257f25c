"""docs/watch-list.md says what the default watch list is."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from orgmem.capture.watch_list import AUTO_MEMORY, PERSONAL, PERSONAL_IN_PROJECT, PROJECT, PRUNED, Surface


def cells(*texts: str) -> str:
    return f"| {' | '.join(texts)} |"


def code(texts: Iterable[str]) -> str:
    return " ".join(f"`{text}`" for text in texts)


def surfaces(rows: tuple[Surface, ...]) -> Iterator[str]:
    yield from ("| assistant | files |", "|---|---|")
    for assistant in dict.fromkeys(row.assistant for row in rows):
        yield cells(assistant, code(row.pattern for row in rows if row.assistant == assistant))


def tables() -> Iterator[str]:
    """The document's tables, as the code has them."""
    yield from surfaces(PROJECT)
    yield from surfaces(PERSONAL_IN_PROJECT)
    yield from ("| assistant | folder | files | another folder by |", "|---|---|---|---|")
    for place in PERSONAL:
        yield cells(
            place.assistant, f"`{place.folder}`", code(place.patterns), code(filter(None, [place.variable]))
        )


def test_the_document_is_the_list(checkout: Path) -> None:
    document = (checkout / "docs" / "watch-list.md").read_text(encoding="utf-8")
    rows = [line for line in document.split("\n") if line.startswith("|")]
    assert rows == list(tables()), "\n".join(["docs/watch-list.md should have:", *tables()])
    assert code(sorted(PRUNED)) in document.replace("\n", " ")
    assert {f"`{name}`" for name in AUTO_MEMORY} <= set(document.split())


def test_every_pattern_stands_once() -> None:
    patterns = [surface.pattern for surface in (*PROJECT, *PERSONAL_IN_PROJECT)]
    assert len(set(patterns)) == len(patterns)
    assert set(AUTO_MEMORY) <= set(patterns)
