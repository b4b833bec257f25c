"""A token of a known format, dressed up so that a plain search misses it, leaves nothing when it is masked."""

import base64
import random
import string
from collections.abc import Callable
from urllib.parse import quote

import pytest

from orgmem.text.redact import redact
from orgmem.text.secrets import MASK
from orgmem.text.views import views

LETTERS, LOWER, UPPER = (
    string.ascii_letters + string.digits,
    string.ascii_lowercase + string.digits,
    string.ascii_uppercase,
)
DIGITS, HEX = string.digits, string.digits + "abcdef"

FORMATS: dict[str, tuple[str | tuple[str, int], ...]] = {
    "age": ("AGE-SECRET-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "anthropic": ("sk-ant-api03-", (LETTERS, 93), "AA"),
    "atlassian": ("ATATT3", (LETTERS, 186)),
    "clojars": ("CLOJARS_", (LOWER, 60)),
    "databricks": ("dapi", (HEX, 32)),
    "digitalocean": ("dop_v1_", (HEX, 64)),
    "doppler": ("dp.pt.", (LOWER, 43)),
    "duffel": ("duffel_test_", (LETTERS, 43)),
    "dynatrace": ("dt0c01.", (UPPER, 24), ".", (UPPER, 64)),
    "easypost": ("EZAK", (LETTERS, 54)),
    "figma": ("figd_", (LETTERS, 40)),
    "flutterwave": ("FLWSECK_TEST-", ("abcdefh" + DIGITS, 32), "-X"),
    "github-app": ("ghs_", (LETTERS, 36)),
    "github-classic": ("ghp_", (LETTERS, 36)),
    "github-fine": ("github_pat_", (LETTERS, 82)),
    "github-oauth": ("gho_", (LETTERS, 36)),
    "gitlab": ("glpat-", (LETTERS, 20)),
    "gitlab-deploy": ("gldt-", (LETTERS, 20)),
    "google": ("AIza", (LETTERS, 35)),
    "grafana": ("glsa_", (LETTERS, 32), "_", (HEX, 8)),
    "harness": ("pat.", (LETTERS, 22), ".", (HEX, 24), ".", (LETTERS, 20)),
    "heroku": ("HRKU-AA", (LETTERS, 58)),
    "huggingface": ("hf_", (string.ascii_letters, 34)),
    "infracost": ("ico-", (LETTERS, 32)),
    "linear": ("lin_api_", (LETTERS, 40)),
    "notion": ("ntn_", (DIGITS, 11), (LETTERS, 35)),
    "npm": ("npm_", (LOWER, 36)),
    "openai": ("sk-proj-", (LETTERS, 74), "T3BlbkFJ", (LETTERS, 74)),
    "orgmem": ("orgmem_", (LETTERS, 40)),
    "perplexity": ("pplx-", (LETTERS, 48)),
    "postman": ("PMAK-", (HEX, 24), "-", (HEX, 34)),
    "prefect": ("pnu_", (LOWER, 36)),
    "pulumi": ("pul-", (HEX, 40)),
    "pypi": ("pypi-AgEIcHlwaS5vcmc", (LETTERS, 60)),
    "readme": ("rdme_", (LOWER, 70)),
    "rubygems": ("rubygems_", (HEX, 48)),
    "sendgrid": ("SG.", (LETTERS, 22), ".", (LETTERS, 43)),
    "sendinblue": ("xkeysib-", (HEX, 64), "-", (LETTERS, 16)),
    "sentry": ("sntryu_", (HEX, 64)),
    "shippo": ("shippo_live_", (HEX, 40)),
    "shopify": ("shpat_", (HEX, 32)),
    "slack-app": ("xapp-1-", (UPPER, 10), "-", (DIGITS, 12), "-", (LOWER, 40)),
    "slack-bot": ("xoxb-", (DIGITS, 12), "-", (DIGITS, 12), "-", (LETTERS, 24)),
    "sourcegraph": ("sgp_", (HEX, 40)),
    "square": ("EAAA", (LETTERS, 60)),
    "stripe": ("sk_live_", (LETTERS, 24)),
}  # fmt: skip
"""Fixed parts, and alphabets with the number of characters drawn from them."""


def secret_of(name: str) -> str:
    """A token of the format, the same in every run."""
    draw = random.Random(name)
    return "".join(
        part if isinstance(part, str) else "".join(draw.choices(part[0], k=part[1])) for part in FORMATS[name]
    )


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in text)


