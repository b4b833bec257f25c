"""The check before set-up stops unsupported machines with one line, and says nothing elsewhere."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BOTH = ["venv", "ensurepip"]


@pytest.fixture(scope="module")
def check(checkout: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("platform_check", checkout / "tools" / "platform_check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("system", "machine", "libc", "version"),
    [
        ("Linux", "x86_64", "glibc", (3, 11)),
        ("Linux", "aarch64", "glibc", (3, 12)),
        ("Darwin", "arm64", "", (3, 13)),
    ],
)
def test_supported_machines_pass(
    check: ModuleType, system: str, machine: str, libc: str, version: tuple[int, int]
) -> None:
    assert check.problem(system, machine, libc, version, BOTH) == ""


@pytest.mark.parametrize(
    ("system", "machine", "libc", "version", "modules", "says"),
    [
        ("Windows", "AMD64", "", (3, 12), BOTH, "Windows AMD64"),
        ("Darwin", "x86_64", "", (3, 12), BOTH, "Darwin x86_64"),
        ("Linux", "riscv64", "glibc", (3, 12), BOTH, "riscv64"),
        ("Linux", "x86_64", "", (3, 12), BOTH, "musl"),
        ("Linux", "x86_64", "glibc", (3, 10), BOTH, "not 3.10"),
        ("Linux", "x86_64", "glibc", (3, 14), BOTH, "not 3.14"),
        ("Linux", "x86_64", "glibc", (3, 12), ["ensurepip"], "no venv"),
        ("Linux", "x86_64", "glibc", (3, 12), ["venv"], "no ensurepip"),
    ],
)
def test_unsupported_machines_get_one_line_that_names_the_reason(
    check: ModuleType,
    system: str,
    machine: str,
    libc: str,
    version: tuple[int, int],
    modules: list[str],
    says: str,
) -> None:
    line = check.problem(system, machine, libc, version, modules)
    assert says in line
    assert "\n" not in line


def test_the_script_is_silent_on_this_machine(checkout: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-I", str(checkout / "tools" / "platform_check.py")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_script_exits_1_with_its_line_when_something_is_in_the_way(checkout: Path) -> None:
    program = (
        "import platform, runpy; platform.system = lambda: 'Windows'; "
        f"runpy.run_path({str(checkout / 'tools' / 'platform_check.py')!r}, run_name='__main__')"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 1
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1


def test_the_script_is_written_in_the_grammar_of_python_3_8(checkout: Path) -> None:
    source = (checkout / "tools" / "platform_check.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))
