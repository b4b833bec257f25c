"""Secrets are found in every dress; placeholders and advice are none."""

import base64
import random
import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.text.placeholders import is_placeholder
from orgmem.text.secrets import RawFinding, find_secrets

LETTERS = string.ascii_letters + string.digits


def token(seed: int, length: int) -> str:
    return "".join(random.Random(seed).choices(LETTERS, k=length))


def github(seed: int) -> str:
    return "ghp_" + token(seed, 36)


def ours(seed: int) -> str:
    return "orgmem_" + token(seed, 40)


DRESSES = {
    "plain": lambda secret: f"Use {secret} for the deploy.",
    "quoted": lambda secret: f'TOKEN = "{secret}"',
    "code span": lambda secret: f"Set `{secret}` first.",
    "chinese": lambda secret: f"\u5bc6\u94a5{secret}\u662f\u8fd9\u4e2a",
    "url": lambda secret: f"https://ci.internal/hook?token={secret}&x=1",
    "crlf": lambda secret: f"one\r\n\u00e9\u00e9 {secret}\r\nthree",
    "zero width": lambda secret: f"It is {secret[:9]}\u200b{secret[9:]}.",
    "fullwidth": lambda secret: f"It is {chr(ord(secret[0]) + 0xFEE0)}{secret[1:]}.",
    "base64": lambda secret: f"Decode {base64.b64encode(f'token {secret}'.encode()).decode()} to get it.",
    "hex": lambda secret: f"Decode {f'token {secret}'.encode().hex()} to get it.",
    "percent": lambda secret: f"x={''.join(f'%{ord(char):02x}' for char in secret[:12])}{secret[12:]}",
    "wrapped": lambda secret: f"It is {secret[:20]}\n    {secret[20:]} and that is it.",
    "concatenated": lambda secret: f'key = "{secret[:15]}" + "{secret[15:]}"',
    "beside NUL": lambda secret: f"a\0b {secret} c",
}


@given(st.integers(0, 10**6), st.sampled_from(sorted(DRESSES)), st.sampled_from([github, ours]))
def test_a_planted_token_is_found_in_every_dress(seed: int, dress: str, make: Callable[[int], str]) -> None:
    secret = make(seed)
    text = DRESSES[dress](secret)
    spans = find_secrets(text)
    assert spans, dress
    rest = text
    for span in reversed(spans):
        rest = rest[: span.start] + rest[span.end :]
    assert secret[4:16] not in rest
    assert secret[-12:] not in rest
    assert not find_secrets(rest)


def test_equal_secrets_are_each_located() -> None:
    secret = github(1)
    text = f"{secret}\r\n\u00fc {secret}\nthe same: {secret}"
    assert [text[span.start : span.end] for span in find_secrets(text)] == [secret] * 3


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("db: postgres://app:Zk93hdQw21@db.internal:5432/app", "Zk93hdQw21"),
        ("amqp://svc:q8Wz-71xkPa@mq.internal", "q8Wz-71xkPa"),
        ("The password is Tr0ub4dor9kX, ask Ann.", "Tr0ub4dor9kX"),
        ("Authorization: Bearer 8f3kD92ksLq0xMz71hQw", "8f3kD92ksLq0xMz71hQw"),
        ("acme secret a9f3k2l5m8q1w4e7r6t0", "a9f3k2l5m8q1w4e7r6t0"),
    ],
)
def test_what_the_engine_misses_is_found(text: str, secret: str) -> None:
    assert [text[span.start : span.end] for span in find_secrets(text)] == [secret]


def test_a_private_key_is_found_whole_even_when_its_end_is_cut_off() -> None:
    body = "\n".join(token(line, 64) for line in range(8))
    whole = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    for key, text in ((whole, f"Key:\n{whole}\nDone."), (whole[:400], whole[:400])):
        (span,) = find_secrets(text)
        assert key in text[span.start : span.end] + "\n"
        assert span.rule == "private-key"


@pytest.mark.parametrize(
    "value",
    ["AKIAIOSFODNN7EXAMPLE", "your-key-here", "<token>", "ghp_" + "x" * 36,
     "${GITHUB_TOKEN}", "$TOKEN", "{{ secrets.TOKEN }}", "changeme", "********", "postgres",
     "[masked:github-pat]"],
)  # fmt: skip
def test_placeholders_are_no_secrets(value: str) -> None:
    assert is_placeholder(value)
    assert find_secrets(f"API_TOKEN={value}\npassword: {value}\ncurl -H 'Authorization: Bearer {value}'") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Never commit tokens; read them from the environment.",
        "The cache key is the hash of package-lock.json.",
        "Pin actions/checkout@9fceb02d0ae598e95dc970b74767f19372d61af8.",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "The password is stored in the vault, never in code.",
        "postgres://user:password@localhost:5432/test",
        "Call get_secret_value_from_manager_v2(name) to read the secret.",
    ],
)
def test_ordinary_advice_holds_no_secret(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize("piece", ["-----BEGIN PRIVATE KEY-----", "a://b:", "password is ", '"' + " " * 90])
def test_long_text_that_almost_hits_is_read_before_the_timeout(piece: str) -> None:
    found = find_secrets(piece * 5_000)  # a quadratic pattern would take hours
    assert {span.rule for span in found} <= {"private-key"}


def test_a_secret_that_stands_a_thousand_times_is_found_each_time() -> None:
    assert len(find_secrets(f"{github(2)}\n" * 1_000)) == 1_000


class WholeText:
    """An engine that takes a marked word for a secret."""

    version = "test"

    def scan(self, text: str) -> tuple[RawFinding, ...]:
        at = text.find("Qq12Zz34Ww56")
        return (RawFinding("marked", at, at + 12),) if at >= 0 else ()


def test_another_engine_can_take_the_place() -> None:
    (span,) = find_secrets("It is Qq12\u200bZz34Ww56.", WholeText())
    assert (span.start, span.end, span.rule, span.view) == (6, 19, "marked", "normalised")


@pytest.mark.timeout(60)  # linear: a second; quadratic: hours
@pytest.mark.parametrize("before", ["token", "authorization", "password", "password for", "api_key ="])
@pytest.mark.parametrize("filler", [" ", "\t", "a", "-", "'", "token ", "password for "])
def test_a_long_run_after_a_key_word_is_read_to_its_end(before: str, filler: str) -> None:
    assert find_secrets(before + filler * (100_000 // len(filler)) + "x y") == ()
