"""Exit 1 with one line where the project can't run; silent elsewhere. Standard library, any python3 from 3.8.

The machines are those for which every dependency has a wheel: Linux with glibc on x86_64 or aarch64 and
macOS on arm64, with Python 3.11 to 3.13 and its venv module.
"""
# ruff: noqa: INP001  (a script that runs before anything is installed, no package)

from __future__ import annotations

import importlib.util
import os
import platform
import sys

SUPPORTED = {("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64")}
SAY = "supported: Linux with glibc on x86_64 or aarch64, macOS on arm64"


def problem(system: str, machine: str, libc: str, version: tuple[int, int], modules: list[str]) -> str:
    """What is in the way on such a machine, in one line, or an empty string.

    Args:
        system: as platform.system() says: Linux, Darwin, Windows.
        machine: as platform.machine() says: x86_64, aarch64, arm64.
        libc: `glibc`, or an empty string where the C library does not say so.
        version: major and minor version of Python.
        modules: which of venv and ensurepip this Python has (Debian packages them apart).
    """
    if (system, machine) not in SUPPORTED:
        return f"orgmem does not run on {system} {machine}; {SAY}"
    if system == "Linux" and libc != "glibc":
        return f"orgmem needs glibc and this system has another C library (musl?); {SAY}"
    if not (3, 11) <= version <= (3, 13):
        have = ".".join(map(str, version))
        return f"orgmem needs Python 3.11 to 3.13, not {have}; name another: make PYTHON=python3.12 demo"
    for module in ("venv", "ensurepip"):
        if module not in modules:
            return f"this Python has no {module} module; install it (Debian: apt install python3-venv)"
    return ""


def libc_name() -> str:
    """`glibc` where the C library says so itself, else an empty string."""
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")[0]
    except (AttributeError, ValueError, OSError):  # not Unix, or a C library that does not know the name
        return ""


def main() -> None:
    """Look at this machine and this Python."""
    modules = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name)]
    line = problem(platform.system(), platform.machine(), libc_name(), sys.version_info[:2], modules)
    if line:
        sys.exit(line)


if __name__ == "__main__":
    main()
