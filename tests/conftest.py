"""What every test stands on: no network but loopback, a clean environment, data in a temporary folder."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from orgmem.settings import PREFIX, Settings, quiet_libraries

hypothesis.settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=60, print_blob=True
)
hypothesis.settings.register_profile("deep", deadline=None, max_examples=2_000)  # --hypothesis-profile=deep
hypothesis.settings.load_profile("ci")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before pytest-socket reads its options, and before any library picks a folder for its state."""
    config.option.allow_hosts = "127.0.0.1,::1"
    config.option.allow_unix_socket = True
    scratch = tempfile.TemporaryDirectory(prefix="orgmem-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(scratch.cleanup)
    for name in [name for name in os.environ if name.startswith(("ORGMEM_", "PREFECT_", "DLT_"))]:
        del os.environ[name]
    quiet_libraries(Settings(home=Path(scratch.name)))


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith(PREFIX)]:
        monkeypatch.delenv(name)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Defaults, with the data in this test's own folder. Variants: `settings.model_copy(update=...)`."""
    return Settings(home=tmp_path / "home")


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root folder of the source tree."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[str]:
    """One real Prefect server for the session, and its API's URL. Costs about 10 s, once, if asked for.

    Flows of this process use it, and so do processes that a test starts (PREFECT_API_URL).
    """
    from prefect.settings import PREFECT_API_URL
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=120), pytest.MonkeyPatch.context() as environment:
        url = str(PREFECT_API_URL.value())
        environment.setenv("PREFECT_API_URL", url)
        yield url
