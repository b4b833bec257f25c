"""Which headings stand above a line."""

from orgmem.text.headings import heading_path, headings


def path(text: str, line: str) -> tuple[str, ...]:
    lines = text.splitlines(keepends=True)
    return heading_path(lines, lines.index(line + "\n"))


def test_headings_nest_by_level() -> None:
    text = "# A\n## B\n### C\n## D ##\nhere\n# E\nthere\n"
    assert path(text, "here") == ("A", "D")
    assert path(text, "there") == ("E",)


def test_a_heading_stands_under_its_parents_only() -> None:
    assert path("# A\n## B\n## C\n", "## C") == ("A",)


def test_setext_headings_count() -> None:
    assert path("Title\n=====\n\nPart\n----\n\nhere\n", "here") == ("Title", "Part")


def test_rules_lists_and_tables_are_no_setext_headings() -> None:
    assert headings(["- item\n", "---\n", "\n", "---\n", "| a |\n", "---\n", "> quote\n", "---\n"]) == ()


def test_fenced_code_holds_no_headings() -> None:
    text = "# A\n```sh\n# comment\n~~~\n# still\n```\n- list\n  ~~~~\n  # more\n  ~~~\n# same\n  ~~~~\nhere\n"
    assert path(text, "here") == ("A",)


def test_inline_backticks_open_no_fence() -> None:
    assert path("```x``` is code\n# A\nhere\n", "here") == ("A",)


def test_front_matter_holds_no_headings() -> None:
    assert path("---\n# comment\nname: x\n---\n# A\nhere\n", "here") == ("A",)


def test_an_unclosed_front_matter_is_a_rule() -> None:
    assert path("---\n# A\nhere\n", "here") == ("A",)


def test_closing_hashes_are_no_part_of_the_title() -> None:
    titles = [heading.title for heading in headings(["# A ##  \n", "# C#\n", "## #\n", "#\n", "# x \t# y\n"])]
    assert titles == ["A", "C#", "", "", "x \t# y"]


def test_hashes_without_space_and_seven_hashes_are_text() -> None:
    assert headings(["#tag\n", "####### seven\n", "    # indented code\n"]) == ()
