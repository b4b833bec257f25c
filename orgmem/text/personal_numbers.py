"""What each kind of personal data looks like, and which of what looks so is somebody's.

Numbers count by their check digits (python-stdnum). Those with few digits need separators, or words before them:
a check digit alone fits one number in ten.
"""

import ipaddress
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module

_DIGITS = re.compile(r"\d(?:[ .:-]?\d){3}")


@dataclass(frozen=True)
class Recognizer:
    """A pattern, whose group `value` is personal if it is valid."""

    id: str
    pattern: re.Pattern[str]
    valid: Callable[[str], bool] = lambda _: True
    words: re.Pattern[str] | None = None
    """Without one of these shortly before it, a value counts for nothing."""
    needs: re.Pattern[str] = _DIGITS
    """What every text with a hit has: looked for first."""


@cache
def recognizers() -> tuple[Recognizer, ...]:
    """All of them."""
    return (*_CONTACTS, *_NUMBERS, *_MACHINES)


def _checked(module: str) -> Callable[[str], bool]:
    """The validity check of a module of stdnum, imported when it is first asked."""

    def valid(number: str) -> bool:
        return bool(import_module(f"stdnum.{module}").is_valid(re.sub(r"[\s:.-]", "", number)))

    return valid


def _number(name: str, shape: str, check: str = "", words: str = "") -> Recognizer:
    """A number of this shape with no letter, digit or sign of a path, price or version at either end."""
    return Recognizer(
        name,
        re.compile(rf"(?<![\w.:/#=$-])(?<!\d )(?P<value>{shape})(?![\w:/]|[.-]\w| \d)"),
        _checked(check) if check else lambda _: True,
        re.compile(rf"(?i)(?<![a-z])(?:{words})(?![a-z])[^\n]{{0,20}}$") if words else None,
    )


def _grouped(separators: str, *sizes: int) -> str:
    """Groups of so many digits with one separator between them, the same each time."""
    first, second, *others = (rf"\d{{{size}}}" for size in sizes)
    return f"{first}(?P<sep>[{separators}]){second}" + "".join(f"(?P=sep){other}" for other in others)


_NOBODY = frozenset(
    # a word list reads best as words
    "git hg svn user username you your name me foo bar test noreply no-reply donotreply support security info"  # noqa: SIM905
    " admin administrator hello contact team help sales root postmaster webmaster abuse privacy legal conduct"
    " maintainers ops devops someone somebody nobody mail email feedback dev developers bot ci".split()
)
"""Users of addresses that are a role's, or an example's."""
_EXAMPLE_HOST = re.compile(
    r"(?i)(?:^|\.)(?:example(?:\.\w+)?|invalid|test|localhost|local|internal|users\.noreply\.github\.com"
    r"|(?:your|my)[\w-]*(?:domain|company|org|host)[\w-]*\.\w+|domain\.\w+|company\.com|acme\.\w+)$"
)


def _is_somebodys(address: str) -> bool:
    user, _, host = address.partition("@")
    return user.lower() not in _NOBODY and not _EXAMPLE_HOST.search(host)


_CONTACTS = (
    Recognizer(
        "email",
        re.compile(
            r"(?<![\w.+%/-])(?P<value>[^\W_][\w.+-]{0,63}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,5}"
            r"(?:xn--[a-z0-9]{1,40}|[^\W\d_]{2,24}))(?![\w:@-])"
        ),
        _is_somebodys,
        needs=re.compile("@"),
    ),
    Recognizer(
        "name",
        re.compile(
            r"(?<!\w)(?P<value>[A-Z][^\W\d_]{1,24}(?: [A-Z]\.)?(?: [A-Z][^\W\d_]{1,24}){1,2})"
            r",? ?[<(\[]{1,2} ?(?:mailto:)?(?:@[\w-]{2,39}\b|[\w.+-]{1,64}@[\w.-]{3,80})"
        ),
        needs=re.compile("@"),
    ),
)
"""A name counts beside an address or a mention only: no list of names knows whose it is."""

_TEST_CARDS = frozenset({"4242424242424242", "4111111111111111", "4000000000000002", "5555555555554444"})
_ISSUED = re.compile(r"4|5[0-9]|2[2-7]|3[0-9]|6|1800|2131")


def _is_card(number: str) -> bool:
    from stdnum import luhn

    digits = re.sub(r"\D", "", number)
    return bool(_ISSUED.match(digits) and digits not in _TEST_CARDS and luhn.is_valid(digits))


def _is_npi(number: str) -> bool:
    from stdnum import luhn

    return bool(luhn.is_valid(f"80840{number}"))  # the prefix of health care, ISO 7812


def _is_wallet(address: str) -> bool:
    from stdnum import bitcoin

    return address.startswith("bc1") or bool(bitcoin.is_valid(address))


