"""Words for search, facts for grounding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.text.terms import FactKind, facts, kind_of, ungrounded, words


def test_identifiers_are_kept_whole_and_split() -> None:
    assert words("Use getUserName") == ("use", "getusername", "get", "user", "name")
    assert words("snake_case") == ("snake_case", "snake", "case")
    assert words("src/app/main.py") == ("src/app/main.py", "src", "app", "main", "py")


def test_flags_and_odd_names_are_words() -> None:
    assert words("--no-cache C++ C#") == ("no-cache", "no", "cache", "c++", "c#")


def test_chinese_is_read_in_pairs() -> None:
    assert words("\u4f7f\u7528\u7f13\u5b58 uv") == ("\u4f7f\u7528", "\u7528\u7f13", "\u7f13\u5b58", "uv")


@pytest.mark.parametrize(
    ("fact", "kind"),
    [
        ("https://docs.astral.sh/uv", FactKind.URL),
        ("--frozen", FactKind.FLAG),
        ("-x", FactKind.FLAG),
        ("src/app/main.py", FactKind.PATH),
        ("~/.ssh/config", FactKind.PATH),
        ("pyproject.toml", FactKind.PATH),
        (".agents/skills", FactKind.PATH),
        ("docs.example.org/guide", FactKind.PATH),
        ("3.0.0-beta.1", FactKind.NUMBER),
        ("20%+", FactKind.NUMBER),
        ("-bl:build.binlog", FactKind.FLAG),
        (".env", FactKind.PATH),
        ("3.11", FactKind.NUMBER),
        ("5432", FactKind.NUMBER),
        ("30s", FactKind.NUMBER),
        ("get_user", FactKind.IDENTIFIER),
        ("getUser", FactKind.IDENTIFIER),
        ("os.environ", FactKind.IDENTIFIER),
        ("API_TOKEN", FactKind.IDENTIFIER),
        ("@scope/package", FactKind.IDENTIFIER),
    ],
)
def test_facts_are_told_by_their_shape(fact: str, kind: FactKind) -> None:
    assert kind_of(fact) is kind
    assert fact in facts(f"Mind ({fact}), always.")


def test_plain_words_are_facts_in_code_only() -> None:
    assert facts("Run make before you push.") == frozenset()
    assert facts("Run `make lint` now.") == {"make", "lint"}
    assert facts("```sh\nmake lint\n```") == {"make", "lint"} | (facts("```sh\n```"))


def test_all_words_of_code_but_its_comments_are_facts() -> None:
    assert facts("make lint  # and wait", code=True) == {"make", "lint"}


def test_list_numbers_and_masks_are_no_facts() -> None:
    assert facts("1. First\n2. Then [masked:github-pat]") == frozenset()


SOURCE = (
    "## Build\n\n```bash\nuv run pytest -x tests/api/test_users.py --maxfail=3\n```\n"
    "Set DATABASE_URL to port 5432."
)


@pytest.mark.parametrize(
    "text",
    ["Run `uv run pytest -x` on `tests/api/test_users.py`.", "`test_users.py` needs `DATABASE_URL`.",
     "`Pytest` and 5432.", "Use --maxfail=3", "No facts at all."],
)  # fmt: skip
def test_what_the_source_has_is_grounded(text: str) -> None:
    assert ungrounded(text, SOURCE) == ()


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Use `npm test`.", ("npm",)),
        ("Pass --verbose.", ("--verbose",)),
        ("Port 543.", ("543",)),
        ("Port 54321.", ("54321",)),
        ("Edit tests/api/test_orders.py.", ("tests/api/test_orders.py",)),
        ("Set DATABASE.", ()),
        ("Set DATABASE_URI.", ("DATABASE_URI",)),
        ("See https://example.org/x.", ("https://example.org/x",)),
        ("Flag -X.", ("-X",)),
        ("Flag -maxfail.", ("-maxfail",)),
    ],
)
def test_what_the_source_lacks_is_named(text: str, missing: tuple[str, ...]) -> None:
    assert ungrounded(text, SOURCE) == missing


@pytest.mark.parametrize(
    ("number", "there"),
    [("3.1.4", True), ("3.1", False), ("1.4", False), ("2.0", True), ("2,000", True), ("000", False)],
)
def test_a_piece_of_a_number_is_another_number(number: str, there: bool) -> None:
    assert (ungrounded(f"Use {number}", "Pin 3.1.4 and v2.0, or 2,000.") == ()) is there


@given(st.text(max_size=300))
def test_a_text_is_grounded_in_itself(text: str) -> None:
    assert ungrounded(text, text) == ()
    assert words(text) == words(text)
