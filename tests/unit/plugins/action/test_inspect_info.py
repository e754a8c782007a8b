"""The action plugin inspect_info: what a requirement resolves to, read from wheels, or one message."""

import os
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.action import inspect_info
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import programs
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils import elf_writer

from lab.stand_ins import write_wheel
from proof.tests.unit import gpu_library
from tests.unit.act import act
from tests.unit.package_index import PackageIndex
from tests.unit.web_server import Server


@pytest.fixture(autouse=True)
def uv_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def ask(place: Path, target: str, **more: t.Any) -> dict[str, t.Any]:
    """Ask with the wheels that lie in ``place`` alone."""
    given = {"index_url": "none", "find_links": [str(place)], "cache": str(place / "cache"), **more}
    return act(inspect_info.ActionModule, {"target": target, **given})


def test_a_requirement_is_judged_with_all_that_it_needs_and_each_wheel_is_read_once(tmp_path: Path) -> None:
    code = gpu_library.write(tmp_path / "x.so", "8.0").read_bytes()
    # For aarch64 in e_machine, which stands at byte 18.
    code = code[:18] + elf_writer.AARCH64.to_bytes(2, "little") + code[20:]
    write_wheel(tmp_path, "thing", "1.0", {"thing.py": ""}, ["dep"])
    wheel = write_wheel(tmp_path, "dep", "2.0", {"dep/_C.so": code})
    first = ask(tmp_path, "thing")
    assert (first["verdict"], first["changed"]) == ("perhaps", False)
    assert {one["name"]: (one["version"], one["verdict"]) for one in first["packages"]} == {
        "thing": ("1.0", "yes"),
        "dep": ("2.0", "no"),
    }
    assert "| dep " in first["table"]
    assert len(list((tmp_path / "cache").iterdir())) == 2, "nothing but what was found is kept"
    wheel.touch()
    again = ask(tmp_path, "thing\ndep")
    assert again["verdict"] == "no"
    assert "MB" in first["shown"]
    assert "MB" not in again["shown"]


def test_a_wheel_on_the_controller_is_judged_with_what_it_requires(tmp_path: Path) -> None:
    needs = {"thing/_C.so": elf_writer.elf_bytes(needed=["libdep.so.2"])}
    wheel = write_wheel(
        tmp_path / "mine", "thing", "1.0", needs, ["dep; python_version < '4'", "extra-thing; extra == 'x'"]
    )
    write_wheel(tmp_path, "dep", "2.0", {"dep/libdep.so.2": elf_writer.elf_bytes(soname="libdep.so.2")})
    assert ask(tmp_path, str(wheel))["verdict"] == "yes"
    (tmp_path / "dep-2.0-py3-none-any.whl").unlink()
    found = ask(tmp_path, str(wheel))
    assert (found["verdict"], found["findings"][0]["kind"]) == ("no", "unresolved")


def test_what_is_source_alone_or_for_another_machine_or_went_back_is_an_answer(tmp_path: Path) -> None:
    index = PackageIndex()
    try:
        page = "<!DOCTYPE html>\n"
        index.files["/simple/source/"] = (
            f'{page}<a href="/files/source-1.0.tar.gz#sha256={"a" * 64}">source-1.0.tar.gz</a>'.encode()
        )
        # What a package needs that is of no use here is not asked.
        index.add("other", "1.0", "nowhere", tag="cp312-cp312-manylinux_2_28_x86_64")
        index.add("apart", "1.0", "other")
        found = {name: ask(tmp_path, name, index_url=index.simple) for name in ("source", "other", "apart")}
    finally:
        index.close()
    assert {name: (one["verdict"], one["findings"][0]["kind"]) for name, one in found.items()} == {
        "source": ("no", "sdist"),
        "other": ("no", "platform"),
        "apart": ("no", "unresolved"),
    }


def test_requirement_that_its_marker_leaves_out_is_not_a_yes(tmp_path: Path) -> None:
    write_wheel(tmp_path, "decord", "0.6.0", {"decord.py": ""})
    write_wheel(tmp_path, "thing", "1.0", {"thing.py": ""})
    line = "decord==0.6.0; platform_machine != 'aarch64'"
    alone = ask(tmp_path, line)
    assert (alone["verdict"], alone["findings"][0]["kind"], alone["packages"]) == ("perhaps", "marker", [])
    assert "it is not wanted here" in alone["table"]
    beside = ask(tmp_path, f"thing\n{line}")
    assert (beside["verdict"], [one["level"] for one in beside["findings"]]) == ("yes", ["note"])


