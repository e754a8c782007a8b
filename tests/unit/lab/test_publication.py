"""The place of publication: one value, and what follows from it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lab import publication

PLACE = "https://forge.example/somebody/sparks"


def test_the_pages_are_as_the_place_of_galaxy_yml_says() -> None:
    for name, text in publication.texts(publication.repository_url()).items():
        now = (publication.CHECKOUT / name).read_text()
        assert publication.page(now, text) == now, f"{name}: run python -m lab.publication"


def test_one_value_and_one_command_publish_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["galaxy.yml", *publication.texts("")]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(publication.CHECKOUT / name, tmp_path / name)
    before = {name: (tmp_path / name).read_text() for name in publication.texts("")}
    galaxy = tmp_path / "galaxy.yml"
    galaxy.write_text(re.sub(r"^repository: .*$", f"repository: {PLACE}/", galaxy.read_text(), flags=re.M))
    now = publication.repository_url()
    monkeypatch.setattr(publication, "CHECKOUT", tmp_path)
    assert publication.repository_url() == PLACE
    publication.main()
    assert f"git clone {PLACE}`" in (tmp_path / "README.md").read_text()
    assert f"<{PLACE}/security/advisories/new>" in (tmp_path / "SECURITY.md").read_text()
    form = tmp_path / ".github/ISSUE_TEMPLATE/config.yml"
    assert [link["url"].startswith(f"{PLACE}/") for link in yaml.safe_load(form.read_text())["contact_links"]] == [
        True
    ] * 2
    check = [Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema", "vendor.github-issue-config", form]
    subprocess.run(check, check=True, capture_output=True)

    galaxy.write_text(galaxy.read_text().replace(f"{PLACE}/", '""'))
    publication.main()
    if not now:
        assert {name: (tmp_path / name).read_text() for name in before} == before
    assert not [
        name for name in before if re.search("forge.example|git clone|advisories", (tmp_path / name).read_text())
    ]
