"""Masking leaves no secret and is idempotent."""

from hypothesis import given
from hypothesis import strategies as st

from orgmem.text.redact import Redacted, redact
from orgmem.text.secrets import find_secrets

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PIECES = (
    TOKEN, TOKEN[:15], TOKEN[15:], "password = ", "hunter2Hunter!9", "\n", " ", "\u200b", '"', '" + "',
    "[masked:github-pat]", "[masked:", "]", "token: ",
    "a9f3k2l5m8q1w4e7r6t0", "postgres://u:", "@db.internal", "\u5bc6", "\r\n", "\0",
    "-----BEGIN PRIVATE KEY-----", "Z2hwX2ExQjJjM0Q0ZTVGNmc3SDhpOUowazFMMm0zTjRvNVA2cTdSOA==",
)  # fmt: skip


def test_a_secret_is_replaced_by_the_name_of_its_rule() -> None:
    assert redact(f"Use {TOKEN} twice: {TOKEN}.") == Redacted(
        "Use [masked:github-pat] twice: [masked:github-pat].", 2, ("github-pat",)
    )


def test_the_first_word_of_the_next_line_is_no_part_of_a_secret_but_the_rest_of_a_wrapped_one_is() -> None:
    assert redact(f"token {TOKEN}\nuse it").text == "token [masked:github-pat]\nuse it"
    assert redact("token a9f3k2l5m8q1w4e7r6t0\n7xq2 it").text == "token [masked:keyed-secret] it"


def test_text_without_secrets_stays_as_it_is() -> None:
    assert redact("Run make test.\r\n") == Redacted("Run make test.\r\n", 0, ())


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_masking_twice_changes_nothing_and_leaves_no_secret(text: str) -> None:
    once = redact(text)
    assert redact(once.text) == Redacted(once.text, 0, ())
    assert find_secrets(once.text) == ()
    assert TOKEN not in once.text


@given(st.text(max_size=200))
def test_any_text_can_be_redacted(text: str) -> None:
    assert redact(redact(text).text).count == 0
