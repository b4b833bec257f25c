"""What counts as personal, what is an example's or a role's, and that masks hide all of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.text.personal import find_personal_spans, redact_personal
from schemas.verdict import Action, Category, Status
from tasks.gate.personal import find_personal
from tasks.gate.policy import plain
from tasks.gate.verdict import PERSONAL_CAVEAT, Rewrite, judge, judge_text
from tests.samples import a_draft, a_learning

DROP = plain("drop")

FOUND = {
    # Numbers with right check digits, made for this test or published by those who issue them as examples.
    "email": "Ask maria.lopez@shop-analytics.io for access.",
    "name": "Ask Maria Lopez <mlopez@shop-analytics.io> for access.",
    "iban": "Refunds go to GB29 NWBK 6016 1331 9268 19 by hand.",
    "card": "The staging card is 4917 3008 0000 0000 for now.",
    "us-ssn": "The fixture has 536-22-1234 in it.",
    "ca-sin": "The fixture has 123 456 782 in it.",
    "de-idnr": "Steuer-ID 86 095 742 719 im Testfall.",
    "es-nif": "El NIF 54362315K aparece en los datos.",
    "in-pan": "PAN ACUPA7085R is in the seed data.",
    "uk-nhs": "Patient 943 476 5870 is in the seed data.",
    "us-npi": "NPI 1234567893 is in the seed data.",
    "us-mbi": "MBI 1EG4-TE5-MK73 is in the seed data.",
    "passport": "Her passport number is 533380006 in the record.",
    "phone": "Call +49 30 901820 when the build fails.",
    "ip-address": "The build host is at 93.184.216.34 these days.",
    "mac-address": "Wake the runner at 00:1A:2B:3C:4D:5E first.",
    "wallet": "Tips go to 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2 as ever.",
}
NOBODYS = [
    "Write to security@shop-analytics.io, or as git@github.com:acme/shop.git.",
    "Use name@example.com and user@localhost in fixtures; noreply@anthropic.com signs commits.",
    "Pin react@18.2.0 and actions/checkout@v4; `@pytest.fixture` stays.",
    "The service listens on 127.0.0.1:8000, 0.0.0.0 and ::1; 192.0.2.7 and 2001:db8::1 are examples.",
    "Resolve by 8.8.8.8 or 1.1.1.1; nodes are in 10.0.0.0/8 and at 192.168.1.1.",
    "Version 1.2.3.4 needs ==2024.10.1.2, v10.20.30.40 too.",
    "Timestamps are 1712345678 and 1712345678901; the commit is 4917300.",
    "The test card 4242 4242 4242 4242 always works.",
    "std::vector and Abc::Def stay; the run took 12:30:45.",
    "Broadcast FF:FF:FF:FF:FF:FF is not answered.",
    "uuid 123e4567-e89b-12d3-a456-426614174000, sha256 e3b0c44298fc1c149afbf4c8996fb924.",
    "Run the shards 100 200 300 in order, then 2024-05-17 again.",
    "Ask Platform Team (see @acme/platform) on Monday.",
]


@pytest.mark.parametrize("rule", FOUND)
def test_what_tells_of_a_person_is_found_and_masked(rule: str) -> None:
    text = FOUND[rule]
    assert rule in {hit.rule for hit in find_personal(text)}
    masked = redact_personal(text)
    assert f"[masked:{rule}]" in masked.text
    assert find_personal_spans(masked.text) == ()


@pytest.mark.parametrize("text", NOBODYS)
def test_examples_roles_and_numbers_of_machines_are_nobodys(text: str) -> None:
    assert find_personal(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Ask maria.lopez\u200b@shop-analytics.io for access.",
        "Ask \uff4daria.lopez@shop-analytics.io for access.",
        "\u8bf7\u8054\u7cfb maria.lopez@shop-analytics.io\uff0c\u8c22\u8c22",
        'mail="maria.lopez@shop-analytics.io"',
    ],
    ids=["invisible", "fullwidth", "beside Chinese", "quoted"],
)
def test_an_address_that_hides_is_masked_in_the_original(text: str) -> None:
    assert "lopez" not in redact_personal(text).text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The wiki is at https://wiki.lan/build for all.", True),
        ("Log in at ci.build.corp first.", True),
        ("Use ssh alice@10.1.2.3 to look.", True),
        ("Containers reach host.docker.internal by name.", False),
        ("Copy .env.local and settings.local.json; import pkg.internal() is Go's.", False),
    ],
)
def test_internal_machines_are_named_in_a_caveat_and_stay(text: str, said: bool) -> None:
    verdict, kept = judge_text(text, DROP)
    rules = {finding.rule for finding in verdict.categories[Category.PERSONAL].findings}
    assert ("personal.internal-host" in rules) is said
    assert kept.startswith(text)


def test_a_memory_goes_on_without_the_person() -> None:
    answer = "Ask maria.lopez@shop-analytics.io for access to the staging cluster."
    outcome = judge(a_draft(answer=answer, example=None), a_learning(answer + "\n"), DROP)
    assert isinstance(outcome, Rewrite)
    assert outcome.draft.answer == "Ask [masked:email] for access to the staging cluster."
    assert outcome.draft.caveats == (PERSONAL_CAVEAT,)
    assert outcome.verdict.categories[Category.PERSONAL].status is Status.SAFE_WITH_CAVEATS
    assert "lopez" not in outcome.verdict.model_dump_json()


@given(st.text(max_size=200))
def test_any_text_is_read_and_masking_twice_changes_nothing(text: str) -> None:
    once = redact_personal(text)
    assert redact_personal(once.text).text == once.text


@given(st.text(alphabet="0123456789-. :+()@aAbB", max_size=300))
def test_numbers_without_end_and_sense_are_read(text: str) -> None:
    once = redact_personal(text)
    assert redact_personal(once.text).text == once.text


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["1 ", "12-", "a@a.", "A@", "1:", "aa:bb-", "GB29 ", "(1)", "Maria ", "1.2."])
def test_long_text_that_almost_hits_is_read_before_the_timeout(piece: str) -> None:
    masked = redact_personal(piece * 20_000).text  # a quadratic pattern would take hours
    assert find_personal_spans(masked) == ()


def test_verdicts_keep_the_action_for_harmless_text() -> None:
    assert judge_text("Run `make test` before you push.", DROP)[0].action is Action.PERSIST
