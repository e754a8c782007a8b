"""The module model_info: a model's location, and the result if it is missing."""

from pathlib import Path

from tests.unit.run_module import run_module


def test_an_existing_model_is_described_and_a_missing_one_is_refused_if_required(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    for name in ("config.json", "model.safetensors"):
        (model / name).write_text("1234")
    info = run_module("model_info", model=str(model), root=str(tmp_path))
    assert (info["exists"], info["changed"], info["directory"], info["bytes"]) == (True, False, str(model), 8)
    options = {"model": "Org/Name", "root": str(tmp_path)}
    info = run_module("model_info", required=False, **options)
    assert (info["exists"], info["changed"], info.get("failed", False)) == (False, False, False)
    for check_mode in (False, True):
        refused = run_module("model_info", check_mode=check_mode, **options)
        assert refused["failed"] and "Org/Name is not" in refused["cause"]
        assert "sparkforge model get Org/Name" in refused["remedy"]
