"""Writing a host's report and page to the controller."""

import json
import os
import stat
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.action.verify_report import write_files, write_report
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

from tests import example_reports as examples


def test_a_report_that_cannot_be_written_leaves_the_old_one_and_no_debris(tmp_path: Path) -> None:
    _report, path, page = write_report(str(tmp_path), "spark01", examples.unproven("spark01"), False)
    before = Path(page).read_text()
    with pytest.raises(TypeError):
        write_report(str(tmp_path), "spark01", {**examples.healthy("spark01"), "stack": object()}, False)
    with pytest.raises(SparkforgeError, match="valid report"):
        write_report(str(tmp_path), "spark01", {"verdict": "proven"}, False)
    assert json.loads(Path(path).read_text())["verdict"] == "unproven"
    assert Path(page).read_text() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["spark01.html", "spark01.json"]
    (tmp_path / "file").write_text("")
    with pytest.raises(SparkforgeError, match="cannot be written") as failure:
        write_report(str(tmp_path / "file" / "reports"), "spark01", examples.healthy("spark01"), False)
    assert "verify_report_directory" in failure.value.remedy


def test_a_write_without_permission_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(SparkforgeError, match=r"spark01\.json cannot be written .*: Permission denied"):
        write_files(str(tmp_path), {"spark01.json": "{}"})


def test_a_report_and_its_page_are_complete_readable_and_dated(tmp_path: Path) -> None:
    directory = str(tmp_path / "new" / "reports")
    written, path, page = write_report(directory, "spark01", examples.broken("spark01"), False)
    report = json.loads(Path(path).read_text())
    assert report == written and report["host"] == "spark01"
    assert report["written"] > "2026-11-21T16:01:14Z" or report["written"].endswith("Z")
    assert "matmul.<wbr>fp8_<wbr>rowwise" in Path(page).read_text()
    assert {stat.S_IMODE(os.stat(file).st_mode) for file in (path, page)} == {0o644}


def test_a_report_gets_the_name_of_the_host_that_sent_it(tmp_path: Path) -> None:
    report, path, _page = write_report(str(tmp_path), "spark01", examples.unproven("spark02"), False)
    assert report["host"] == json.loads(Path(path).read_text())["host"] == "spark01"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["spark01.html", "spark01.json"]


def test_check_mode_does_not_overwrite_the_report_of_a_real_run(tmp_path: Path) -> None:
    write_report(str(tmp_path), "spark01", examples.broken("spark01"), False)
    report, path, page = write_report(str(tmp_path), "spark01", examples.unproven("spark01"), True)
    assert (os.path.basename(path), os.path.basename(page)) == ("spark01.check.json", "spark01.check.html")
    assert report["check_mode"] is True
    assert json.loads((tmp_path / "spark01.json").read_text())["verdict"] == "fail"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "[::1]:2222", "..hidden", "index", "fleet"])
def test_no_host_name_leads_outside_the_directory_or_to_a_merged_file(tmp_path: Path, name: str) -> None:
    _report, path, page = write_report(str(tmp_path), name, examples.healthy(name), False)
    assert {Path(file).parent for file in (path, page)} == {tmp_path}
    assert not {"fleet.json", "index.html"} & {entry.name for entry in tmp_path.iterdir()}


def test_a_name_without_letters_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError, match="cannot be named"):
        write_report(str(tmp_path), "..", examples.healthy(), False)


def test_text_with_a_lone_surrogate_is_written(tmp_path: Path) -> None:
    report = examples.changed(examples.healthy("spark01"), "gpu", measured="half a character: \ud83d")
    _report, path, page = write_report(str(tmp_path), "spark01", report, False)
    assert json.loads(Path(path).read_text())["checks"][0]["measured"].endswith("\ud83d")
    assert "half a character: \ufffd" in Path(page).read_text()
