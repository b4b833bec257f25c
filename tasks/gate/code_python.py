"""Python looked at by bandit, in this process: no files, no configuration, no comment that switches it off."""

import ast
import logging
import threading
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from orgmem.text.placeholders import is_placeholder
from tasks.gate.code_repair import parsed

_LOCK = threading.Lock()
"""Warnings are switched off for the whole process while code is parsed; one at a time may do that."""
_MODULES = ("yaml", "hashlib", "requests", "pickle", "subprocess", "os", "ssl", "tarfile", "tempfile", "torch")

MOST_DEPTH = 200
"""Levels of a syntax tree that are looked at; how many more fit would depend on who calls."""
_STATED = "Possible hardcoded password: "
"""How bandit begins when it quotes the value."""


def tests_that_hit(code: str) -> frozenset[str] | None:
    """The ids of bandit's tests that find something in a piece of Python; None where it can't be made to parse."""
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = parsed(code)
        return None if tree is None or _is_deep(tree) else frozenset(_found(tree))


def _is_deep(tree: ast.AST) -> bool:
    """Whether the tree is nested further than any reader would follow."""
    level = [tree]
    for _ in range(MOST_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return bool(level)


def _found(tree: ast.Module) -> Iterator[str]:
    tests = _tests()  # first, for it loads bandit with care
    from bandit.core.metrics import Metrics
    from bandit.core.node_visitor import BanditNodeVisitor

    metrics = Metrics()
    metrics.begin("fragment.py")
    visitor = BanditNodeVisitor("fragment.py", None, None, tests, False, {}, metrics)
    visitor.imports.update(_used_modules(tree))
    visitor.generic_visit(tree)
    for result in visitor.tester.results:
        text = str(result.text)
        if not (text.startswith(_STATED) and is_placeholder(text.removeprefix(_STATED))):
            yield str(result.test_id)


def _used_modules(tree: ast.Module) -> set[str]:
    """Modules that are used; a fragment seldom shows their import, and some tests ask for it."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names.intersection(_MODULES)


@cache
def _tests() -> Any:
    """All tests that are bandit's own, loaded once; another package's must not change a verdict."""
    from stevedore import _cache

    _cache._c._disable_caching = True  # noqa: SLF001 - else a list of entry points is left in the user's folder
    for name in ("bandit", "stevedore"):  # they may quote code, and miss formatters that nobody asks for
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    form = warnings.formatwarning
    from bandit.core import config, test_set
    from bandit.core.extension_loader import MANAGER

    warnings.formatwarning = form  # bandit sets its own for the whole process
    added = {
        test for test, one in MANAGER.plugins_by_id.items() if not one.plugin.__module__.startswith("bandit.")
    }
    return test_set.BanditTestSet(config.BanditConfig(), {"exclude": added})
