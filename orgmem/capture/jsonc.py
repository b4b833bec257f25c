"""JSON with comments, changed in place: every byte that is not ours stays where it is.

A small parser that keeps positions: packages that read comments write the document anew, in their own style.
"""

import json
import re
from typing import NamedTuple

from orgmem.errors import InputError

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}:/"]+', re.DOTALL)
_DEEPEST = 100


class Node(NamedTuple):
    """A value with its place: `text[start:end]`."""

    kind: str
    """object, array or scalar."""
    start: int
    end: int
    children: tuple["Node", ...] = ()
    """Items of an array, values of an object."""
    keys: tuple[str, ...] = ()
    """Of an object, in order."""
    starts: tuple[int, ...] = ()
    """Where each child begins, its key included."""

    def member(self, key: str) -> "Node | None":
        """The value of a key; none if it is not there or this is no object."""
        return self.children[self.keys.index(key)] if key in self.keys else None


def parse(text: str, name: str) -> Node:
    """The document, comments and trailing commas allowed.

    Raises:
        InputError: `name:line:column: what is wrong`; duplicate keys are.
    """
    node, at = _value(text, _skip(text, 0), name, 0)
    if (rest := _skip(text, at)) < len(text):
        raise _fault(text, rest, name, "more text after the end")
    return node


def value(text: str, node: Node) -> object:
    """What a node says, as json.loads would give it."""
    match node.kind:
        case "object":
            return {key: value(text, child) for key, child in zip(node.keys, node.children, strict=True)}
        case "array":
            return [value(text, child) for child in node.children]
        case _:
            return json.loads(text[node.start : node.end])


def added(text: str, container: Node, fragment: str) -> str:
    """The text with a fragment as the container's last child, on lines of its own."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    outer = _indent_at(text, container.start)
    step = _indent_at(text, container.starts[-1]) if container.starts else outer + "  "
    lines = line_end.join(step + line for line in fragment.split("\n"))
    if container.children:
        at = container.children[-1].end
        return f"{text[:at]},{line_end}{lines}{text[at:]}"
    at = container.end - 1
    inside = text[container.start + 1 : at]
    kept = text[:at].rstrip() if inside.strip() else text[: container.start + 1]
    return f"{kept}{line_end}{lines}{line_end}{outer}{text[at:]}"


def removed(text: str, container: Node, index: int) -> str:
    """The text without a child and its comma."""
    child = container.children[index]
    if index:
        return text[: container.children[index - 1].end] + text[child.end :]
    if len(container.children) > 1:
        return text[: container.starts[0]] + text[container.starts[1] :]
    return text[: container.start + 1] + text[container.end - 1 :]


def _value(text: str, at: int, name: str, depth: int) -> tuple[Node, int]:
    if depth > _DEEPEST:
        raise _fault(text, at, name, "nested too deep")
    if text[at : at + 1] in {"{", "["}:
        return _container(text, at, name, depth)
    found = _SCALAR.match(text, at)
    if found is None:
        raise _fault(text, at, name, "a value is missing")
    try:
        json.loads(found[0])
    except ValueError:
        raise _fault(text, at, name, f"{found[0][:20]!r} is no JSON value") from None
    return Node("scalar", at, found.end()), found.end()


def _container(text: str, start: int, name: str, depth: int) -> tuple[Node, int]:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    keys: dict[str, None] = {}
    starts: list[int] = []
    children: list[Node] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        starts.append(at)
        if is_object:
            at = _key(text, at, name, keys)
        child, at = _value(text, at, name, depth + 1)
        children.append(child)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise _fault(text, at, name, f"a comma or {close} is missing")
    kind = "object" if is_object else "array"
    return Node(kind, start, at + 1, tuple(children), tuple(keys), tuple(starts)), at + 1


def _key(text: str, at: int, name: str, keys: dict[str, None]) -> int:
    key, end = _value(text, at, name, 0)
    word = value(text, key) if key.kind == "scalar" else None
    if not isinstance(word, str):
        raise _fault(text, at, name, "a key must be a string")
    if word in keys:
        raise _fault(text, at, name, f"the key {word!r} stands here twice")
    keys[word] = None
    colon = _skip(text, end)
    if text[colon : colon + 1] != ":":
        raise _fault(text, colon, name, "a colon is missing")
    return _skip(text, colon + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _fault(text: str, at: int, name: str, what: str) -> InputError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return InputError(f"{name}:{line}:{column}: {what}", "mend that place, then run the same command again")
