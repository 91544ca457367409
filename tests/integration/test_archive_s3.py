"""The archive in object stores that are reached without TLS: S3, Google's and Azure's."""

import gzip
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from daemon.archive import Archive
from daemon.archive.storage_factory import storage_of
from daemon.config import ArchiveConfig, Secret
from daemon.errors import ArchiveMissing, ArchiveUnavailable, ConfigError
from daemon.testing import ManualClock
from tests.conftest import Lab
from tests.fakes.blobs import ACCOUNT, ACCOUNT_KEY, azure_server, google_server
from tests.fakes.s3 import KEY, S3, SECRET, s3_server
from tests.integration.test_archive import ANN, log_of
from tests.tables import each_row

URL = Secret("s3://millpond/archive")


def set_up(monkeypatch: pytest.MonkeyPatch, endpoint: str, **more: str) -> None:
    given = {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT": endpoint,
    }
    for name, value in (given | more).items():
        monkeypatch.setenv(name, value)


@asynccontextmanager
async def a_store(kind: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[S3]:
    """A store, and the environment that leads to it."""
    if kind == "gs":
        async with google_server() as google:
            monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT_KEY", google.key)
            yield google
    elif kind == "az":
        async with azure_server() as azure:
            monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT)
            monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", ACCOUNT_KEY)
            monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", azure.url)
            yield azure
    else:
        async with s3_server() as s3:
            set_up(monkeypatch, s3.url)
            yield s3


@pytest.mark.parametrize(
    ("kind", "variable"),
    [
        ("s3", ""), ("s3", "AWS_ALLOW_HTTP"), ("gs", ""), ("gs", "GOOGLE_ALLOW_HTTP"), ("az", ""),
        ("az", "AZURE_ALLOW_HTTP"),
    ],
)  # fmt: skip
async def test_an_archive_works_in_an_object_store_without_tls(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, variable: str
) -> None:
    raws = await log_of(lab)
    if variable:
        monkeypatch.setenv(variable, "true")
    async with a_store(kind, monkeypatch) as store:
        config = ArchiveConfig(url=Secret(f"{kind}://millpond/archive"), allow_http=not variable)
        archive = Archive(lab.bus, tmp_path, config=config, clock=ManualClock())

        segment = await archive.write(ANN, 0, raws[:4])

        assert await archive.read(segment) == raws[:4]
        assert gzip.decompress(store.objects[f"millpond/archive/{segment.place}"]) == b"\n".join(raws[:4]) + b"\n"
        storage = archive.storage
        assert not await storage.create(segment.place, b"other")
        assert [each.name for each in await storage.list("web%3aann")] == [segment.place]
        assert list(await storage.folders()) == ["web%3aann"]
        await storage.delete(segment.place, "web%3aann/another")
        with pytest.raises(ArchiveMissing):
            await storage.get(segment.place)
    assert not (tmp_path / "transcripts").exists()


async def test_a_wrong_key_of_an_s3_store_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with s3_server() as store:
        set_up(monkeypatch, store.url, AWS_SECRET_ACCESS_KEY="wrong")
        storage = storage_of(ArchiveConfig(url=URL, allow_http=True), tmp_path)

        with pytest.raises(ArchiveUnavailable, match="the credentials in the environment") as refused:
            await storage.put("a", b"1")

    assert "wrong" not in str(refused.value)


@each_row(
    ("url", "variable", "allowing"),
    [
        (URL, "AWS_ENDPOINT", "AWS_ALLOW_HTTP"),
        (URL, "AWS_ENDPOINT_URL", "AWS_ALLOW_HTTP"),
        (URL, "AWS_ENDPOINT_URL_S3", "AWS_ALLOW_HTTP"),
        (Secret("az://millpond/archive"), "AZURE_STORAGE_ENDPOINT", "AZURE_ALLOW_HTTP"),
        (Secret("gs://millpond/archive"), "GOOGLE_BASE_URL", "GOOGLE_ALLOW_HTTP"),
        (Secret("gs://millpond/archive"), "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_ALLOW_HTTP"),
        (Secret("gs://millpond/archive"), "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_ALLOW_HTTP"),
    ],
)
def test_a_store_without_tls_that_is_not_allowed_names_both_settings(
    tmp_path: Path, url: Secret, variable: str, allowing: str
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        set_up(monkeypatch, "")
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "millpond")
        account = json.dumps({"gcs_base_url": "http://store.example:9000"})
        (tmp_path / "account.json").write_text(account)
        values = {"GOOGLE_SERVICE_ACCOUNT_KEY": account, "GOOGLE_SERVICE_ACCOUNT": str(tmp_path / "account.json")}
        monkeypatch.setenv(variable, values.get(variable, "http://store.example:9000"))

        with pytest.raises(ConfigError) as refused:
            storage_of(ArchiveConfig(url=url), tmp_path)

        assert f"the address in {variable} begins with http://" in str(refused.value)
        assert f"archive.allow_http = true or {allowing}=true" in str(refused.value)
        if variable not in values:
            assert storage_of(ArchiveConfig(url=url, allow_http=True), tmp_path)
