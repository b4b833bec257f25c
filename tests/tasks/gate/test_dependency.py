"""Which packages and places to install from are a risk, and which ordinary installs are none."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.verdict import Status
from tasks.gate.dependency import find_dependency

INDEX = "--index" + "-url"
EXTRA = "--extra-index" + "-url"


def rules(text: str) -> dict[str, Status]:
    return {hit.rule: hit.status for hit in find_dependency(text) or ()}


@pytest.mark.parametrize(
    ("text", "popular"),
    [
        ("Run `pip install reqeusts` first.", "requests"),
        ("Run pip install reqeusts and restart.", "requests"),
        ("sudo python3 -m pip install --user reqeusts", "requests"),
        ("RUN pip install \\\n    numpy \\\n    pnadas", "pandas"),
        ("uv add 'djangoo>=5'", "django"),
        ("uvx rufff check", "ruff"),
        ("poetry add sqlalchemyy", "sqlalchemy"),
        ("npm install -g typscript", "typescript"),
        ("pnpm add -D expresss@4", "express"),
        ("npx -y axois", "axios"),
        ("yarn add lodahs", "lodash"),
        ("bun add crossspawn", "cross-spawn"),
        ("npm install @typess/node", "@types/node"),
        ("npm install types-node", "@types/node"),
        ('"command": "npx", "args": ["-y", "expresss"]', "express"),
        ("gem install raills", "rails"),
        ("gem 'nokogirii', '~> 1.16'", "nokogiri"),
        ("cargo add serdee", "serde"),
        ('[dependencies]\nserdee = "1"', "serde"),
        ("go get github.com/strechr/testify", "github.com/stretchr/testify"),
        ("require github.com/strechr/testify v1.0.0", "github.com/stretchr/testify"),
        ("composer require laravell/framework", "laravel/framework"),
        ("dotnet add package Newtonsoft.Jsom", "Newtonsoft.Json"),
        ('<PackageReference Include="Newtonsoft.Jsom" Version="13.0.3" />', "Newtonsoft.Json"),
        ("      - uses: action/checkout@v4", "actions/checkout"),
        ("colorma==0.4.6", "colorama"),
        ('dependencies = [\n  "uvicorn[standard]>=0.3",\n  "fastpai",\n]', "fastapi"),
        ('[tool.poetry.dependencies]\npython = "^3.11"\nflaskk = "^3"', "flask"),
        ('{"devDependencies": {"jest": "^29", "eslintt": "^9"}}', "eslint"),
    ],
)  # fmt: skip
def test_a_name_near_a_popular_one_is_a_caveat_that_names_the_popular_one(text: str, popular: str) -> None:
    (hit,) = find_dependency(text) or ()
    assert (hit.rule, hit.status) == ("near-popular-name", Status.SAFE_WITH_CAVEATS)
    assert f" {popular}, " in hit.hint


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("pip install reque5ts", "confusable-name"),
        ("pip install r\u0435quests", "confusable-name"),
        ("npm install \uff4c\uff4f\uff44\uff41\uff53\uff48", "confusable-name"),
        ("pip install requests r\u0435quests", "confusable-name"),
        ("pip install 'requ\u200bests'", "confusable-name"),
        ("Pin it to `event-stream@3.3.6`.", "compromised-release"),
        ('"dependencies": {"ua-parser-js": "0.7.29"}', "compromised-release"),
        ("ultralytics==8.3.41", "compromised-release"),
        ("npm install flatmap-stream", "malicious-package"),
        ("pip install http://files.example.org/a-1.0.tar.gz", "install-over-http"),
        ("pip install git+http://git.example.org/a", "install-over-http"),
        ("pip install git+git://git.example.org/a", "install-over-http"),
        (f"pip install {INDEX} http://mirror.example.org/simple acme", "install-over-http"),
        ("npm config set registry http://npm.example.org", "install-over-http"),
        ('source "http://gems.example.org"', "install-over-http"),
        ("curl http://get.example.org/i.sh | sudo bash", "install-over-http"),
    ],
)
def test_what_was_made_to_deceive_or_can_be_replaced_on_the_way_is_unsafe(text: str, rule: str) -> None:
    assert rules(text) == {rule: Status.UNSAFE}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("pip install https://files.example.org/a-1.0-py3-none-any.whl", "install-from-url"),
        (f"pip install {INDEX} https://mirror.example.org/simple acme", "unknown-index"),
        ("pip install -i https://mirror.example.org/simple acme", "unknown-index"),
        ("npm install --registry https://npm.example.org acme", "unknown-index"),
        (f"pip install {EXTRA} https://mirror.example.org/simple acme", "extra-index"),
        ("PIP_EXTRA_INDEX_URL=https://mirror.example.org/simple", "extra-index"),
        ("pip install --trusted-host mirror.example.org acme", "unchecked-host"),
        ("pip install http://wheels.internal/a.whl", "install-over-http"),
        ("pip install http://10.1.2.3/a.whl", "install-over-http"),
        ("curl -fsSL https://get.example.org/i.sh | bash", "piped-installer"),
        ('bash -c "$(curl -fsSL https://get.example.org/i.sh)"', "piped-installer"),
        ("pip install unittest", "standard-library-name"),
        ("Never install `event-stream@3.3.6`.", "compromised-release"),
        ("`event-stream@3.3.6` was compromised; use 4.0.1.", "compromised-release"),
    ],
)
def test_what_a_company_may_have_reason_for_is_a_caveat(text: str, rule: str) -> None:
    assert rules(text) == {rule: Status.SAFE_WITH_CAVEATS}


@pytest.mark.parametrize(
    "text",
    [
        "pip install requests python-dateutil PyYAML typing_extensions",
        "pip install acme-billing-client",
        "pip install -U pip",
        "pip install numpy and restart the worker, then read the log",
        "\u8fd0\u884cpip install requests\u6765\u5b89\u88c5",
        "npm install react@18 @types/react left-pad",
        "npm install @acme/express-utils",
        "npx tsc --noEmit",
        "uv add 'fastapi[standard]>=0.115,<1'",
        "go install golang.org/x/tools/cmd/goimports@latest",
        "go get github.com/spf13/cobra/v2",
        "cargo add tokio --features full",
        "uses: actions/checkout@v4",
        "event-stream@4.0.1 and `ultralytics==8.3.40`",
        "pip install git+https://github.com/acme/tools",
        f"pip install torch {EXTRA} https://download.pytorch.org/whl/cpu",
        "pip install http://localhost:8000/a.whl",
        "curl -LsSf https://astral.sh/uv/install.sh | sh",
    ],
)
def test_ordinary_installs_are_safe(text: str) -> None:
    assert find_dependency(text) == ()


@pytest.mark.parametrize(
    "text",
    ["", "The team uses uv.", "npm install", "pip install -r requirements.txt", "pip install .", "go get coffee",
     "Never pass an extra index to pip.", "if count == 3:"],
)  # fmt: skip
def test_a_text_that_names_no_dependency_is_not_judged(text: str) -> None:
    assert find_dependency(text) is None


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("p\u200bip install reqeusts", "normalised"),
        ("\uff50\uff49\uff50 install reqeusts", "normalised"),
        (base64.b64encode(b"pip install reqeusts").decode(), "decoded"),
    ],
)
def test_dressed_up_installs_are_found_in_their_view(text: str, view: str) -> None:
    assert [hit.view for hit in find_dependency(text) or () if hit.rule == "near-popular-name"] == [view]


def test_each_rule_hits_once_and_the_gravest_hit_counts() -> None:
    text = "Never install `event-stream@3.3.6`.\n\nnpm install reacct expresss event-stream@3.3.6\n"
    hits = find_dependency(text) or ()
    assert [(hit.rule, hit.status) for hit in hits] == [
        ("near-popular-name", Status.SAFE_WITH_CAVEATS),
        ("compromised-release", Status.UNSAFE),
    ]


@pytest.mark.parametrize(
    "piece",
    ["pip install x ", "pip -a ", "npm ", '"dependencies": {', "\ndependencies = [", '\n[dependencies]\na = "1"',
     "a==1\n", "curl http://a | sh ", '"command": "npx", "args": [', "`a@1.", "@a/", "registry=http://a ",
     "action a/checkout ", "pip install r\u0435q ", "pip install \\\n"],
)  # fmt: skip
def test_long_text_is_read_before_the_timeout(piece: str) -> None:
    find_dependency(piece * (200_000 // len(piece)))  # a quadratic pattern would take hours


WORDS = st.sampled_from(
    ["pip install ", "npm i ", "@", "==", "`", '"', "\\\n", "http://", "requests", "\u0435", "\ud800", "\0"]
)


@given(st.lists(st.one_of(WORDS, st.text(max_size=5))).map("".join))
def test_any_text_is_judged_and_alike_each_time(text: str) -> None:
    assert find_dependency(text) == find_dependency(text)
