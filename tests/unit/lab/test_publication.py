"""The repository's URL in galaxy.yml, and the pages that depend on it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lab import publication

URL = "https://forge.example/somebody/sparks"


def test_pages_have_the_url_of_galaxy_yml() -> None:
    for name, text in publication.texts(publication.repository_url()).items():
        now = (publication.CHECKOUT / name).read_text()
        assert publication.page(now, text) == now, f"{name}: run python -m lab.publication"


def test_one_value_and_one_command_change_all_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["galaxy.yml", *publication.texts("")]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(publication.CHECKOUT / name, tmp_path / name)
    before = {name: (tmp_path / name).read_text() for name in publication.texts("")}
    galaxy = tmp_path / "galaxy.yml"
    galaxy.write_text(re.sub(r"^repository: .*$", f"repository: {URL}/", galaxy.read_text(), flags=re.M))
    now = publication.repository_url()
    monkeypatch.setattr(publication, "CHECKOUT", tmp_path)
    assert publication.repository_url() == URL
    publication.main()
    assert f"git clone {URL}`" in (tmp_path / "README.md").read_text()
    assert f"<{URL}/security/advisories/new>" in (tmp_path / "SECURITY.md").read_text()
    form = tmp_path / ".github/ISSUE_TEMPLATE/config.yml"
    links = [link["url"] for link in yaml.safe_load(form.read_text())["contact_links"]]
    assert len(links) == 2 and all(link.startswith(f"{URL}/") for link in links)
    check = [Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema", "vendor.github-issue-config", form]
    subprocess.run(check, check=True, capture_output=True)

    galaxy.write_text(galaxy.read_text().replace(f"{URL}/", '""'))
    publication.main()
    if not now:
        assert {name: (tmp_path / name).read_text() for name in before} == before
    texts = "".join((tmp_path / name).read_text() for name in before)
    assert not re.search("forge.example|git clone|advisories", texts)
