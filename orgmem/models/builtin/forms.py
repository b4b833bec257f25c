"""Forms of questions: a sentence of the learning turned into what it answers.

Forms are tried in order, the most telling first: a purpose ("to run one test"), an occasion ("when adding a
flag"), a choice, a prohibition, a duty, a place, a definition.
"""

import re
from collections.abc import Callable

from orgmem.models.builtin.phrases import Spans, clause, imperative, lower
from orgmem.models.builtin.sentences import VAGUE

SHORT, MIDDLE = 8, 12
"""Words of a side of a choice, of what a tool is used for."""

_MANY = r"(?:(?:,? (?:and|or) |, |/| / )\x00\d+\x00)*"
_DEFINITION = re.compile(rf"^(\x00\d+\x00{_MANY})\s*(?:\([^)]*\))?\s*(?:[:=|\u2014\u2013]|--?|\u2192|->)\s+(.*)$")
_TO = re.compile(r"^(?:in order )?to ([a-z].+?)(?:, | \u2014 |: |; )(?=\S)", re.IGNORECASE)
_OCCASION = re.compile(
    r"^((?:when|if|before|after|while|once|whenever|during) .+?)(?:, | \u2014 |: )(?=\S)", re.IGNORECASE
)
_LATE = re.compile(r"^(.{3,}?) (when|before|after|whenever) (.+)$", re.IGNORECASE)
_FOR = re.compile(r"^for ([^,:]{3,90})(?:, |: )(?=\S)", re.IGNORECASE)
_CHOICE = re.compile(
    r"^(?:always )?(?:use|prefer) (.+?)(?: instead of | over | rather than |, not | and not )(.+)$",
    re.IGNORECASE,
)
_USE_FOR = re.compile(
    r"^(?:always |only )?(?P<verb>use|run|see|prefer|read|call|load) .+?"
    r" (?P<link>to|for|when|before|after) (?P<rest>.+)$",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"^(?:you )?(?:please )?(?:never|do not|don't|must not|must never|cannot|can't|should not)"
    r" (?:ever )?(.+)$",
    re.IGNORECASE,
)
_AVOID = re.compile(r"^(?:please )?avoid (.+)$", re.IGNORECASE)
_DUTY = re.compile(
    r"^(?:you )?(?:must always|must|always|should|need to|have to|make sure (?:to )?"
    r"|ensure (?:that )?)\s*(.+)$",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"^(?P<who>[^,.;:]{3,90}?) (?P<modal>must|should|can|may|cannot|needs? to|has to|have to)(?: not| never)?"
    r" (?P<rest>.+)$"
)
_PLACE = re.compile(
    r"^(?P<who>[^,.;:]{3,90}?) (?:(?P<be>is|are) (?:\w+ly )?(?P<done>located|stored|defined|configured|kept"
    r"|declared|documented|published|registered|implemented|handled|generated|built|written|set|managed)"
    r"|(?P<live>live|reside|sit|go|belong|come)(?P<one>e?s)?)"
    r" (?:in|at|under|from|by|via|with|inside|on|to|through)\b"
)
_IS = re.compile(r"^(?P<who>(?:[^\s,.;:]+ ){0,3}[^\s,.;:]+) (?P<be>is|are) (?:an?|the|our|one) .+$")
_RUNNABLE = re.compile(r"^[a-z][\w./-]* \S")
_MODALS = {"cannot": "Can", "may": "May", "can": "Can", "should": "Should"}


def question_for(text: str, spans: Spans) -> str:
    """The first form that fits the text, its code spans held, without a question mark; empty if none fits."""
    text = text.strip().rstrip(".!:")
    if not text or VAGUE.match(text):
        return ""
    return next((asked for form in _FORMS if (asked := form(text, spans))), "")


def sets_scene(text: str) -> bool:
    """Whether it begins with a purpose or an occasion: then a colon in it ends no label."""
    return any(pattern.match(text) for pattern in (_OCCASION, _TO, _FOR))


