"""Each rule of our own finds what it is for, leaves its like alone, and takes linear time."""

import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.text.secret_rules import Rule, find_values, rules
from orgmem.text.secrets import find_secrets

FORMATS = [rule for rule in rules() if not rule.any_case]
LOOK_AROUND = re.compile(r"\(\?<?!\[A-Za-z0-9\]\)|\(\?=[^)]*\)")


@cache
def tokens(rule: Rule) -> st.SearchStrategy[str]:
    """Tokens of the rule's format."""
    return st.from_regex(re.compile(LOOK_AROUND.sub("", rule.source), re.ASCII), fullmatch=True)


@given(st.data(), st.sampled_from(FORMATS))
def test_a_token_of_a_format_is_found_whole_even_beside_chinese_text(data: st.DataObject, rule: Rule) -> None:
    token = data.draw(tokens(rule))
    text = f"\u5bc6\u94a5{token}\u662f"
    assert (rule, 2, 2 + len(token)) in list(find_values(text))


def test_every_rule_has_its_own_name_and_a_short_text_to_look_for() -> None:
    names = [rule.id for rule in rules()]
    assert len(names) == len(set(names))
    assert all(rule.needs and all(rule.needs) for rule in rules())
    assert all(need == need.lower() for rule in rules() if rule.any_case for need in rule.needs)
    assert all(rule.value in {"any", "mixed", "random"} and "value" in rule.pattern.groupindex for rule in rules())


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The password for the staging database is hunter2hunter2.", "hunter2hunter2"),
        ("The password is 'Secret123', ask Ann.", "Secret123"),
        ("Log in with admin / Sup3rS3cret!", "Sup3rS3cret!"),
        ("Log in with user `deploy` and password `k8sRocks!99`", "k8sRocks!99"),
        ("Sign in as qa@acme.test / Welcome#2024", "Welcome#2024"),
        ("user: admin, password: Tr0ub4dor&3", "Tr0ub4dor&3"),
        ('The pass phrase is "correct horse battery staple".', "correct horse battery staple"),
        ("\u5bc6\u7801\u662fhunter2hunter2\u3002", "hunter2hunter2"),
        ("Driver={ODBC};Server=db,1433;Uid=sa;Pwd=Zk93-hdQ!w21;Encrypt=yes;", "Zk93-hdQ!w21"),
        ("machine api.acme.test login svc password Zk93hdQw21", "Zk93hdQw21"),
        (
            "//npm.acme.test/:_authToken=0a1b2c3d-1111-2222-3333-444455556666",
            "0a1b2c3d-1111-2222-3333-444455556666",
        ),
        ('{"auths": {"ghcr.io": {"auth": "c3ZjOlprOTNoZFF3MjE="}}}', "c3ZjOlprOTNoZFF3MjE="),
        ("https://api.acme.test/v1?token=Zk93hdQw21Lp0s8sKd", "Zk93hdQw21Lp0s8sKd"),
        ("https://Zk93hdQw21Lp0s8sKdQ1@git.acme.test/x.git", "Zk93hdQw21Lp0s8sKdQ1"),
        ("sshpass -p 'Zk93hdQw21' ssh root@build", "Zk93hdQw21"),
        ("mysql -uroot -pZk93hdQw21 app", "Zk93hdQw21"),
        ("docker login -u svc -p Zk93hdQw21 ghcr.io", "Zk93hdQw21"),
        ("deploy --token Zk93hdQw21 now", "Zk93hdQw21"),
        ("<smtp:Password>Tr0ub4dor&3</smtp:Password>", "Tr0ub4dor&3"),
        ('new NetworkCredential("svc", "AP7JaG9ToerxBc6g")', "AP7JaG9ToerxBc6g"),
        ("requests.get(url, auth=('svc', 'Tr0ub4dor&3'))", "Tr0ub4dor&3"),
        ("if password == 'Tr0ub4dor&3':", "Tr0ub4dor&3"),
        ("The acme token is a9f3k2l5m8q1w4e7r6t0.", "a9f3k2l5m8q1w4e7r6t0"),
        ('"token3": "acme-1234-4ddbc191d40ee098cbaa".', "acme-1234-4ddbc191d40ee098cbaa"),
        ("Authorization: Basic c3ZjOlprOTNoZFF3MjE=", "c3ZjOlprOTNoZFF3MjE="),
        ("acme-access-4d9f1e2b6ac3fd80e162b12f8a9c45f1", "4d9f1e2b6ac3fd80e162b12f8a9c45f1"),
    ],
)
def test_a_secret_is_known_by_what_stands_around_it(text: str, secret: str) -> None:
    assert [text[span.start : span.end] for span in find_secrets(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "The password is required and must be at least 12 characters.",
        "Set PASSWORD=<your-password> first.",
        "llm --key sk-my-key-goes-here",
        "password = hash_password(user.password)",
        "Log in with OAuth2 / OIDC, or with `gh auth login`.",
        "Credentials: see docs/auth.md, then sign in as the default user of README2.md.",
        'curl -u "$USER:$PASS" https://api.acme.test',
        "curl -u <user>:<token> https://api.acme.test",
        "machine api.acme.test login USER password PASS",
        "//npm.acme.test/:_authToken=${NPM_TOKEN}",
        "https://api.acme.test/v1?token={token}&key=API_KEY_NAME",
        "Server=db;User Id=sa;Password=${DB_PASSWORD};",
        "export OP_SERVICE_ACCOUNT_TOKEN=ops_eyJzaWduSW5BZGRyZXNzIjoiaHR0cHM6...",
        "if (error.password === 'required') return;",
        'The pass phrase rule "do not use this anywhere" is old.',
        "this.addPassword = '#add-password';",
        "The refresh_token_rotation_v2 flag is on; the access token expires after 3600 s.",
        "password_encryption = 'scram-sha-256'",
        "`author-ui-components` at `.agents/skills/author-ui-components/SKILL.md`",
        "mongodb://mongodb:mongodb@localhost:27017/app",
        "PWD=/srv/app1 and api = FastAPI2Application",
    ],
)
def test_what_only_speaks_of_secrets_is_left_alone(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.timeout(60)  # linear: seconds at worst; quadratic: hours
@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_a_long_text_of_what_a_rule_needs_is_read_before_the_timeout(rule: Rule) -> None:
    for need in rule.needs:
        for filler in ("", "a", " ", ":a:"):
            text = (need + filler) * (30_000 // len(need + filler))
            assert len(list(rule.values(text, text, need))) <= len(text)
