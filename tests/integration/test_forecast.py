"""playbooks/forecast.yml over ssh, as an ordinary user, on a host with a single source that the test creates."""

import json
import typing as t
from pathlib import Path

import pytest

from lab import image
from lab.packages import Package
from tests.integration.conftest import Bench, Host


def repository(folder: Path) -> Path:
    """Create a repository with two versions of a package."""
    folder.mkdir()
    index = []
    for version in ("1.0", "2.0"):
        package = Package("tool", version, "all", "A tool")
        made = package.write(folder)
        index.append(f"{package.control()}Filename: ./{made.path.name}\nSize: {made.size}\nSHA256: {made.sha256}\n")
    (folder / "Packages").write_text("\n".join(index))
    return folder


@pytest.fixture(scope="module")
def host(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Host:
    """A host with the older version installed and a source that has the newer one."""
    fresh = bench.fresh()
    image.podman("cp", repository(tmp_path_factory.mktemp("forecast") / "repository"), f"{fresh.container}:/srv")
    fresh.execute(
        "rm -f /etc/apt/sources.list.d/*; echo 'deb [trusted=yes] file:/srv/repository ./' > /etc/apt/sources.list; "
        "apt-get update -q && apt-get install -y -q tool=1.0"
    )
    return fresh


def files(host: Host) -> tuple[t.Any, str]:
    return host.contents(), host.execute("find /var/lib/dpkg /var/lib/apt -type f -exec sha256sum {} + | sort")


def test_forecast_changes_no_file_and_prints_the_next_steps(host: Host, tmp_path: Path) -> None:
    before, page = files(host), tmp_path / "forecast.json"
    play = host.run("forecast", forecast_file=str(page)).succeeded()
    assert play.changed == 0 and files(host) == before
    assert "1. Upgrade with sudo apt full-upgrade; then reboot." in play.text and "2. sparkforge prove" in play.text
    host.run("forecast", forecast_format="json", forecast_file=str(page)).succeeded()
    (row,) = json.loads(page.read_text())["hosts"]
    assert [(step["name"], step["version"]) for step in row["plan"]["install"]] == [("tool", "2.0")]
    assert row["answer"] == "go", row["findings"]
