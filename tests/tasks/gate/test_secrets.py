"""The gate's check of secrets: caveats for what is masked, unsafe where nothing else is said."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.verdict import Status
from tasks.gate.hit import Hit
from tasks.gate.parts import Part
from tasks.gate.secrets import HINT, check_secrets, find_secrets

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_each_rule_hits_once_in_the_view_of_its_first_place() -> None:
    text = f"First {TOKEN[:9]}\u200b{TOKEN[9:]}, then {TOKEN}; the password is hunter2hunter2."
    assert find_secrets(text) == (
        Hit("github-pat", HINT, "normalised", Status.SAFE_WITH_CAVEATS),
        Hit("password-in-prose", HINT, "plain", Status.SAFE_WITH_CAVEATS),
    )


def test_a_masked_answer_that_still_says_something_is_kept_with_a_caveat() -> None:
    verdict = check_secrets(
        [Part("answer", f"Deploy with make release and {TOKEN}; then tag.")], "Deploy with make release; then tag."
    )
    assert verdict.status is Status.SAFE_WITH_CAVEATS
    assert [(finding.rule, finding.field) for finding in verdict.findings] == [("secrets.github-pat", "answer")]


def test_an_answer_that_is_little_but_its_secret_is_unsafe() -> None:
    verdict = check_secrets([Part("answer", f"The token is {TOKEN}.")], "The token is [masked:github-pat].")
    assert verdict.status is Status.UNSAFE
    assert verdict.findings[-1].rule == "secrets.nothing-left"


def test_text_without_secrets_is_safe_however_little_it_says() -> None:
    assert check_secrets([Part("answer", "Run make.")], "Run make.").status is Status.SAFE


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_checked(text: str) -> None:
    assert all(TOKEN not in hit.hint for hit in find_secrets(text))
