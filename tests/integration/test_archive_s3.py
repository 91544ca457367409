"""The archive in an object store that is reached without TLS."""

import gzip
from pathlib import Path

import pytest

from daemon.archive import Archive
from daemon.archive.places import storage_of
from daemon.config import ArchiveConfig, Secret
from daemon.errors import ArchiveMissing, ArchiveUnavailable, ConfigError
from daemon.testing import ManualClock
from tests.conftest import Lab
from tests.fakes.s3 import KEY, SECRET, s3_server
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


@pytest.mark.parametrize(("allow_http", "variable"), [(True, ""), (False, "true")])
async def test_an_archive_works_in_an_s3_store_without_tls(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow_http: bool, variable: str
) -> None:
    raws = await log_of(lab)
    async with s3_server() as store:
        set_up(monkeypatch, store.url, AWS_ALLOW_HTTP=variable)
        archive = Archive(lab.bus, tmp_path, config=ArchiveConfig(url=URL, allow_http=allow_http), clock=ManualClock())

        segment = await archive.write(ANN, 0, raws[:4])

        assert await archive.read(segment) == raws[:4]
        assert gzip.decompress(store.objects[f"millpond/archive/{segment.place}"]) == b"\n".join(raws[:4]) + b"\n"
        storage = archive.storage
        assert not await storage.create(segment.place, b"other")
        assert [each.name for each in await storage.list("web%3aann")] == [segment.place]
        assert list(await storage.folders()) == ["web%3aann"]
        await storage.delete(segment.place)
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
    ],
)
def test_a_store_without_tls_that_is_not_allowed_names_both_settings(
    tmp_path: Path, url: Secret, variable: str, allowing: str
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        set_up(monkeypatch, "")
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "millpond")
        monkeypatch.setenv(variable, "http://store.example:9000")

        with pytest.raises(ConfigError) as refused:
            storage_of(ArchiveConfig(url=url), tmp_path)

        assert f"the address in {variable} begins with http://" in str(refused.value)
        assert f"archive.allow_http = true or {allowing}=true" in str(refused.value)
        assert storage_of(ArchiveConfig(url=url, allow_http=True), tmp_path)
