"""The alerts and the dashboard speak of metrics that exist, with labels and values that exist."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from channels.web.health_endpoints import HealthEndpoints
from daemon import metrics
from daemon.config import Config, TestingConfig
from daemon.process import Process
from daemon.services import ROLES
from tests.conftest import Lab
from tests.deploy.documents import documents

pytestmark = pytest.mark.deploy

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OF_PROMETHEUS = {"instance", "job"}  # labels that it adds itself
NOT_OURS = {"up"}
OF_THE_CODE = {"status", "outcome", "stage", "attempt", "direction", "purpose", "place"}
"""Labels whose values stand in the code; those of all others stand in the configuration."""
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}


def expressions() -> dict[str, str]:
    found = {}
    [alerts] = documents(DEPLOY / "prometheus" / "alerts.yaml")
    for group in alerts["groups"]:
        for rule in group["rules"]:
            found[rule["alert"]] = rule["expr"]
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            where = f"{panel['title']} {target['refId']}"
            assert where not in found, "two panels of one title"
            found[where] = target["expr"].replace("$__rate_interval", "5m")
    return found


def dashboard() -> Any:
    return json.loads((DEPLOY / "grafana" / "millpond.json").read_text())


@pytest.fixture
async def existing(process: Process, lab: Lab) -> dict[str, set[str]]:
    """Every series that a process shows → its labels."""
    process = replace(process, config=Config(channels={"lane": TestingConfig(url="http://127.0.0.1:1/")}))
    assert metrics.TURNS in REGISTRY._collector_to_names
    gauges = list(text_string_to_metric_families((await HealthEndpoints(process)._gauges()).decode()))
    found: dict[str, set[str]] = {}
    for collector in list(REGISTRY._collector_to_names):
        labels = set(getattr(collector, "_labelnames", ()))
        for family in collector.collect():
            of_family = labels | {name for sample in family.samples for name in sample.labels} - {"le"}
            for suffix in SUFFIXES.get(family.type, ("",)):
                found[family.name + suffix] = of_family | ({"le"} if suffix == "_bucket" else set())
    for family in gauges:
        found[family.name] = {name for sample in family.samples for name in sample.labels}
    return found


def within(expression: Any) -> Iterator[Any]:
    import promql_parser as promql

    yield expression
    for attribute in ("lhs", "rhs", "expr", "param", "vector_selector", "vs", "args"):
        inside = getattr(expression, attribute, None)
        for each in inside if isinstance(inside, list | tuple) else [inside]:
            if isinstance(each, promql.Expr) and not isinstance(each, str):
                yield from within(each)


def selectors(expression: Any) -> list[Any]:
    import promql_parser as promql

    return [each for each in within(expression) if isinstance(each, promql.VectorSelector)]


def grouped(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Each series that is added up in it, and the labels that it is added up by."""
    import promql_parser as promql

    for each in within(promql.parse(expression)):
        if isinstance(each, promql.AggregateExpr) and each.modifier is not None:
            for series in selectors(each.expr):
                yield series.name, set(each.modifier.labels)


def parts(expression: str) -> tuple[set[str], list[tuple[str, str]]]:
    """Names of series in it, and its matchers, label and value."""
    import promql_parser as promql

    found = selectors(promql.parse(expression))
    return {each.name for each in found}, [
        (matcher.name, matcher.value) for each in found for matcher in each.matchers.matchers
    ]


async def test_every_expression_speaks_of_series_and_labels_that_exist(existing: dict[str, set[str]]) -> None:
    for where, expression in expressions().items():
        names, matchers = parts(expression)
        assert names, where
        assert names - NOT_OURS <= set(existing), where
        for name, labels in grouped(expression):
            assert labels <= existing[name] | OF_PROMETHEUS, f"{where}: {name}"
        known = set().union(*(existing.get(name, set()) for name in names)) | OF_PROMETHEUS
        assert {label for label, _ in matchers} <= known, where


def test_what_does_not_parse_or_does_not_exist_would_be_seen() -> None:
    with pytest.raises(ValueError, match=r"."):
        parts("max(millpond_backlog")

    assert list(grouped("max(other) > sum by (le, a) (rate(some[5m]))")) == [("some", {"le", "a"})]
    assert parts('sum(rate(millpond_gone{a="b"}[5m])) > max(other)') == ({"millpond_gone", "other"}, [("a", "b")])


def test_every_value_of_a_label_is_one_that_the_code_gives() -> None:
    rooms = ("daemon", "channels", "workers")
    texts = "".join(path.read_text() for room in rooms for path in (ROOT / room).rglob("*.py"))
    said = set(re.findall(r'"([a-z_]+)"', texts)) | set(ROLES)

    for where, expression in expressions().items():
        for label, value in parts(expression)[1]:
            if label != "job":
                assert set(value.split("|")) <= said, where


async def test_no_label_grows_with_people_or_conversations(existing: dict[str, set[str]]) -> None:
    labels = set().union(*(found for name, found in existing.items() if name.startswith("millpond_")))

    assert labels == {"channel", "model", "currency", "role"} | OF_THE_CODE | {"le"}


async def test_every_metric_of_ours_is_on_the_dashboard_and_on_the_page(existing: dict[str, set[str]]) -> None:
    page = (ROOT / "docs" / "metrics.md").read_text()
    drawn = {name for where, each in expressions().items() for name in parts(each)[0]}
    ours = {name for name in existing if name.startswith("millpond_")}
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in ours}

    assert families - {re.sub(r"_(bucket|sum|count)$", "", name) for name in drawn} == set()
    assert {name for name in families if f"`{name}`" not in page} == set()
    assert set(re.findall(r"`(millpond_\w+)`", page)) - families == set()


def test_every_alert_says_what_is_the_matter_and_what_to_do() -> None:
    [alerts] = documents(DEPLOY / "prometheus" / "alerts.yaml")
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]

    assert len({rule["alert"] for rule in rules}) == len(rules) > 10
    for rule in rules:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"Millpond[A-Z]\w+", rule["alert"])
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert set(rule["annotations"]) == {"summary", "action"}
        assert re.fullmatch(r"\d+[smh]", rule.get("for", "0s"))


def test_the_dashboard_is_one_that_can_be_imported() -> None:
    found = dashboard()
    panels = found["panels"]
    places = [panel["gridPos"] for panel in panels]

    assert (found["uid"], found["title"]) == ("millpond", "Millpond")
    assert [each["name"] for each in found["templating"]["list"]] == ["datasource"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(place["x"] + place["w"] <= 24 for place in places)
    covered = [(x, y) for place in places for x in range(place["x"], place["x"] + place["w"])
               for y in range(place["y"], place["y"] + place["h"])]  # fmt: skip
    assert len(covered) == len(set(covered)), "panels lie on each other"
    for panel in panels:
        assert panel["type"] in ("row", "stat", "timeseries")
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}"