def wide(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) for char in text)


def cut(secret: str, middle: str) -> str:
    half = len(secret) // 2
    return secret[:half] + middle + secret[half:]


LOOKALIKES = str.maketrans(
    "aeopcxyABEKMHOPCTX",
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425",
)
"""Latin letters to Cyrillic ones."""


def encoded(secret: str) -> str:
    return base64.b64encode(secret.encode()).decode()


DRESSES: dict[str, Callable[[str], str]] = {
    "plain": lambda secret: secret,
    "zero width space": lambda secret: cut(secret, "\u200b"),
    "zero width joiner": lambda secret: cut(secret, "\u200d"),
    "zero width everywhere": "\u200b".join,
    "soft hyphen": lambda secret: cut(secret, "\u00ad"),
    "word joiner": lambda secret: cut(secret, "\u2060"),
    "byte order mark": lambda secret: cut(secret, "\ufeff"),
    "variation selector": lambda secret: cut(secret, "\ufe0f"),
    "combining grapheme joiner": lambda secret: cut(secret, "\u034f"),
    "control": lambda secret: cut(secret, "\x08"),
    "NUL": lambda secret: cut(secret, "\0"),
    "tag characters": lambda secret: cut(secret, tags("x")),
    "all in tag characters": tags,
    "override of direction": lambda secret: f"\u202e{secret[::-1]}\u202c",
    "isolated": lambda secret: cut(secret, "\u2066\u2069"),
    "mark of direction": lambda secret: cut(secret, "\u200f"),
    "mark beside Hebrew": lambda secret: "\u05d0 " + cut(secret, "\u200f"),
    "embedded": lambda secret: f"\u202a{cut(secret, chr(0x202C))}",
    "fullwidth": wide,
    "half fullwidth": lambda secret: secret[:7] + wide(secret[7:]),
    "mathematical": lambda secret: "".join(
        chr(0x1D41A + ord(char) - 97) if "a" <= char <= "z" else char for char in secret
    ),
    "lookalike letters": lambda secret: secret.translate(LOOKALIKES),
    "hyphen lookalike": lambda secret: secret.replace("-", "\u2010"),
    "wrapped": lambda secret: cut(secret, "\n"),
    "wrapped and indented": lambda secret: cut(secret, "\r\n    "),
    "backslash": lambda secret: cut(secret, "\\\n"),
    "quoted lines": lambda secret: cut(secret, "\n> "),
    "commented lines": lambda secret: cut(secret, "\n# "),
    "list of parts": lambda secret: cut(secret, "\n- "),
    "three lines": lambda secret: f"{secret[:9]}\n{secret[9:14]}\n{secret[14:]}",
    "concatenated": lambda secret: f'"{cut(secret, chr(34) + " + " + chr(34))}"',
    "concatenated tightly": lambda secret: f"'{cut(secret, chr(39) + '+' + chr(39))}'",
    "concatenated with a dot": lambda secret: f"'{cut(secret, chr(39) + ' . ' + chr(39))}'",
    "concatenated with two dots": lambda secret: f"'{cut(secret, chr(39) + ' .. ' + chr(39))}'",
    "adjacent strings": lambda secret: f'"{cut(secret, chr(34) + " " + chr(34))}"',
    "adjacent lines": lambda secret: f'("{cut(secret, chr(34) + chr(10) + "    " + chr(34))}")',
    "shell quotes": lambda secret: cut(secret, '""'),
    "three strings": lambda secret: f'"{secret[:5]}" + "{secret[5:12]}" + "{secret[12:]}"',
    "concatenated over lines": lambda secret: f'"{cut(secret, chr(34) + " +" + chr(10) + "  " + chr(34))}"',
    "joined list": lambda secret: f'"".join(["{cut(secret, chr(34) + ", " + chr(34))}"])',
    "base64": encoded,
    "base64 of base64": lambda secret: encoded(encoded(secret)),
    "base64 for URLs": lambda secret: base64.urlsafe_b64encode(f"key?{secret}".encode()).decode(),
    "base64 without padding": lambda secret: encoded(secret).rstrip("="),
    "base64 in lines": lambda secret: base64.encodebytes(f"Ask those who keep it: {secret} ok?".encode()).decode(),
    "hex": lambda secret: secret.encode().hex(),
    "hex in capitals": lambda secret: f"0x{secret.encode().hex().upper()}",
    "hex with spaces": lambda secret: secret.encode().hex(" "),
    "hex with colons": lambda secret: secret.encode().hex(":"),
    "hex escapes": lambda secret: "".join(f"\\x{ord(char):02x}" for char in secret),
    "unicode escapes": lambda secret: "".join(f"\\u{ord(char):04x}" for char in secret),
    "character references": lambda secret: "".join(f"&#{ord(char)};" for char in secret),
    "hex character references": lambda secret: "".join(f"&#x{ord(char):x};" for char in secret),
    "percent": lambda secret: "".join(f"%{ord(char):02X}" for char in secret),
    "percent in part": lambda secret: secret[:5] + quote(secret[5:]).replace(secret[6], f"%{ord(secret[6]):02x}"),
    "percent of percent": lambda secret: "".join(f"%25{ord(char):02x}" for char in secret),
    "beside Chinese": lambda secret: f"\u5bc6\u94a5{secret}\u5df2\u5b58",
    "in quotes": lambda secret: f"\u201c{secret}\u201d",
    "in a code span": lambda secret: f"`{secret}`",
    "before a full stop": lambda secret: f"{secret}. Mind it,",
    "before a comma": lambda secret: f"{secret}, that is,",
    "in brackets": lambda secret: f"({secret})",
    "before Japanese": lambda secret: f"{secret}\u3092\u4f7f\u3046",
    "in bold": lambda secret: f"**{secret}**",
    "in a URL": lambda secret: f"https://ci.example/hook?token={secret}&x=1",
    "in a URL as the password": lambda secret: f"https://bot:{secret}@git.example/acme/site.git",
    "in YAML": lambda secret: f"key: '{secret}'",
    "in JSON": lambda secret: f'{{"key":"{secret}"}}',
    "fullwidth in base64": lambda secret: encoded(wide(secret)),
    "base64 with zero width": lambda secret: cut(encoded(secret), "\u200b"),
    "base64 concatenated": lambda secret: f'"{cut(encoded(secret), chr(34) + " + " + chr(34))}"',
}  # fmt: skip
SHORTEST_PIECE = 6
"""So many characters of a secret in a row, in any reading of what is left, are too many."""


@pytest.mark.parametrize("dress", DRESSES)
def test_nothing_of_a_dressed_up_secret_is_left(dress: str) -> None:
    assert [name for name in FORMATS if leaves_something(secret_of(name), DRESSES[dress])] == []


def leaves_something(secret: str, dress: Callable[[str], str]) -> bool:
    masked = redact(f"Before the deploy, see {dress(secret)} for it.").text
    left = MASK.sub("", masked)
    pieces = {secret[at : at + SHORTEST_PIECE] for at in range(len(secret) - SHORTEST_PIECE + 1)}
    return masked == left or any(piece in view.text for view in views(left) for piece in pieces)
