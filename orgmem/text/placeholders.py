"""What stands for a secret rather than being one, and what looks like a generated value."""

import base64
import json
import math
import re
from collections import Counter

_REFERENCE = re.compile(
    r"<[^<>]{0,200}>|\$\{|\{\{|\$\(|^\$\w+$|^%\w+%$|process\.env|os\.environ|getenv|secrets\.|masked:"
    r"|\$[A-Z][A-Z_]{2,40}(?![A-Za-z0-9$/.])|^\{[\w. -]+\}$|^\[[\w -]+\]$|(?i:xxxx)|\*\*\*|\.\.\.|\u2026"
)
_STAND_IN = re.compile(
    r"(?i)example|placeholder|your|change[-_ ]?me|dummy|redacted|insert|replace|fake|sample"
    r"|not[-_]?(?:a[-_]?)?real|goes[-_]?here"
)
_NAME = re.compile(
    r"^[#.]?(?:[a-z]{1,40}[-_]){0,8}[a-z]{0,40}(?:password|secret|token)(?:[-_][a-z]{1,40}){0,8}$"
    r"|^[A-Z]{2,40}(?:_[A-Z]{1,40}){1,8}$"
)
"""Words around one of the words for a secret, or a variable: the name of a field, not its value."""
_MOST_STAND_IN = 100
"""Longer values are too likely to hold one of those words by chance."""
_TRIVIAL = frozenset(
    # a word list reads best as words
    "pass password passwd secret pwd user username test testing admin root guest token key"  # noqa: SIM905
    " none null true false postgres mysql redis mongo mongodb rabbitmq minio".split()
)
_LEAST_VARIETY = 5
"""Fewer different characters make a stand-in."""
_LEAST_ENTROPY = 3.0
"""Bits a character that a generated value has at least."""
_LEAST_VARIED = 3.5
"""Bits a character of a generated value that separators cut into short pieces."""
_LEAST_LETTERS, _MOST_DIFFERENT, _LEAST_SHARE = 20, 32, 0.75
"""A value of letters alone is generated if it is long and has as many different ones; counted up to a length."""
_SEPARATORS = re.compile(r"[-_.~+/=%]")
_MIXED = re.compile(r"[0-9!@#$%^&*+?~]")
_EXPRESSION = re.compile(r"[()\[\]{}<>|\\]|^[#./$@:-]|://|\w\.[a-z_]{2}|^[a-z_]+[0-9]?$|^v?[0-9.]+$|^--|::|&&")
_URL_PASSWORD = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://(?P<user>[^\s/:@]*):(?P<password>[^\s/@]+)@")


def is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret rather than being one; of a URL, its password is meant."""
    if inside := _URL_PASSWORD.match(value):
        return inside["user"] == inside["password"] or is_placeholder(inside["password"])
    return (
        value.lower().strip("'\"`") in _TRIVIAL
        or len(set(value)) < _LEAST_VARIETY
        or bool(_REFERENCE.search(value) or _NAME.search(value))
        or (len(value) <= _MOST_STAND_IN and bool(_STAND_IN.search(value)))
        or _is_broken_jwt(value)
    )


def looks_random(value: str) -> bool:
    """Letters and several digits mixed, and as varied as a generated value."""
    mixed = any(
        sum(char.isdigit() for char in run) > 1 and not run.isdigit()
        for run in re.findall(r"[A-Za-z0-9]{8,}", value)
    )
    return (mixed and entropy(value) >= _LEAST_ENTROPY) or _is_varied(value)


def looks_mixed(value: str) -> bool:
    """A password rather than a word, a name or an expression: letters with digits or signs."""
    letters = sum(char.isalpha() for char in value)
    return letters > 1 and bool(_MIXED.search(value)) and not _EXPRESSION.search(value)


def _is_broken_jwt(value: str) -> bool:
    """Whether a value of a JWT's shape has a header that no verifier could read."""
    header, dot, _ = value.partition(".")
    if not (dot and header.startswith("eyJ")):
        return False
    try:
        json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except ValueError:
        return True
    return False


def _is_varied(value: str) -> bool:
    """Both cases and digits, a good part of digits, or letters of which few come twice: no words."""
    if value.isalpha():
        different = len(set(value)) / min(len(value), _MOST_DIFFERENT)
        return len(value) >= _LEAST_LETTERS and different >= _LEAST_SHARE
    bare = _SEPARATORS.sub("", value)
    digits = sum(char.isdigit() for char in bare)
    both_cases = digits > 1 and not bare.islower() and not bare.isupper()
    return (both_cases or 4 * digits >= len(bare) > digits) and entropy(bare) >= _LEAST_VARIED


def entropy(value: str) -> float:
    """Shannon entropy, bits a character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
