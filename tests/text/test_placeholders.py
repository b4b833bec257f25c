"""Stand-ins are told from values, and generated values from words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.text.placeholders import is_placeholder, looks_mixed, looks_random


@pytest.mark.parametrize(
    "value",
    ["AKIAIOSFODNN7EXAMPLE", "sk-my-key-goes-here", "<your-token>", "ghp_" + "x" * 36, "${GITHUB_TOKEN}", "$TOKEN",
     "$API_TOKEN/", "{{ secrets.TOKEN }}", "{token}", "[password]", "MY_API_TOKEN", "#add-password", "changeme",
     "********", "postgres", "[masked:github-pat]", "mysql://mysql:mysql@db/app", "https://user:$PASS@db",
     "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"],
)  # fmt: skip
def test_a_stand_in_is_a_placeholder(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    ["Tr0ub4dor&3", "hunter2hunter2", "pa$sW0rd", "$2y$10$T2EPWXcUCeyyHHasAjyfJk", "https://svc:Zk93hdQw21@db",
     "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"],
)  # fmt: skip
def test_a_value_is_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    ["a9f3k2l5m8q1w4e7r6t0", "665Hkj_12ABcd-eF34xW", "123e4567-e89b-12d3-a456-426614174000",
     "qZrTwYxKpLmNbVcGhJdF"],
)  # fmt: skip
def test_a_generated_value_looks_random(value: str) -> None:
    assert looks_random(value)


@pytest.mark.parametrize(
    "value",
    ["getAccessTokenFromRequestHeader", "refresh_token_rotation_v2", "skills/author-ui-components/SKILL.md",
     "us-east-1-2024-12-31", "11111111111111111111"],
)  # fmt: skip
def test_a_name_does_not_look_random(value: str) -> None:
    assert not looks_random(value)


@pytest.mark.parametrize(
    ("value", "mixed"),
    [("Passw0rd", True), ("mycoin!1", True), ("required", False), ("password1", False), ("user.password", False),
     ("hash(x1)", False), ("/home/user1", False), ("v1.2.3", False), ("https://a.b/c1", False)],
)  # fmt: skip
def test_a_password_is_told_from_a_word_a_name_and_an_expression(value: str, mixed: bool) -> None:
    assert looks_mixed(value) == mixed


@given(st.text())
def test_any_value_can_be_judged(value: str) -> None:
    assert {is_placeholder(value), looks_mixed(value), looks_random(value)} <= {True, False}
