"""A host is recorded with the single file, from an account without sudo, and through Ansible: nothing on it changes."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._record.redaction import redacted
from sparkforge import record

from tests.integration import ownership
from tests.integration.conftest import CHECKOUT, Bench, Host

COMPOSED = CHECKOUT / "tests/unit/data/hosts/dgx-spark.json"
ARCHIVE = "/srv/sparkforge-record.pyz"
#: A GB10 that answers as the driver does: it reports no memory of its own, and rejects unknown field names.
NVIDIA_SMI = """#!/bin/sh
case "$*" in
*throttle*) echo 'Field "clocks_throttle_reasons.active" is not a valid field to query.'; exit 2 ;;
*query-gpu=index*) echo '0, NVIDIA GB10, GPU-0f1e2d3c, 12.1, [N/A], [N/A], 580.178.04' ;;
*query-gpu=pstate*)
    echo 'P8, 9A.0B.25.00.00, Enabled, 208, [N/A], 3003, [N/A], 4.05, [N/A], 41, 0, 0x0000000000000001'
    ;;
*query-compute-apps*) ;;
*) echo 'CUDA Version: 13.0' ;;
esac
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("record") / record.NAME
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        record.build(path)
    return path


@pytest.fixture(scope="module")
def host(bench: Bench, archive: Path) -> Host:
    host = bench.fresh()
    host.copy(archive, ARCHIVE)
    host.execute(
        f"useradd --create-home ann && cat > /usr/bin/nvidia-smi <<'END'\n{NVIDIA_SMI}END\n"
        "chmod 755 /usr/bin/nvidia-smi; mkdir -p /etc/apt/auth.conf.d"
        "; echo 'machine apt.acme.example login ann password s3cret' > /etc/apt/auth.conf.d/acme.conf"
        "; printf 'deb https://ann:s3cret@apt.acme.example/ubuntu noble main\\n' > /etc/apt/sources.list.d/acme.list"
        "; echo wolke7 > /etc/hostname; apt-get update -q 2>&1 || true"
    )
    return host


def assert_whole(recording: dict[str, Any], text: str) -> None:
    assert (recording["os"]["id"], recording["gpu"]["devices"][0]["name"]) == ("debian", "NVIDIA GB10")
    more = recording["record"]
    assert more["gpu"]["rest"]["vbios_version"] == "9A.0B.25.00.00" and "No torch" in more["gpu"]["no_load"]
    assert more["apt"]["policy"]["build-essential"]["candidate"]
    assert "gcc" in {step["name"] for step in more["apt"]["wheels"]["install"]}
    assert more["apt"]["wheels"]["unavailable"] == ["python3.12-dev", "python3.12-venv"]
    assert "cuda-nvcc-13-0" in more["apt"]["build"]["unavailable"]
    assert redacted(recording) == recording
    assert set(recording) - {"record"} == set(json.loads(COMPOSED.read_text()))
    for secret in ("ann", "s3cret", "acme", "wolke7", "GPU-0f1e2d3c"):
        assert secret not in text


def test_account_without_sudo_records_its_machine_with_the_single_file(host: Host) -> None:
    before = ownership.look(host)
    output = host.execute(f"cd /home/ann && runuser -u ann -- python3 {ARCHIVE} 2>&1")
    assert "sparkforge-record.json: " in output and "Read it before" in output
    text = host.execute("cat /home/ann/sparkforge-record.json; rm /home/ann/sparkforge-record.json")
    recording = json.loads(text)
    assert recording["record"]["root"] is False
    assert_whole(recording, text)
    assert ownership.look(host) == before


def test_ansible_fetches_the_same_record_from_each_host_without_root(host: Host, archive: Path, tmp_path: Path) -> None:
    before = ownership.look(host)
    host.run("record", record_archive=str(archive), record_directory=str(tmp_path)).succeeded()
    (file,) = tmp_path.iterdir()
    assert file.name == "sparkforge-record-1.json" and file.stat().st_mode & 0o777 == 0o644
    assert_whole(json.loads(file.read_text()), file.read_text())
    after = ownership.look(host)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    # Ignore files of ssh and of Ansible, which keeps its directory for temporary files.
    assert {path for path in changed if "/.ansible" not in path and not path.startswith("/var/log/")} == set()


@pytest.mark.long
def test_in_check_mode_the_host_is_read_and_no_file_written(host: Host, archive: Path, tmp_path: Path) -> None:
    host.run("record", "--check", record_archive=str(archive), record_directory=str(tmp_path)).succeeded()
    assert list(tmp_path.iterdir()) == []
