"""What a policy file can say, and what the gate makes of it."""

import hashlib
from datetime import date
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.errors import ConfigurationError
from schemas.verdict import Action, Category, CategoryVerdict, Finding, Status
from tasks.gate.hit import Hit
from tasks.gate.policy import Policy, apply, policy_for, tolerant
from tasks.gate.policy_file import PolicyFile, read_policy
from tasks.gate.verdict import judge_text

TODAY = date(2027, 1, 15)
FINDING = (Finding(rule="any.rule", hint="Look at it."),)
UNSAFE = CategoryVerdict(status=Status.UNSAFE, findings=FINDING)
CAVEAT = CategoryVerdict(status=Status.SAFE_WITH_CAVEATS, findings=FINDING)
SAFE = CategoryVerdict(status=Status.SAFE)
VERDICTS = {"unsafe": UNSAFE, "caveat": CAVEAT, "safe": SAFE}
BUILD = """
[[allow]]
rule = "workflow.delete"
literal = "rm -rf build"
reason = "Our own build folder."
expires = 2027-01-15
"""


@pytest.fixture
def read(tmp_path: Path) -> "Reader":
    return Reader(tmp_path / "policy.toml")


class Reader:
    """Writes a policy file and reads it back."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, text: str) -> PolicyFile:
        self.path.write_text(text)
        return read_policy(self.path)


def actions(policy: Policy, **statuses: str) -> Action:
    """What follows for categories of these statuses."""
    return apply(policy, {Category(name): VERDICTS[one] for name, one in statuses.items()}, 0).action


def find_deletes(text: str) -> tuple[Hit, ...] | None:
    """A check that finds each `rm -rf`."""
    return (Hit("delete", "Say what is deleted."),) if "rm -rf" in text else None


@pytest.mark.parametrize("on_unsafe", ["drop", "quarantine"])
def test_without_a_file_the_setting_decides(on_unsafe: Literal["drop", "quarantine"]) -> None:
    policy = policy_for(PolicyFile(), "default", TODAY, on_unsafe)
    assert actions(policy, workflow="unsafe", code="caveat") == on_unsafe
    assert actions(policy, workflow="caveat", code="safe") is Action.REWRITE
    assert actions(policy, workflow="safe", code="safe") is Action.PERSIST
    assert actions(policy, grounding="unsafe") is Action.DROP
    assert actions(policy, grounding="unsafe", injection="unsafe") == on_unsafe
    assert policy.ruleset("rules_1") == "rules_1"


def test_what_was_masked_is_rewritten_whatever_the_categories_say() -> None:
    assert apply(policy_for(PolicyFile(), "default", TODAY), {Category.SECRETS: SAFE}, 1).action is Action.REWRITE


SECTIONS = """
on_unsafe = "quarantine"
[categories.workflow]
on_unsafe = "rewrite"
[categories.code]
on_caveat = "quarantine"
[categories.personal]
enabled = false
[tenants.payments]
on_unsafe = "drop"
[tenants.payments.categories.personal]
enabled = true
on_caveat = "drop"
"""


@pytest.mark.parametrize(
    ("tenant", "statuses", "action"),
    [
        ("shop", {"dependency": "unsafe"}, "quarantine"),
        ("shop", {"workflow": "unsafe"}, "rewrite"),
        ("shop", {"workflow": "unsafe", "dependency": "unsafe"}, "quarantine"),
        ("shop", {"code": "caveat"}, "quarantine"),
        ("shop", {"personal": "unsafe"}, "persist"),
        ("payments", {"dependency": "unsafe"}, "drop"),
        ("payments", {"workflow": "unsafe"}, "drop"),
        ("payments", {"code": "caveat"}, "quarantine"),
        ("payments", {"personal": "caveat"}, "drop"),
    ],
    ids=lambda value: "-".join(f"{k}-{v}" for k, v in value.items()) if isinstance(value, dict) else value,
)
def test_the_strongest_section_that_speaks_of_it_decides(
    read: Reader, tenant: str, statuses: dict[str, str], action: str
) -> None:
    assert actions(policy_for(read(SECTIONS), tenant, TODAY), **statuses) == action


def test_an_unsafe_finding_that_is_kept_is_a_caveat_and_one_that_is_not_looked_at_is_none(read: Reader) -> None:
    policy = policy_for(read(SECTIONS), "shop", TODAY)
    found = apply(policy, {Category.WORKFLOW: UNSAFE, Category.PERSONAL: UNSAFE}, 0).categories
    assert found[Category.WORKFLOW] == CAVEAT
    assert found[Category.PERSONAL] == CategoryVerdict(status=Status.NOT_APPLICABLE)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Run `rm -rf build` first.", False),
        ("Run rm -rf build.", False),
        ("rm -rf build; make\nrm -rf build", False),
        ("Run `rm -rf build` and `rm -rf ~`.", True),
        ("rm -rf build/../..", True),
        ("rm -rf build.d", True),
        ("rm -rf builder", True),
        ("xrm -rf build", True),
        ("rm -rf\u200b build", True),
    ],
    ids=["quoted", "before a full stop", "twice", "beside another", "a path below", "a longer name",
         "a longer word", "another program", "written another way"],
)  # fmt: skip
def test_an_exception_spares_its_value_where_it_stands_by_itself(read: Reader, text: str, found: bool) -> None:
    policy = policy_for(read(BUILD), "default", TODAY)
    assert bool(tolerant(find_deletes, Category.WORKFLOW, policy)(text)) is found
    assert find_deletes(text)
    assert tolerant(find_deletes, Category.CODE, policy)(text) == find_deletes(text)


@pytest.mark.parametrize("text", ["{}", "'{}'", "Ask {}.", "mail={}", "<{}>", "[it]({}), later"])
def test_an_exception_by_hash_spares_a_value_that_it_does_not_show(read: Reader, text: str) -> None:
    value = "Ada@Example.org"
    sha256 = hashlib.sha256(value.encode()).hexdigest()
    entry = BUILD.replace('literal = "rm -rf build"', f'sha256 = "{sha256}"')
    policy = policy_for(read(entry.replace("workflow.delete", "personal.email")), "default", TODAY)

    def find_mail(text: str) -> tuple[Hit, ...] | None:
        return (Hit("email", "Name a role."),) if "@" in text else ()

    check = tolerant(find_mail, Category.PERSONAL, policy)
    assert check(text.format(value)) == ()
    assert check(text.format(value.lower())) == find_mail("@")
    assert check(text.format(f"x{value}")) == find_mail("@")
    assert policy.spares("personal.email", value)
    assert not policy.spares("personal.phone", value)


def test_an_exception_holds_up_to_its_last_day_and_is_then_named(read: Reader) -> None:
    file = read(BUILD)
    last, after = date(2027, 1, 15), date(2027, 1, 16)
    assert policy_for(file, "default", last).allowed == file.allow
    assert policy_for(file, "default", after).allowed == ()
    assert file.expired(last) == ()
    (line,) = file.expired(after)
    assert line.startswith("policy: the exception for workflow.delete ended on 2027-01-15 (Our own build folder.)")


def test_an_exception_of_a_tenant_is_no_other_ones(read: Reader) -> None:
    file = read(f'{BUILD}tenant = "payments"\n')
    assert policy_for(file, "payments", TODAY).allowed
    assert not policy_for(file, "shop", TODAY).allowed


def test_the_rule_set_changes_with_what_the_policy_says_and_not_with_its_words(read: Reader) -> None:
    def ruleset(text: str, tenant: str = "default", today: date = TODAY) -> str:
        return policy_for(read(text), tenant, today).ruleset("rules_1")

    plain = ruleset(BUILD)
    assert plain.startswith("rules_")
    assert ruleset(BUILD.replace("Our own", "A local")) == plain
    others = {
        ruleset(""),
        ruleset(BUILD.replace("build", "dist")),
        ruleset(SECTIONS),
        ruleset(SECTIONS, "payments"),
        ruleset(SECTIONS + BUILD),
    }
    assert len(others) == 5
    assert plain not in others
    assert ruleset(BUILD, today=date(2028, 1, 1)) == ruleset("") == "rules_1"


def entry(**changed: str) -> str:
    """An exception with some of its lines changed; an empty value leaves the line out."""
    lines = {"rule": '"code.B102"', "literal": '"exec(plan)"', "reason": '"Ours."', "expires": "2027-06-30"}
    return "[[allow]]\n" + "".join(f"{key} = {value}\n" for key, value in (lines | changed).items() if value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("on_unsafe = ", "is not TOML"),
        ('on_unsafe = "rewrite"', "on_unsafe: Input should be 'drop' or 'quarantine'"),
        ("onunsafe = 1", "onunsafe: Extra inputs"),
        ("[categories.weather]", "categories.weather"),
        ("[categories.secrets]\nenabled = false", "can't be switched off"),
        ('[categories.injection]\non_unsafe = "rewrite"', "no caveat makes it safe"),
        ('[tenants.a.categories.secrets]\non_unsafe = "rewrite"', "tenants.a: secrets: no caveat"),
        ('[categories.grounding]\non_unsafe = "quarantine"', "grounding: what is not grounded is dropped"),
        (entry(reason=""), "allow.1.reason: Field required"),
        (entry(reason='"  "'), "allow.1.reason: must say something"),
        (entry(expires=""), "allow.1.expires: Field required"),
        (entry(expires='"2027-06-30"'), "allow.1.expires: must be a date"),
        (entry(expires="2027-06-30T10:00:00"), "allow.1.expires: must be a date"),
        (entry(literal=""), "allow.1: needs either literal or sha256"),
        (entry(sha256=f'"{"a" * 64}"'), "allow.1: needs either literal or sha256"),
        (entry(literal="", sha256='"abc"'), "allow.1.sha256: String should match"),
        (entry(literal='"rm"'), "allow.1.literal: String should have at least 4"),
        (entry(rule='"B102"'), "allow.1.rule: must be category.rule"),
        (entry(rule='"grounding.path"'), "grounding has no exceptions"),
    ],
    ids=lambda value: value.replace("\n", " ")[:40],
)  # fmt: skip
def test_what_a_policy_cannot_say_is_one_line_with_the_key(read: Reader, text: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    assert problem in caught.value.message
    assert "\n" not in caught.value.message
    assert "exec(plan)" not in caught.value.message


def test_a_policy_that_is_not_there_or_no_text_is_a_configuration_error(tmp_path: Path) -> None:
    binary, long = tmp_path / "binary.toml", tmp_path / "long.toml"
    binary.write_bytes(b"\xff\xfe")
    long.write_text("#" * 1_048_577)
    for path in (tmp_path / "none.toml", tmp_path, binary, long):
        with pytest.raises(ConfigurationError, match=str(path)):
            read_policy(path)


some_rules = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.booleans(),
        "on_unsafe": st.sampled_from(["drop", "quarantine", "rewrite"]),
        "on_caveat": st.sampled_from(["rewrite", "quarantine", "drop"]),
    },
)
some_categories = st.dictionaries(st.sampled_from(["code", "workflow", "personal"]), some_rules)
some_verdicts = st.dictionaries(st.sampled_from(list(Category)), st.sampled_from([UNSAFE, CAVEAT, SAFE]))


@given(some_categories, some_categories, some_verdicts, st.integers(0, 1))
def test_nothing_that_a_policy_leaves_unsafe_is_kept_and_nothing_found_is_kept_without_a_caveat(
    whole: dict[str, object], tenants: dict[str, object], verdicts: dict[Category, CategoryVerdict], masked: int
) -> None:
    file = PolicyFile.model_validate({"categories": whole, "tenants": {"a": {"categories": tenants}}})
    ruled = apply(policy_for(file, "a", TODAY), verdicts, masked)
    statuses = {one.status for one in ruled.categories.values()}
    assert set(ruled.categories) == set(verdicts)
    if Status.UNSAFE in statuses:
        assert ruled.action in {Action.DROP, Action.QUARANTINE}
    elif masked or any(one.findings for one in ruled.categories.values()):
        assert ruled.action is not Action.PERSIST
    else:
        assert ruled.action is Action.PERSIST


@given(st.text(max_size=200), st.text(min_size=4, max_size=12))
def test_sparing_a_value_never_breaks_and_never_finds_more(text: str, value: str) -> None:
    entry = {"rule": "workflow.delete", "literal": value, "reason": "Ours.", "expires": TODAY}
    hashed = {**entry, "sha256": hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()}
    del hashed["literal"]
    policy = policy_for(PolicyFile.model_validate({"allow": (entry, hashed)}), "default", TODAY)
    whole = f"{text} {value} rm -rf {text}"
    spared = tolerant(find_deletes, Category.WORKFLOW, policy)(whole)
    assert set(spared or ()) <= set(find_deletes(whole) or ())


def test_an_exception_for_a_persons_address_leaves_it_where_it_stands() -> None:
    text = "Ask maria.lopez@shop-analytics.io or paul.brun@shop-analytics.io for access."
    told = {"rule": "personal.email", "literal": "maria.lopez@shop-analytics.io", "reason": "The maintainer."}
    file = PolicyFile.model_validate({"allow": [{**told, "expires": date(2027, 6, 30)}]})
    verdict, kept = judge_text(text, policy_for(file, "default", date(2027, 1, 1)))
    assert kept == "Ask maria.lopez@shop-analytics.io or [masked:email] for access."
    assert verdict.redactions == 1
    assert judge_text(text, policy_for(file, "default", date(2027, 7, 1)))[0].redactions == 2


def test_a_category_that_is_switched_off_masks_nothing() -> None:
    file = PolicyFile.model_validate({"categories": {"personal": {"enabled": False}}})
    verdict, kept = judge_text("Ask maria.lopez@shop-analytics.io.", policy_for(file, "default", date(2027, 1, 1)))
    assert (verdict.action, kept) == (Action.PERSIST, "Ask maria.lopez@shop-analytics.io.")
