"""The module model_info: where a model is, and what is said where it is not."""

from pathlib import Path

from tests.unit.run_module import run_module


def test_a_model_that_is_there_is_described_and_one_that_is_not_is_refused_or_said(tmp_path: Path) -> None:
    place = tmp_path / "model"
    place.mkdir()
    for name in ("config.json", "model.safetensors"):
        (place / name).write_text("1234")
    found = run_module("model_info", model=str(place), root=str(tmp_path))
    assert (found["exists"], found["changed"], found["directory"], found["bytes"]) == (True, False, str(place), 8)
    asked = {"model": "Org/Name", "root": str(tmp_path)}
    said = run_module("model_info", required=False, **asked)
    assert (said["exists"], said["changed"], said.get("failed", False)) == (False, False, False)
    for check_mode in (False, True):
        refused = run_module("model_info", check_mode=check_mode, **asked)
        assert refused["failed"] and refused["cause"] == "The model Org/Name is not on this host."
        assert "sparkforge model get Org/Name" in refused["remedy"]
