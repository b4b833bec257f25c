"""Every figure has a definition that people can read."""

import re
from pathlib import Path

import pytest

from schemas.snapshot import TABLES, VIEWS, Snapshot, columns
from schemas.tally import LearningCounts, MemoryCounts, StageCount

FIGURES = {name for model in (Snapshot, LearningCounts, MemoryCounts, StageCount) for name in columns(model)} | {
    *TABLES,
    *VIEWS,
}


@pytest.mark.parametrize("figure", sorted(FIGURES))
def test_the_metrics_page_defines(figure: str, checkout: Path) -> None:
    page = (checkout / "docs" / "metrics.md").read_text(encoding="utf-8")
    defined = re.compile(rf"^(\||\d\.|\*\*).*`{figure}`", re.MULTILINE)
    assert defined.search(page), f"docs/metrics.md has no definition of {figure}"


def test_the_metrics_page_marks_what_is_unknown(checkout: Path) -> None:
    page = (checkout / "docs" / "metrics.md").read_text(encoding="utf-8")
    views = (checkout / "orgmem" / "store" / "warehouse.sql").read_text(encoding="utf-8")
    marked = re.findall(r"^\| `(\w+)` .*\*\*unknown\*\*", page, re.MULTILINE)
    (listed,) = re.findall(r"THEN \[(.*)\] ELSE", views)
    assert marked == re.findall(r"\w+", listed)
