"""Which names pass for popular ones."""

import string
from itertools import islice
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.gate.dependency_names import Ecosystem, canonical, is_popular, load, one_edit_apart, passes_for

LEADING = tuple(name for name in islice(load("pypi").names, 300) if len(name) >= 8)


@pytest.mark.parametrize("ecosystem", get_args(Ecosystem))
def test_no_popular_name_passes_for_another(ecosystem: Ecosystem) -> None:
    names = load(ecosystem).names
    assert len(names) > 80
    assert not [name for name in names if passes_for(ecosystem, name)]


@pytest.mark.parametrize(
    ("ecosystem", "name", "popular"),
    [
        ("pypi", "reqests", "requests"),  # a letter less
        ("pypi", "requestts", "requests"),  # one typed twice
        ("pypi", "requesrs", "requests"),  # another one
        ("pypi", "reqeusts", "requests"),  # two swapped
        ("pypi", "reqtsues", "requests"),  # several in another order
        ("pypi", "rreequuests", "requests"),  # several typed twice
        ("pypi", "requestsxyz", "requests"),  # letters glued to it
        ("pypi", "setup-tools", "setuptools"),  # a separator
        ("pypi", "dateutil-python", "python-dateutil"),  # another order
        ("pypi", "python-requests", "requests"),
        ("pypi", "requests-official", "requests"),
        ("pypi", "python-openssl", "pyopenssl"),
        ("pypi", "acme-tensorflwo", "tensorflow"),  # within a longer name
        ("npm", "zustand.js", "zustand"),
        ("npm", "nodesass", "node-sass"),
        ("npm", "types/node", "@types/node"),
        ("go", "github.com/stretchr-go/testify", "github.com/stretchr/testify"),
    ],
)  # fmt: skip
def test_a_misspelt_name_is_near(ecosystem: Ecosystem, name: str, popular: str) -> None:
    assert passes_for(ecosystem, name) == ("near", popular)


@pytest.mark.parametrize(
    ("ecosystem", "name"),
    [
        ("pypi", "acme-billing"),  # merely unknown
        ("pypi", "cats"),  # too short to be near
        ("pypi", "acme-flask"),
        ("pypi", "x" * 500),
        ("npm", "@acme/lodash-utils"),
        ("npm", "@types/acme"),  # only the owner of @types publishes there
        ("go", "github.com/stretchr/testifyy"),
        ("pypi", "\u0440\u0443"),
    ],
)
def test_another_name_is_not(ecosystem: Ecosystem, name: str) -> None:
    assert passes_for(ecosystem, name) is None


def test_digits_for_letters_are_meant_to_be_misread() -> None:
    assert passes_for("pypi", "dj4ngo") == ("confusable", "django")


def test_names_are_compared_as_the_registry_does() -> None:
    assert canonical("pypi", "Typing_Extensions") == canonical("pypi", "typing.extensions")
    assert canonical("cargo", "serde_json") == canonical("cargo", "serde-json")
    assert is_popular("go", "github.com/spf13/cobra/v2")


@given(st.sampled_from(LEADING), st.data())
def test_every_replaced_letter_of_a_leading_name_is_found(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name) - 1))
    other = name[:at] + data.draw(st.sampled_from(string.ascii_lowercase)) + name[at + 1 :]
    assert is_popular("pypi", other) or passes_for("pypi", other)


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_one_edit_is_the_same_seen_from_either_side(one: str, other: str) -> None:
    assert one_edit_apart(one, other) == one_edit_apart(other, one)
    assert one_edit_apart(one, one + "a")