def test_version_that_no_index_has_is_a_no_with_those_that_it_has(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.11.0", "0.11.1"):
        write_wheel(tmp_path, "torchcodec", version, {"torchcodec.py": ""})
    write_wheel(tmp_path, "thing", "1.0", {"thing.py": ""})
    result = ask(tmp_path, "thing\ntorchcodec==0.10.0")
    (finding,) = result["findings"]
    assert (result["verdict"], finding["package"], finding["kind"]) == ("no", "torchcodec", "version")
    assert finding["what"] == "no version of it fits torchcodec==0.10.0: the index has 0.11.1, 0.11.0, 0.9.0."


def test_files_of_requirements_are_read_with_what_they_name(tmp_path: Path) -> None:
    for place, name, version in [
        ("", "thing", "1.0"),
        ("", "thing", "2.0"),
        ("more", "beside", "1.0"),
        ("", "base", "1"),
    ]:
        write_wheel(tmp_path / place, name, version, {f"{name}.py": ""})
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/base.txt").write_text("base  # needed by all\n")
    (tmp_path / "requirements/constraints.txt").write_text("thing<2\n")
    (tmp_path / "requirements/all.txt").write_text(
        f"-r base.txt\n--constraint=constraints.txt\n--find-links {tmp_path}/more\n--pre\nthing \\\n  >=0.5\nbeside\n"
        "-e ./here\ngit+https://user:secret@example.com/x.git@main\nother @ git+ssh://git@example.com/y\n"
        "sdist @ https://example.com/sdist-1.tar.gz\n"
    )
    result = ask(tmp_path, f"-r {tmp_path}/requirements/all.txt")
    packages = {one["name"]: one["version"] for one in result["packages"]}
    assert packages == {"base": "1", "thing": "1.0", "beside": "1.0"}
    assert (result["verdict"], {one["kind"] for one in result["findings"]}) == ("perhaps", {"source"})
    assert sum("is built from source" in row for row in result["not_looked_at"]) == 4
    assert "secret" not in str(result)


def test_wheels_by_url_and_by_file_are_taken(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "served", "vllm", "0.13.0+cu130", {"vllm.py": ""})
    server = Server()
    try:
        path = f"/x/{wheel.name.replace('+', '%2B')}"
        server.files[path] = wheel.read_bytes()
        url = f"{server.url}{path}"
        for target in (url, f"vllm @ {url}", f"vllm @ file://{wheel}", f"file://{wheel}", str(wheel)):
            result = ask(tmp_path, target)
            assert (result["verdict"], result["packages"][0]["version"]) == ("yes", "0.13.0+cu130"), target
        result = ask(tmp_path, f"{server.url}/x/gone-1.0-py3-none-any.whl")
        assert result["failed"] and "404" in result["cause"] and "Download it" in result["remedy"]
    finally:
        server.close()


@pytest.mark.parametrize("end", ["deep", "large", "many", "pipe"])
def test_files_of_requirements_without_end_are_one_message(tmp_path: Path, end: str) -> None:
    path = tmp_path / "requirements.txt"
    if end == "deep":
        path.write_text("-r requirements.txt\n")
    elif end == "large":
        path.write_bytes(b"#" * ((1 << 20) + 1))
    elif end == "many":
        path.write_text("#\n" * 10_001)
    else:
        os.mkfifo(path)
    result = ask(tmp_path, f"-r {path}")
    assert result["failed"] and result["remedy"]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nothing-of-that-name", "nothing-of-that-name"),
        ("not a requirement", "is not a requirement: "),
        ("-r /etc/passwd", "is not a requirement: "),
        ("./thing-1.0-py3-none-any.whl", "wheel"),
        ("-r /nowhere/requirements.txt", "cannot be read: No such file"),
        ("nvidia/cuda:12.0-base-ubuntu20.04", "is the name of an image"),
        ("nvcr.io/nvidia/pytorch:25.11-py3", "is the name of an image"),
        ("vllm/vllm-openai", "is the name of an image"),
        ("ubuntu:24.04", "is the name of an image"),
    ],
)
def test_what_resolves_to_nothing_or_is_no_wheel_is_one_message(tmp_path: Path, target: str, words: str) -> None:
    result = ask(tmp_path, target)
    assert result["failed"] is True
    assert words in result["cause"]
    assert result["remedy"]


def test_a_directory_is_left_to_the_module_on_the_host(tmp_path: Path) -> None:
    asked = []

    def answer(name: str, arguments: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        asked.append((name, dict(arguments)))
        return {"changed": False, "verdict": "yes"}

    given = {"target": "/srv/venv", "cuda": "13.0", "cache": str(tmp_path), "find_links": []}
    assert act(inspect_info.ActionModule, given, answer=answer)["verdict"] == "yes"
    program = {"sha256": programs.PROOF.archive()[1]}
    assert asked == [("", {"target": "/srv/venv", "cuda": "13.0", "program": program})]
