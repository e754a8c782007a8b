"""The search for planted secrets finds them in every form, and finds nothing else."""

import base64
import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.integration import planted
from tests.integration.planted import Hit, Planted

SECRETS = Planted()


@pytest.mark.parametrize("before", ["", "u:", "us:", "use:"])
@pytest.mark.parametrize("write", ["plain", "url", "json", "base64"])
def test_a_secret_in_a_file_is_found_in_every_form(tmp_path: Path, before: str, write: str) -> None:
    text = f"{before}{SECRETS.text('proxy')}"
    forms = {"plain": text, "url": f"{before}{SECRETS.url('proxy')}", "json": json.dumps(text)}
    forms["base64"] = base64.b64encode(text.encode()).decode()
    (tmp_path / "other").write_text(f"nothing of {Planted().text('proxy')}")
    (tmp_path / "log").write_text(f"> {forms[write]} <")
    (tmp_path / "log").chmod(0o640)
    report = planted.on_controller(SECRETS, tmp_path)
    assert (report.files, [hit.where for hit in report.hits]) == (2, [str(tmp_path / "log")])
    assert report.hits[0].mode == "0640"


def test_a_secret_is_found_in_archives_and_across_blocks(tmp_path: Path) -> None:
    text = SECRETS.text("index").encode()
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"x" * 100 + text))
    with zipfile.ZipFile(tmp_path / "b.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("METADATA", text + b"x" * 1000)
    # The search reads blocks of 16 MiB.
    (tmp_path / "c").write_bytes(b"\0" * ((1 << 24) - 5) + text)
    (tmp_path / "not.zip").write_bytes(b"PK and no archive")
    os.mkfifo(tmp_path / "pipe")
    report = planted.on_controller(SECRETS, tmp_path)
    assert report.files == 4
    assert [Path(hit.where).name for hit in report.hits] == ["a.gz", "b.whl", "c"]
    assert str(report).startswith("3 secrets found in 4 files (17 MB)")


def test_a_secret_is_found_on_a_command_line_and_in_the_environment_of_another_account() -> None:
    secret = SECRETS.text("git")
    with planted.sampled(SECRETS) as sampler:
        sleeping = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        shown = subprocess.Popen([*sleeping, secret], stdin=subprocess.PIPE)
        hidden = subprocess.Popen(sleeping, stdin=subprocess.PIPE, env={**os.environ, "TOKEN": secret})
        while {str(shown.pid), str(hidden.pid)} - {pid for pid, _part in tuple(sampler.found)}:
            assert shown.poll() is None and hidden.poll() is None
        shown.communicate()
        hidden.communicate()
    report = sampler.end([os.getuid()])
    assert {hit.where.rpartition(" of ")[0] for hit in report.hits} == {"the cmdline"}
    assert {hit.where.partition(" of ")[0] for hit in sampler.end([]).hits} == {"the cmdline", "the environ"}
    assert report.processes >= 2 and report.samples >= 1


def test_a_file_is_accepted_only_with_its_owner_and_mode() -> None:
    rows = planted.accepted()
    [proxies] = [row for row in rows if row.path == "/etc/sparkforge-proxies.json"]
    assert proxies.covers(Hit("/etc/sparkforge-proxies.json", "root", "0600"))
    assert not proxies.covers(Hit("/etc/sparkforge-proxies.json", "root", "0640"))
    assert not proxies.covers(Hit("/etc/sparkforge-proxies.json", "spark", "0600"))
    assert not proxies.covers(Hit("/etc/sparkforge-proxies.json.old", "root", "0600"))
    # Only the owner may be able to read an accepted file.
    assert all(row.mode == "0600" and row.why for row in rows)
