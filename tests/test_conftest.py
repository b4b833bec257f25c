"""The ground of the tests holds: blocked sockets, one shared Prefect server, settings of our own."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import prefect
import pytest
from pytest_socket import SocketConnectBlockedError

from orgmem.settings import Settings


@prefect.task
async def double(number: int) -> int:
    return 2 * number


@prefect.flow(flow_run_name="doubled-once")
async def doubled(number: int) -> int:
    return await double(number)


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_a_connection_to_another_machine_is_refused() -> None:
    with socket.socket() as outside, pytest.raises(SocketConnectBlockedError):
        outside.connect(("192.0.2.1", 80))


def test_a_connection_to_this_machine_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


def test_settings_lie_in_the_folder_of_the_test(settings: Settings, tmp_path: Path) -> None:
    assert settings.root.is_relative_to(tmp_path)


def test_libraries_keep_their_state_away_from_the_users_home() -> None:
    assert not Path(os.environ["PREFECT_HOME"]).is_relative_to(Path.home())


async def test_a_flow_runs_on_the_shared_server(prefect_server: str) -> None:
    assert await doubled(21) == 42
    async with prefect.get_client() as client:
        assert str(client.api_url).rstrip("/") == prefect_server.rstrip("/")
        runs = await client.read_flow_runs()
    assert [run.state_name for run in runs if run.name == "doubled-once"] == ["Completed"]


def test_a_process_of_a_test_sees_the_shared_server(prefect_server: str) -> None:
    program = "import prefect.settings as s; print(s.PREFECT_API_URL.value())"
    run = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.strip() == prefect_server
