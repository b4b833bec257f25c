"""prefect.yaml deploys what there is."""

from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect import Flow
from prefect.client.schemas.schedules import CronSchedule

NAMES = ("ingest", "curate", "maintain", "snapshot")


@pytest.fixture(scope="module")
def deployments(checkout: Path) -> dict[str, dict[str, Any]]:
    found = yaml.safe_load((checkout / "prefect.yaml").read_text())["deployments"]
    return {one["name"]: one for one in found}


def test_every_flow_is_deployed_once(deployments: dict[str, dict[str, Any]]) -> None:
    assert tuple(deployments) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_deployment_names_a_flow_of_its_name_and_only_parameters_that_it_takes(
    name: str, deployments: dict[str, dict[str, Any]], checkout: Path
) -> None:
    path, _, function = deployments[name]["entrypoint"].partition(":")
    assert (checkout / path).is_file()
    flow = getattr(import_module(path.removesuffix(".py").replace("/", ".")), function)
    assert isinstance(flow, Flow)
    assert flow.name == name
    assert set(deployments[name]["parameters"]) <= set(signature(flow.fn).parameters)


@pytest.mark.parametrize("name", NAMES)
def test_a_deployment_has_a_schedule_that_prefect_understands_and_never_overlaps_itself(
    name: str, deployments: dict[str, dict[str, Any]]
) -> None:
    (schedule,) = deployments[name]["schedules"]
    assert CronSchedule(cron=schedule["cron"], timezone=schedule["timezone"]).cron
    assert deployments[name]["concurrency_limit"] == {"limit": 1, "collision_strategy": "ENQUEUE"}