_MBI = "ac-hjkmnp-rt-y"
_TAX = "tin|tfn|sin|idnr|tax (?:id|number|file)|steuer-?(?:id|nummer)"
_NUMBERS = (
    Recognizer(
        "iban",
        re.compile(
            r"(?<![A-Za-z0-9])(?P<value>[A-Z]{2}\d{2}"
            r"(?:[A-Z0-9]{11,30}|(?:[ -][A-Z0-9]{4}){2,7}(?:[ -][A-Z0-9]{1,4})?))(?![A-Za-z0-9])"
        ),
        _checked("iban"),
    ),
    Recognizer(
        "card",
        re.compile(r"(?<![\w.:/#=-])(?<!\d )(?P<value>\d{4}(?:[ -]?\d){8,14}\d)(?![\w:/]|[.-]\w| \d)"),
        _is_card,
    ),
    _number("card", r"\d{12}", words="(?:credit|debit|bank) card|card|cc"),
    _number("us-ssn", _grouped(" .-", 3, 2, 4), "us.ssn"),
    _number("us-ssn", r"\d{3}[ .-]?\d{2}[ .-]?\d{4}", "us.ssn", "ssn|social security(?: number)?"),
    _number("us-itin", r"9\d{2}[ -](?:[5-9]\d)[ -]?\d{4}"),
    _number("ca-sin", _grouped(" -", 3, 3, 3), "ca.sin"),
    _number("tax-number", r"\d{9,11}|\d{3} \d{3} \d{3}", words=_TAX),
    _number("de-idnr", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", "de.idnr"),
    _number("es-nif", r"\d{8}-?[A-Z]", "es.dni"),
    _number("es-nie", r"[XYZ]-?\d{7}-?[A-Z]", "es.nie"),
    _number("it-fiscal-code", r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", "it.codicefiscale"),
    _number("in-aadhaar", _grouped(" :-", 4, 4, 4), "in_.aadhaar"),
    _number("in-aadhaar", r"[2-9]\d{11}", words="aadhaa?r|uid"),
    _number("in-pan", r"[A-Z]{5}\d{4}[A-Z]", "in_.pan"),
    _number("uk-nhs", _grouped(" -", 3, 3, 4), "gb.nhs"),
    _number("uk-nhs", r"\d{10}", "gb.nhs", "nhs"),
    _number("za-id", r"\d{13}", "za.idnr"),
    _number("sg-nric", r"[STFG]\d{7}[A-Z]"),
    _number("uk-nino", r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?\d{2}){3} ?[A-D]"),
    Recognizer(
        "us-mbi",
        re.compile(
            rf"(?<![\w.:/#=-])(?P<value>(?i:[1-9][{_MBI}][{_MBI}\d]\d-?[{_MBI}][{_MBI}\d]\d-?[{_MBI}]{{2}}\d{{2}}))"
            r"(?![\w:/]|[.-]\w)"
        ),
        needs=re.compile(r"(?i)[a-z]\d\d?-?[a-z]"),
    ),
    _number("us-npi", r"[12]\d{9}", words="npi"),
    # Not 15 to 19: the seconds since 1970 of our time begin so.
    Recognizer("us-npi", re.compile(r"(?<![\w.:/#=$-])(?P<value>(?:1[0-4]|2\d)\d{8})(?![\w:/]|[.-]\w)"), _is_npi),
    _number("us-routing", r"\d{9}|\d{4}-\d{4}-\d", "us.rtn"),
    _number("us-routing", r"\d{9}|\d{4}-\d{4}-\d", words="aba|routing"),
    _number("passport", r"[A-Z]\d{8}"),
    _number("passport", r"[A-Z]{0,2}\d{6,9}", words="passport|travel document"),
    _number("driving-licence", r"[A-Z]{0,2}\d{5,13}", words=r"driv(?:er|ing)(?:['\u2019]?s)? licen[cs]e"),
    Recognizer(
        "wallet",
        re.compile(r"(?<![\w/])(?P<value>bc1[ac-hj-np-z02-9]{25,87}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?!\w)"),
        _is_wallet,
        needs=re.compile("bc1|[13][1-9A-HJ-NP-Za-km-z]{25}"),
    ),
)

_RESOLVERS = frozenset(
    # a word list reads best as words
    "1.1.1.1 1.0.0.1 8.8.8.8 8.8.4.4 9.9.9.9 208.67.222.222 208.67.220.220"  # noqa: SIM905
    " 2606:4700:4700::1111 2606:4700:4700::1001 2001:4860:4860::8888 2001:4860:4860::8844 2620:fe::fe".split()
)


def _is_on_the_internet(address: str) -> bool:
    """Whether it can be somebody's machine: no private or reserved network, no well-known resolver."""
    with suppress(ValueError):
        found = ipaddress.ip_address(address)
        return found.is_global and not found.is_multicast and str(found) not in _RESOLVERS
    return False


def _is_device(address: str) -> bool:
    """Whether it is no broadcast and no group of devices."""
    digits = re.sub(r"[^0-9a-f]", "", address.lower())
    return len(set(digits)) > 1 and not digits.startswith("01005e")


_MACHINES = (
    Recognizer(
        "ip-address",
        re.compile(
            r"(?i)(?<![\w.=~^<>@/-])(?<!version )(?<!release )(?P<value>(?:\d{1,3}\.){3}\d{1,3})(?![\w-]|\.\w)"
        ),
        _is_on_the_internet,
        needs=re.compile(r"\d\.\d"),
    ),
    Recognizer(
        "ip-address",
        re.compile(
            r"(?<![\w:.])(?P<value>[23][0-9A-Fa-f]{3}(?::[0-9A-Fa-f]{0,4}){2,7}"
            r"|(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4})(?![\w:])"
        ),
        _is_on_the_internet,
        needs=re.compile(":"),
    ),
    Recognizer(
        "mac-address",
        re.compile(
            r"(?<![\w:.-])(?P<value>[0-9A-Fa-f]{2}(?P<sep>[:-])(?:[0-9A-Fa-f]{2}(?P=sep)){4}[0-9A-Fa-f]{2}"
            r"|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})(?![\w:-]|\.\w)"
        ),
        _is_device,
        needs=re.compile(r"[0-9A-Fa-f][:.-][0-9A-Fa-f]"),
    ),
)
