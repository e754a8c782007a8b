"""The mirror's server: paths that it never serves, and its certificate. Integration tests cover the rest."""

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.serve import MirrorServer, make_certificate

DATA = bytes(range(256)) * 4000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "wheels").mkdir(parents=True)
    (folder / "big.deb").write_bytes(DATA)
    (folder / "wheels/index.html").write_text("<a href='x.whl'>x.whl</a>")
    (folder / ".stages").mkdir()
    (folder / ".stages/secret").write_text("no")
    (tmp_path / "outside").write_text("no")
    (folder / "way-out").symlink_to(tmp_path / "outside")
    return folder


@pytest.fixture
def server(root: Path) -> Iterator[MirrorServer]:
    with MirrorServer(root) as running:
        yield running


@pytest.mark.parametrize(
    "path", ["/absent", "/", "/wheels", "/../outside", "/%2e%2e/outside", "/way-out", "/.stages/secret", "/a%00b"]
)
def test_paths_outside_the_tree_are_404(server: MirrorServer, path: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", path)
    assert connection.getresponse().status == 404
    connection.close()


def test_a_certificate_is_renewed_only_for_a_missing_name(tmp_path: Path) -> None:
    first = make_certificate(tmp_path, ["127.0.0.1"])
    certificate, ca = first.certificate.read_bytes(), first.ca.read_bytes()
    make_certificate(tmp_path, ["127.0.0.1"])
    assert first.certificate.read_bytes() == certificate
    make_certificate(tmp_path, ["127.0.0.1", "mirror.test"])
    assert first.certificate.read_bytes() != certificate
    assert first.ca.read_bytes() == ca
    assert first.key.stat().st_mode & 0o077 == 0
