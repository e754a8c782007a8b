"""The two fabric modules as Ansible starts them, on a host without a fabric."""

from pathlib import Path

import pytest

from tests.unit.run_module import run_module

RAIL = {
    "name": "cable1.0", "link": "cable1", "kind": "cable", "port": 0, "half": 0, "address": "192.168.200.1/24",
    "mtu": 9000, "peers": [{"host": "spark02", "port": 0, "address": "192.168.200.2"}],
}  # fmt: skip
ABSENT = [["enp1s0f0np0-no", "enP2p1s0f0np0-no"]]


@pytest.mark.parametrize("rails", [{}, {"rails": []}])
def test_state_present_requires_rails(tmp_path: Path, rails: dict[str, list[str]]) -> None:
    file = tmp_path / "60-sparkforge-fabric.yaml"
    result = run_module("fabric_netplan", file=str(file), root=str(tmp_path / "opt"), ports=ABSENT, **rails)
    assert result["failed"] is True
    assert "rails" in result["msg"]


def test_a_failed_check_is_returned_as_row_line_and_text() -> None:
    result = run_module("fabric_check", rails=[RAIL], ports=ABSENT)
    row = next(row for row in result["checks"] if row["name"] == "state.cable1.0")
    assert row["status"] == "fail"
    expected = "state.cable1.0: Half 0 of port 0"
    assert any(text.startswith(expected) for text in result["failures"])
    assert any(line.startswith("fail state.cable1.0:") for line in result["lines"])


def test_a_measurement_without_ib_write_bw_is_skipped() -> None:
    part = {"link": "cable1", "role": "client", "peer": "spark02"}
    result = run_module("fabric_check", rails=[RAIL], ports=ABSENT, measure=part)
    assert [row["status"] for row in result["checks"]] == ["skip"]
    assert result["failures"] == []