def is_rule(text: str) -> bool:
    """Whether it tells somebody to do something or to leave it."""
    return bool(imperative(text) or _NOT.match(text) or _DUTY.match(text) or _AVOID.match(text))


def _purpose(text: str, _spans: Spans) -> str:
    match = _TO.match(text)
    return f"How do I {clause(match[1])}" if match else ""


def _occasion(text: str, _spans: Spans) -> str:
    match = _OCCASION.match(text)
    return f"What should I do {clause(match[1])}" if match else ""


def _kind_of_thing(text: str, _spans: Spans) -> str:
    match = _FOR.match(text)
    return f"What is the rule for {clause(match[1])}" if match else ""


def _definition(text: str, spans: Spans) -> str:
    match = _DEFINITION.match(text)
    if not match or not match[2]:
        return ""
    name = spans.free(match[1]).strip("`")
    what = _as_told(clause(match[2]))
    if _RUNNABLE.match(name) or name.startswith("-"):
        return f"How do I {what}" if imperative(what) else f"Which command is for {what}"
    if imperative(what) or _USE_FOR.match(match[2]):
        return f"What should I use to {what}"
    return f"Where do I find {what}" if "/" in name or "." in name else f"What is {match[1]}, {what},"


def _as_told(what: str) -> str:
    """`Runs the tests` as `run the tests`."""
    first, _, rest = what.partition(" ")
    return f"{first[:-1]} {rest}" if rest and imperative(first.removesuffix("s")) and first.endswith("s") else what


def _choice(text: str, _spans: Spans) -> str:
    match = _CHOICE.match(text)
    return f"Should I use {clause(match[1], SHORT)} or {clause(match[2], SHORT)}" if match else ""


def _use_for(text: str, _spans: Spans) -> str:
    match = _USE_FOR.match(text)
    if not match:
        return ""
    link, rest = match["link"].lower(), clause(match["rest"], MIDDLE)
    return f"How do I {rest}" if link == "to" else f"What should I {match['verb'].lower()} {link} {rest}"


def _prohibition(text: str, _spans: Spans) -> str:
    if match := _AVOID.match(text):
        return f"Should I avoid {clause(match[1])}"
    match = _NOT.match(text)
    return f"May I {clause(match[1])}" if match else ""


def _duty(text: str, _spans: Spans) -> str:
    match = _DUTY.match(text)
    if not match:
        return ""
    rest = clause(match[1])
    return f"Do I have to {rest}" if imperative(rest) else f"Must I make sure that {rest}"


def _timed(text: str, _spans: Spans) -> str:
    match = _LATE.match(text) if imperative(text.removeprefix("Always ")) else None
    return f"What should I do {match[2].lower()} {clause(match[3])}" if match else ""


def _imperative(text: str, _spans: Spans) -> str:
    rule = imperative(text)
    return f"Should I {clause(rule)}" if rule else ""


def _modal(text: str, _spans: Spans) -> str:
    match = _MODAL.match(text)
    if not match or VAGUE.match(match["who"]):
        return ""
    return f"{_MODALS.get(match['modal'], 'Must')} {lower(match['who'])} {clause(match['rest'])}"


def _place(text: str, _spans: Spans) -> str:
    match = _PLACE.match(text)
    if not match or VAGUE.match(match["who"]):
        return ""
    who = lower(match["who"])
    if match["done"]:
        return f"Where and how {match['be']} {who} {match['done']}"
    return f"Where {'does' if match['one'] else 'do'} {who} {match['live']}"


def _identity(text: str, _spans: Spans) -> str:
    match = _IS.match(text)
    if not match or VAGUE.match(match["who"]):
        return ""
    return f"What {match['be']} {lower(match['who'])}"


_FORMS: tuple[Callable[[str, Spans], str], ...] = (
    _purpose,
    _occasion,
    _kind_of_thing,
    _definition,
    _prohibition,
    _choice,
    _use_for,
    _duty,
    _timed,
    _imperative,
    _modal,
    _place,
    _identity,
)
