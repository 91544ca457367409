"""The image, ``compose.yaml`` and the manifests of Kubernetes: of the right form, and of one mind with the code."""

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from daemon.config import Config
from daemon.config.config_keys import all_keys
from daemon.config.environment import variable_of
from daemon.run import LAST_S
from daemon.services import ROLES
from tests.deploy.documents import documents

pytestmark = pytest.mark.deploy

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
HEALTH_PORT = 9464
STOP_S = Config().run.grace_s + LAST_S  # after that a process has ended by itself
NAMES = {"bots": ("pond",), "channels": ("telegram", "web")}


def known_variable(name: str) -> bool:
    return name == "MILLPOND_CONFIG" or name in {variable_of(key) for key in all_keys(NAMES)}


def role_of(command: list[str]) -> str:
    """The role that ``millpond <command>`` runs."""
    assert command[:2] == ["run", "--role"] and len(command) == 3, command
    return command[2]


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile: instruction and its words."""
    text = (DEPLOY / "Dockerfile").read_text()
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in joined.splitlines() if line.strip()]


def test_the_image_runs_as_nobody_in_particular_and_says_whether_it_lives() -> None:
    found = instructions()
    last = dict(found[max(place for place, (word, _) in enumerate(found) if word == "FROM") :])

    assert [word for word, _ in found].count("FROM") == 2
    assert re.fullmatch(r"3\.\d+-slim-\w+", dict(found)["ARG"].removeprefix("PYTHON=")), "a version, not the newest"
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last["USER"])
    assert f"http://127.0.0.1:{HEALTH_PORT}/livez" in last["HEALTHCHECK"]
    assert f"MILLPOND_HEALTH__PORT={HEALTH_PORT}" in last["ENV"]
    assert last["ENTRYPOINT"] == '["millpond"]'
    names = [word.partition("=")[0] for word in shlex.split(last["ENV"])]
    assert all(known_variable(name) for name in names if name.startswith("MILLPOND"))


def taken() -> Iterator[Path]:
    rules = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    wanted = [rule.removeprefix("!") for rule in rules if rule.startswith("!")]
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if any(name == each or name.startswith(f"{each}/") for each in wanted):
            yield Path(name)


def test_nothing_secret_and_nothing_needless_goes_into_the_image() -> None:
    names = {path.as_posix() for path in taken()}

    assert {"pyproject.toml", "requirements/run.txt", "daemon/run.py", "deploy/slack/manifest.yaml"} <= names
    for pattern in ("tests/*", "deploy/secrets*", ".git/*", "*.token", "*.key"):
        assert not [name for name in names if fnmatch(name, pattern)]


@pytest.mark.timeout(300)
def test_what_the_image_is_built_of_is_enough_for_the_wheel(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for path in taken():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path)

    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(source)]
    subprocess.run(build, check=True, capture_output=True, timeout=240)

    [wheel] = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "millpond.py",
        "daemon/run.py",
        "daemon/bus/lua/publish.lua",
        "daemon/setup/platforms/slack_manifest.yaml",
    } <= packed


@pytest.fixture(scope="module")
def compose() -> Any:
    [document] = documents(DEPLOY / "compose.yaml")
    return document


def of_millpond(compose: Any) -> dict[str, Any]:
    """The services that run without anybody asking for them."""
    ours = {name: service for name, service in compose["services"].items() if service["image"] == "millpond"}
    return {name: service for name, service in ours.items() if "profiles" not in service}


def test_compose_has_the_form_of_its_specification(compose: Any) -> None:
    from check_jsonschema.builtin_schemas import get_builtin_schema

    validator = Draft202012Validator(get_builtin_schema("vendor.compose-spec"))

    assert [f"{list(error.path)}: {error.message}" for error in validator.iter_errors(compose)] == []
    assert list(validator.iter_errors({"services": {"web": {"imgae": "x"}}})), "a mistake would be seen"


def test_compose_runs_every_role(compose: Any) -> None:
    services = of_millpond(compose)

    assert {role_of(service["command"]) for service in services.values()} == set(ROLES)
    assert services["agent"]["deploy"]["replicas"] >= 2
    for name, service in services.items():
        assert seconds(service["stop_grace_period"]) >= STOP_S + 5, name
        assert all(known_variable(variable) for variable in service["environment"]), name


def test_compose_shows_secrets_to_nobody_but_by_file(compose: Any) -> None:
    declared = compose["secrets"]

    assert all(set(secret) == {"file"} for secret in declared.values())
    for name, service in compose["services"].items():
        assert not re.search(
            "password|token|secret|_key", str(service.get("environment", "")).replace("/secrets/", "")
        ), name
        assert {each["source"] for each in service.get("secrets", ())} <= set(declared)
        assert {each["source"] for each in service.get("configs", ())} <= set(compose["configs"])
    for config in compose["configs"].values():
        assert (DEPLOY / config["file"]).is_file()


def test_compose_locks_every_container_and_shows_nothing_outside(compose: Any) -> None:
    for name, service in compose["services"].items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
    for name in (*of_millpond(compose), "server"):
        service = compose["services"][name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    assert compose["services"]["server"]["networks"] == ["inside"]
    assert compose["networks"]["inside"] == {"internal": True}
    assert compose["services"]["server"]["volumes"] == ["server:/data"]


def test_prometheus_asks_every_process_where_it_answers(compose: Any) -> None:
    [config] = documents(DEPLOY / "prometheus" / "prometheus.yaml")
    [job] = config["scrape_configs"]
    [found] = job["dns_sd_configs"]

    assert set(found["names"]) == set(of_millpond(compose))
    assert found["port"] == HEALTH_PORT
    assert all(
        service["environment"]["MILLPOND_HEALTH__HOST"] == "0.0.0.0" for service in of_millpond(compose).values()
    )
    mounted = {each["source"]: each["target"] for each in compose["services"]["prometheus"]["configs"]}
    assert [Path(mounted["alerts"]).name] == config["rule_files"]


def seconds(text: str) -> float:
    assert text.endswith("s")
    return float(text.removesuffix("s"))


def objects(kind: str) -> dict[str, Any]:
    return {each["metadata"]["name"]: each for path in KUBERNETES for each in documents(path) if each["kind"] == kind}


@pytest.mark.parametrize("path", KUBERNETES, ids=lambda path: path.stem)
def test_a_manifest_has_the_form_of_its_kind(path: Path) -> None:
    import kubernetes_validate

    for document in documents(path):
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
        assert document["kind"] == "Namespace" or document["metadata"]["namespace"] == "millpond"


def test_a_mistake_in_a_manifest_would_be_seen() -> None:
    import kubernetes_validate

    agent = objects("Deployment")["agent"]
    agent["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(agent, kubernetes_validate.latest_version(), strict=True)


def test_kubernetes_runs_every_role_and_lets_it_finish() -> None:
    deployments = objects("Deployment")

    assert set(deployments) == set(ROLES)
    for role, deployment in deployments.items():
        pod = deployment["spec"]["template"]["spec"]
        [container] = pod["containers"]
        assert role_of(container["args"]) == role
        before = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
        assert pod["terminationGracePeriodSeconds"] >= STOP_S + float(before[1]) + 5
        assert all(known_variable(variable["name"]) for variable in container["env"])
        assert deployment["spec"]["selector"]["matchLabels"] == deployment["spec"]["template"]["metadata"]["labels"]


def test_every_pod_is_asked_whether_it_lives_and_never_for_redis() -> None:
    for role, deployment in objects("Deployment").items():
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert ports["health"] == HEALTH_PORT
        assert container["startupProbe"]["httpGet"] == container["livenessProbe"]["httpGet"], role
        assert container["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "health"}
        assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}
        scraped = deployment["spec"]["template"]["metadata"]["annotations"]
        assert scraped == {"prometheus.io/scrape": "true", "prometheus.io/port": str(HEALTH_PORT)}


def test_every_pod_is_locked() -> None:
    for kind in ("Deployment", "StatefulSet"):
        for each in objects(kind).values():
            pod = each["spec"]["template"]["spec"]
            assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            assert pod["automountServiceAccountToken"] is pod["enableServiceLinks"] is False
            for container in pod["containers"]:
                assert container["securityContext"] == {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                }
                assert not container["image"].endswith(":latest")


def test_a_budget_keeps_each_role_going_and_forbids_no_drain() -> None:
    deployments, budgets = objects("Deployment"), objects("PodDisruptionBudget")

    assert set(budgets) == set(deployments)
    for role, budget in budgets.items():
        assert budget["spec"]["selector"] == deployments[role]["spec"]["selector"]
        assert budget["spec"]["maxUnavailable"] == 1


def test_agents_are_scaled_by_the_age_of_the_backlog() -> None:
    [scaler] = objects("HorizontalPodAutoscaler").values()
    [adapter] = documents(DEPLOY / "prometheus" / "adapter.yaml")
    [rule] = adapter["rules"]["external"]
    [external] = [each["external"] for each in scaler["spec"]["metrics"] if each["type"] == "External"]

    assert scaler["spec"]["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "agent"}
    assert "replicas" not in objects("Deployment")["agent"]["spec"], "it would be set back with every apply"
    assert scaler["spec"]["minReplicas"] >= 2
    assert external["metric"]["name"] == rule["name"]["as"] == rule["seriesQuery"] == "millpond_oldest_waiting_seconds"


def test_the_configuration_in_the_cluster_is_the_one_that_is_tested() -> None:
    data: Mapping[str, str] = objects("ConfigMap")["millpond"]["data"]

    assert data["millpond.toml"] == (DEPLOY / "examples" / "servers.toml").read_text()
    assert data["valkey.conf"] == (DEPLOY / "valkey" / "valkey.conf").read_text()


def test_the_secrets_are_those_that_the_script_makes_and_the_configuration_names() -> None:
    named = set(re.findall(r'"secrets/([\w.]+)"', (DEPLOY / "examples" / "servers.toml").read_text()))
    addresses = {f"redis.{role}.url" for role in ROLES}

    for role, deployment in objects("Deployment").items():
        pod = deployment["spec"]["template"]["spec"]
        [secret] = [volume["secret"] for volume in pod["volumes"] if "secret" in volume]
        assert {item["key"]: item["path"] for item in secret["items"]} == {
            **{name: name for name in named},
            f"redis.{role}.url": "redis.url",
        }
        assert secret["defaultMode"] == 0o400
    [compose] = documents(DEPLOY / "compose.yaml")
    files = {name: Path(secret["file"]).name for name, secret in compose["secrets"].items()}
    assert set(files.values()) == named | addresses | {"redis.url", "server.acl"}
    for role, service in of_millpond(compose).items():
        assert {files[each["source"]] for each in service["secrets"]} == named | {f"redis.{role}.url"}


def test_the_server_is_reached_by_millpond_alone() -> None:
    policy = objects("NetworkPolicy")["server"]["spec"]
    server = objects("StatefulSet")["server"]["spec"]["template"]["metadata"]["labels"]

    assert policy["podSelector"]["matchLabels"] == server
    [rule] = policy["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": {"app.kubernetes.io/part-of": "millpond"}}}]
    assert rule["ports"] == [{"port": 6379}]
