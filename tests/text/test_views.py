"""The readings of a text and their way back to the original."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.text.views import hidden_characters, views


def reading(text: str, wanted: str) -> str | None:
    return next((view.text for view in views(text) if view.name == wanted), None)


def test_plain_prose_has_one_view() -> None:
    assert [view.name for view in views("Run make test before you push.\nAlways.")] == ["plain"]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("pass\u200bword", "password"),
        ("\uff49\uff47\uff4e\uff4f\uff52\uff45 all", "ignore all"),
        ("\u0456gn\u043ere", "ignore"),
        ("to\u00adken", "token"),
        ("a\u202eb", "ab"),
        ("x" + "".join(chr(0xE0000 + ord(char)) for char in "hidden"), "x"),
        ("NUL\0in it", "NULin it"),
        ("sk\u2010live\u2013key", "sk-live-key"),
        ("7\ufe0f8\u200d9", "789"),
        ("\u2460\ufe0f2", "12"),
        ("\u05d0 ab\u200fcd", "\u05d0 abcd"),
    ],
)
def test_normalised_text_is_what_an_eye_sees(text: str, seen: str) -> None:
    assert reading(text, "normalised") == seen


@pytest.mark.parametrize(
    "text",
    ["\U0001f469\u200d\U0001f4bb codes", "\u2764\ufe0f",
     "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
     "\u2122\ufe0f", "1\ufe0f\u20e3",
     "\ufeffa byte order mark first", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u05d0\u200f!"],
)  # fmt: skip
def test_emoji_flags_and_joining_scripts_hide_nothing(text: str) -> None:
    assert hidden_characters(text) == ()


def test_wrapped_and_concatenated_tokens_are_joined() -> None:
    assert reading("ghp_abc1\n  23def", "joined") == "ghp_abc123def"
    assert reading("'ghp_abc' + \"123\"", "joined") == "'ghp_abc123\""
    assert reading("the end of\na sentence", "joined") is None


def test_encoded_runs_are_read_two_layers_deep() -> None:
    once = base64.b64encode(b"a hidden order to read").decode()
    twice = base64.b64encode(once.encode()).decode()
    for run in (
        once,
        twice,
        b"a hidden order to read".hex(),
        "".join(f"%{byte:02x}" for byte in b"a hidden order to read"),
    ):
        assert any("a hidden order to read" in view.text for view in views(f"see {run} there"))


@pytest.mark.parametrize(
    "run",
    [
        "".join(chr(0xE0000 + ord(char)) for char in "a hidden order"),
        "".join(chr(0xFE00 + byte if byte < 16 else 0xE0100 + byte - 16) for byte in b"a hidden order"),
        b"a hidden order".hex(" "),
        b"a hidden order".hex(":").upper(),
        "".join(f"\\x{byte:02x}" for byte in b"a hidden order"),
        "".join(f"\\u{byte:04x}" for byte in b"a hidden order"),
        "".join(f"&#{byte};" for byte in b"a hidden order"),
        "".join(f"&#x{byte:x};" for byte in b"a hidden order"),
        base64.b64encode("\uff41 hidden order".encode()).decode(),
    ],
)
def test_other_encodings_are_read_too(run: str) -> None:
    text = f"see {run} there"
    view = next(view for view in views(text) if "a hidden order" in view.text)
    start = view.text.index("a hidden order")
    begin, end = view.original_span(start, start + len("a hidden order"))
    assert (view.name, text[begin:end]) == ("decoded", run)


def test_text_that_a_control_turns_round_is_read_as_it_is_shown() -> None:
    assert [view.text for view in views("say \u202eterces\u202c!") if view.name == "normalised"][
        -1
    ] == "say secret!"


def test_a_long_token_is_read_apart_from_what_touches_it() -> None:
    assert reading("**a1b2c3d4e5f6a7b8c9d0e1**", "normalised") == "**a1b2c3d4e5f6a7b8c9d0e1 *"


@given(
    st.text(alphabet=st.sampled_from("a1\u2460\ufe0f\u200d\u200b\u2122\u202e\u202c\u05d0\u200f") | st.characters())
)
def test_what_an_eye_sees_looks_the_same_again(text: str) -> None:
    seen = reading(text, "normalised")
    seen = text if seen is None else seen
    assert hidden_characters(seen.lstrip("\ufeff")) == ()


def test_hashes_and_identifiers_are_not_taken_for_encoded_text() -> None:
    text = "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 changed getUserNameFromSessionStorage"
    assert [view.name for view in views(text)] == ["plain"]


@given(st.text(alphabet=st.sampled_from("ab1_ \n'\"+%\u200b\uff41\u043e\\=") | st.characters(), max_size=80))
def test_every_span_of_every_view_maps_into_the_original(text: str) -> None:
    for view in views(text):
        for at in range(len(view.text)):
            start, end = view.original_span(at, at + 1)
            assert 0 <= start < end <= len(text)
        if view.text:
            assert view.original_span(0, len(view.text))[1] <= len(text)


@given(st.text(alphabet="abcdefgh0123", min_size=30, max_size=40), st.integers(1, 20))
def test_a_percent_encoded_run_maps_back_to_all_of_it(secret: str, at: int) -> None:
    encoded = secret[:at] + "".join(f"%{ord(char):02X}" for char in secret[at : at + 5]) + secret[at + 5 :]
    text = f"before {encoded} after"
    decoded = next(view for view in views(text) if secret in view.text)
    start = decoded.text.index(secret)
    begin, end = decoded.original_span(start, start + len(secret))
    assert text[begin:end] == encoded
    assert quote(secret) == secret


@pytest.mark.parametrize(
    "filler",
    [
        "a" * 1_000_000,
        "%41" * 300_000,
        "\\x41" * 200_000,
        "'a' + " * 100_000,
        "'a', " * 100_000,
        "&#65;" * 200_000,
        "\u202ea" * 50_000,
        ("A" * 40 + "\n") * 20_000,
        "41 " * 100_000,
        "\U000e0041" * 100_000,
        "a1" * 10 + "," * 100_000,
    ],
)
def test_a_megabyte_on_one_line_is_read_before_the_timeout(filler: str) -> None:
    assert views(filler)[0].text == filler  # a quadratic pattern would take hours
