"""A unit's question: what a developer would ask who needs this answer, made of the learning's own words."""

import re

from orgmem.models.builtin.forms import is_rule, question_for, sets_scene
from orgmem.models.builtin.markdown import Kind
from orgmem.models.builtin.phrases import Spans, clause, lower
from orgmem.models.builtin.topics import mentions, question_about, titles, topic, undecorated
from orgmem.models.builtin.units import Unit

LONGEST_LABEL = 6
"""Words before a colon that still are a label."""
MOST_NAMES = 3
"""Labels of a unit's parts that its question names."""

_LABEL = re.compile(r"^(?:\(?\d+\)\s*)?([^:.!?\x00]{2,60}?):\s+(?=\S)(.*)$")
_NUMBER = re.compile(r"^(?:\(?\d+[.)]|step \d+:?)\s+", re.IGNORECASE)
_MARK = re.compile(r"^\x00\d+\x00")
_RULES = ("rules", "conventions", "guidelines", "practices")


def question_of(unit: Unit, scope: str) -> str:
    """One question that ends in a question mark and names the project."""
    spans = Spans()
    label, said = _labelled(spans.hold(_first(unit)))
    many = len(unit.prose) > 1 and not unit.lead
    asked = "" if many and topic(unit.path) else question_for(said, spans)
    if not asked:
        asked = _by_heading(unit, spans, label)
        label = ""
    where = [title for title in (*titles(unit.path)[-2:], label) if title and not mentions(asked, title)]
    suffix = f" ({': '.join(spans.free(title) for title in where)})" if where else ""
    return f"{spans.free(asked)} in {scope}{suffix}?"


def _first(unit: Unit) -> str:
    listed = not unit.prose or unit.prose[0].block.kind in (Kind.ITEM, Kind.ROW)
    if unit.lead and listed and (unit.lead.endswith(":") or not unit.prose):
        return unit.lead.rstrip(": ")
    return unit.prose[0].kept[0] if unit.prose else unit.lead


def _labelled(text: str) -> tuple[str, str]:
    text = _NUMBER.sub("", text)
    match = _LABEL.match(text)
    if not match or len(match[1].split()) > LONGEST_LABEL or sets_scene(text):
        return "", text
    return undecorated(match[1]), match[2]


def _by_heading(unit: Unit, spans: Spans, label: str) -> str:
    names = [name for part in unit.prose if (name := _name_of(spans.hold(part.kept[0])))]
    led = clause(spans.hold(unit.lead)) if unit.lead.endswith(":") else ""
    named = led or ", ".join(list(dict.fromkeys(names))[:MOST_NAMES])
    if about := topic(unit.path):
        ruled = _ruling(unit) and not about.endswith(_RULES)
        asked = f"What are the rules for {about}" if ruled else question_about(about)
        return f"{asked} ({named})" if named else asked
    told = named or label or clause(spans.hold(_first(unit)))
    return f"What should I know about {told}" if told else "What should I know"


def _ruling(unit: Unit) -> bool:
    """Whether at least half of the parts are rules."""
    rules = [is_rule(part.kept[0]) for part in unit.prose]
    return sum(rules) * 2 >= len(rules) > 0


def _name_of(text: str) -> str:
    """What an item is about: its label, or the code span it begins with."""
    label, rest = _labelled(text)
    if label:
        return lower(label)
    match = _MARK.match(rest)
    return match[0] if match else ""
