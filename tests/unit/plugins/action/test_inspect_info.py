"""The action plugin inspect_info resolves requirements and inspects their wheels, or returns a single message."""

import contextlib
import os
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.action import inspect_info
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import programs
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils import elf_writer
from ansible_collections.sparkforge.dgx_spark.tools.lock import resolve

from lab.stand_ins import write_wheel
from proof.tests.unit import gpu_library
from tests.unit.act import act
from tests.unit.package_index import PackageIndex
from tests.unit.web_server import Server


@pytest.fixture(autouse=True)
def uv_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def inspect(wheels: Path, target: str, **more: t.Any) -> dict[str, t.Any]:
    """Inspect a target with the wheels in a directory, which also receives the cache."""
    options = {"index_url": "none", "find_links": [str(wheels)], "cache": str(wheels / "cache"), **more}
    return act(inspect_info.ActionModule, {"target": target, **options})


def test_a_requirement_is_judged_with_its_dependencies_and_each_wheel_is_read_once(tmp_path: Path) -> None:
    code = gpu_library.write(tmp_path / "x.so", "8.0").read_bytes()
    # Set e_machine, at byte 18, to aarch64.
    code = code[:18] + elf_writer.AARCH64.to_bytes(2, "little") + code[20:]
    write_wheel(tmp_path, "thing", "1.0", {"thing.py": ""}, ["dep"])
    wheel = write_wheel(tmp_path, "dep", "2.0", {"dep/_C.so": code})
    first = inspect(tmp_path, "thing")
    assert (first["verdict"], first["changed"]) == ("perhaps", False)
    assert {package["name"]: (package["version"], package["verdict"]) for package in first["packages"]} == {
        "thing": ("1.0", "yes"),
        "dep": ("2.0", "no"),
    }
    assert "| dep " in first["table"]
    assert len(list((tmp_path / "cache").iterdir())) == 2, "the cache has one finding for each wheel"
    wheel.touch()
    again = inspect(tmp_path, "thing\ndep")
    assert again["verdict"] == "no"
    assert "MB" in first["shown"]
    assert "MB" not in again["shown"]


def test_a_wheel_on_the_controller_is_judged_with_its_requirements(tmp_path: Path) -> None:
    needs = {"thing/_C.so": elf_writer.elf_bytes(needed=["libdep.so.2"])}
    wheel = write_wheel(
        tmp_path / "mine", "thing", "1.0", needs, ["dep; python_version < '4'", "extra-thing; extra == 'x'"]
    )
    write_wheel(tmp_path, "dep", "2.0", {"dep/libdep.so.2": elf_writer.elf_bytes(soname="libdep.so.2")})
    assert inspect(tmp_path, str(wheel))["verdict"] == "yes"
    (tmp_path / "dep-2.0-py3-none-any.whl").unlink()
    result = inspect(tmp_path, str(wheel))
    assert (result["verdict"], result["findings"][0]["kind"]) == ("no", "unresolved")


def test_a_package_without_a_usable_wheel_is_not_a_yes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(PackageIndex()) as index:
        page = "<!DOCTYPE html>\n"
        index.files["/simple/source/"] = (
            f'{page}<a href="/files/source-1.0.tar.gz#sha256={"a" * 64}">source-1.0.tar.gz</a>'.encode()
        )
        # The dependencies of packages for other machines are not resolved.
        index.add("other", "1.0", "nowhere", tag="cp312-cp312-manylinux_2_28_x86_64")
        index.add("apart", "1.0", "other")
        index.add("older", "1.0", tag="cp310-cp310-manylinux2014_aarch64")
        index.add("neither", "1.0", tag="cp310-cp310-manylinux2014_x86_64")
        index.files["/simple/nvidia-x/"] = index.files["/simple/source/"].replace(b"source", b"nvidia_x")
        assert "often a stub" in inspect(tmp_path, "nvidia-x", index_url=index.simple)["table"]
        names = ("source", "other", "apart", "older", "neither")
        results = {name: inspect(tmp_path, name, index_url=index.simple) for name in names}
        together = inspect(tmp_path, "older\nneither", index_url=index.simple)["table"]
        asked, run = list[str](), resolve._run
        monkeypatch.setattr(resolve, "_run", lambda line, text: asked.append(text) or run(line, text))
        inspect(tmp_path, "neither", index_url=index.simple)
    answers = {name: (result["verdict"], result["findings"][0]["kind"]) for name, result in results.items()}
    # Whether a package that must be built works is not known.
    assert answers.pop("source") == ("perhaps", "sdist") and "stub" not in results["source"]["table"]
    assert answers.pop("apart") == ("no", "unresolved")
    assert answers == dict.fromkeys(("other", "older", "neither"), ("no", "platform"))
    assert "cp310" in results["older"]["table"]
    assert "platforms" not in results["older"]["table"]
    of_neither = "tags `cp310`, for the platforms `manylinux2014_x86_64`, and no source."
    assert of_neither in results["neither"]["table"]
    # Each of several packages is explained; one is resolved for both machines, and for the Python that has wheels.
    assert of_neither in together and "1.0 has wheels only with the Python ABI tags `cp310`, and no source" in together
    assert asked == ["neither", "neither", "neither==1.0"]


def test_release_whose_metadata_refuses_the_python_is_a_no(tmp_path: Path) -> None:
    with contextlib.closing(PackageIndex()) as index:
        # uv takes the source in spite of the upper bound, and pip does not.
        index.add("bound", "0.58.1", tag="cp311-cp311-manylinux2014_aarch64", python=">=3.8,<3.12")
        index.files["/simple/bound/"] += f'<a href="/files/bound-0.58.1.tar.gz#sha256={"a" * 64}">s</a>'.encode()
        result = inspect(tmp_path, "bound==0.58.1", index_url=index.simple)
        # The wheels say which Pythons the release knows, even without an upper bound.
        index.add("unbound", "0.58.1", tag="cp311-cp311-manylinux2014_aarch64", python=">=3.8")
        index.files["/simple/unbound/"] += f'<a href="/files/unbound-0.58.1.tar.gz#sha256={"a" * 64}">s</a>'.encode()
        # A file of any name, and a Requires-Python that is none, do not end the inspection.
        index.files["/simple/unbound/"] += b'<a href="/files/odd.whl">o</a>'
        index.add("unbound", "0.58.0", tag="cp310-cp310-manylinux2014_aarch64", python="three")
        unbound = inspect(tmp_path, "unbound==0.58.1", index_url=index.simple)
    assert (unbound["verdict"], unbound["findings"][0]["kind"]) == ("perhaps", "sdist")
    assert "only for cp311" in unbound["table"]
    assert (result["verdict"], [finding["kind"] for finding in result["findings"]]) == ("no", ["python"])
    assert "refuses Python 3.12 (Requires-Python >=3.8,<3.12)" in result["table"]


def test_package_without_a_wheel_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "source-1.0.tar.gz").write_bytes(b"")
    write_wheel(tmp_path, "plain", "1.0", {"plain.py": ""})
    write_wheel(tmp_path, "user", "1.0", {"user.py": ""}, requires=["source>=0.5"])
    for target in ("plain\nuser", "plain\nuser\nsource"):
        result = inspect(tmp_path, target)
        assert sorted(package["name"] for package in result["packages"]) == ["plain", "user"]
        findings = [(finding["package"], finding["level"], finding["kind"]) for finding in result["findings"]]
        assert (result["verdict"], findings) == ("perhaps", [("source", "perhaps", "sdist")])


def test_requirement_that_its_marker_leaves_out_is_not_a_yes(tmp_path: Path) -> None:
    write_wheel(tmp_path, "decord", "0.6.0", {"decord.py": ""})
    write_wheel(tmp_path, "thing", "1.0", {"thing.py": ""})
    line = "decord==0.6.0; platform_machine != 'aarch64'"
    alone = inspect(tmp_path, line)
    assert (alone["verdict"], alone["findings"][0]["kind"], alone["packages"]) == ("perhaps", "marker", [])
    assert "marker excludes" in alone["table"]
    beside = inspect(tmp_path, f"thing\n{line}")
    assert (beside["verdict"], [finding["level"] for finding in beside["findings"]]) == ("yes", ["note"])


def test_marker_of_a_direct_wheel_chooses_among_two(tmp_path: Path) -> None:
    code = {"thing/_C.abi3.so": elf_writer.elf_bytes()}
    write_wheel(tmp_path, "thing", "1.0", code)
    write_wheel(
        tmp_path / "other", "thing", "1.0", {"thing/_C.abi3.so": elf_writer.elf_bytes(machine=elf_writer.X86_64)}
    )
    wheel, other = tmp_path.glob("*.whl"), (tmp_path / "other").glob("*.whl")
    lines = tmp_path / "requirements.txt"
    lines.write_text(
        f"thing @ file://{next(wheel)} ; platform_machine == 'aarch64'\n"
        f"thing @ file://{next(other)};'x86_64' == platform_machine\n"
    )
    result = inspect(tmp_path, f"-r {lines}")
    assert (result["verdict"], [finding["kind"] for finding in result["findings"]]) == ("yes", ["marker"])
    assert "is not a requirement" in inspect(tmp_path, "thing; platform_machine is 'aarch64'")["msg"]


@pytest.mark.parametrize("machine", [0, 224])
def test_extension_module_without_a_known_machine_is_a_no(tmp_path: Path, machine: int) -> None:
    wheel = write_wheel(tmp_path, "thing", "1.0", {"thing/_C.abi3.so": elf_writer.elf_bytes(machine=machine)})
    result = inspect(tmp_path, str(wheel))
    assert (result["verdict"], [finding["kind"] for finding in result["findings"]]) == ("no", ["machine"])


def test_a_version_missing_on_the_index_is_a_no_with_the_available_ones(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.11.0", "0.11.1"):
        write_wheel(tmp_path, "torchcodec", version, {"torchcodec.py": ""})
    write_wheel(tmp_path, "thing", "1.0", {"thing.py": ""})
    result = inspect(tmp_path, "thing\ntorchcodec==0.10.0")
    (finding,) = result["findings"]
    assert (result["verdict"], finding["package"], finding["kind"]) == ("no", "torchcodec", "version")
    assert "torchcodec==0.10.0: " in finding["what"] and "0.11.1, 0.11.0, 0.9.0" in finding["what"]


def test_a_version_missing_for_this_machine_is_a_no_with_those_for_another(tmp_path: Path) -> None:
    with contextlib.closing(PackageIndex()) as index:
        for version in ("1.20.2", "1.22.0"):
            index.add("runtime-gpu", version, tag="cp312-cp312-manylinux_2_28_x86_64")
        result = inspect(tmp_path, "runtime-gpu==1.20.1; platform_system != 'Darwin'", index_url=index.simple)
    (finding,) = result["findings"]
    assert (result["verdict"], finding["kind"]) == ("no", "version")
    assert finding["what"].endswith("the index has 1.22.0, 1.20.2 for x86_64.")


def test_files_are_sorted_by_their_names(tmp_path: Path) -> None:
    write_wheel(tmp_path, "thing", "1.0", {"thing.py": ""})
    (tmp_path / "requirements.txt").write_text("thing\n")
    assert inspect(tmp_path, f"{tmp_path}/requirements.txt")["packages"][0]["name"] == "thing"
    (tmp_path / "other_thing-2.8.3.tar.gz").write_text("")
    result = inspect(tmp_path, f"{tmp_path}/other_thing-2.8.3.tar.gz")
    assert (result["verdict"], result["findings"][0]["kind"]) == ("perhaps", "source")
    assert "built from source" in result["table"] and "other_thing==2.8.3" in result["table"]


def test_bare_library_is_judged_without_a_wheel(tmp_path: Path) -> None:
    result = inspect(tmp_path, str(elf_writer.write_elf(tmp_path / "libthing.so.1", needed=["libnobody.so.1"])))
    assert (result["verdict"], [finding["kind"] for finding in result["findings"]]) == ("no", ["soname"])
    assert result["packages"][0]["name"] == "libthing.so.1"


def test_requirements_files_are_read_with_their_includes(tmp_path: Path) -> None:
    wheels = [("", "thing", "1.0"), ("", "thing", "2.0"), ("more", "beside", "1.0"), ("", "base", "1")]
    for folder, name, version in wheels:
        write_wheel(tmp_path / folder, name, version, {f"{name}.py": ""})
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/base.txt").write_text("base  # needed by all\n")
    (tmp_path / "requirements/constraints.txt").write_text("thing<2\n")
    (tmp_path / "requirements/all.txt").write_text(
        f"-r base.txt\n--constraint=constraints.txt\n--find-links {tmp_path}/more\n--pre\nthing \\\n  >=0.5\nbeside\n"
        "--extra-index-url http://127.0.0.1:9/\n--no-index\n-e ./here\ngit+https://user:secret@example.com/x.git@main\n"
        "other @ git+ssh://git@example.com/y\nsdist @ https://example.com/sdist-1.tar.gz\n"
    )
    result = inspect(tmp_path, f"-r {tmp_path}/requirements/all.txt", index_url=None)
    packages = {package["name"]: package["version"] for package in result["packages"]}
    assert packages == {"base": "1", "thing": "1.0", "beside": "1.0"}
    assert (result["verdict"], {finding["kind"] for finding in result["findings"]}) == ("perhaps", {"source"})
    assert sum("built from source" in row for row in result["not_looked_at"]) == 4
    assert "secret" not in str(result)


def test_wheels_by_url_and_by_file_are_inspected(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "served", "vllm", "0.13.0+cu130", {"vllm.py": ""})
    with contextlib.closing(Server()) as server:
        path = f"/x/{wheel.name.replace('+', '%2B')}"
        server.files[path] = wheel.read_bytes()
        url = f"{server.url}{path}"
        for target in (url, f"vllm @ {url}", f"vllm @ file://{wheel}", f"file://{wheel}", str(wheel)):
            result = inspect(tmp_path, target)
            assert (result["verdict"], result["packages"][0]["version"]) == ("yes", "0.13.0+cu130"), target
        result = inspect(tmp_path, f"{server.url}/x/gone-1.0-py3-none-any.whl")
        assert result["failed"] and "404" in result["cause"] and "Download it" in result["remedy"]


def test_wheel_without_its_file_is_judged_by_its_name(tmp_path: Path) -> None:
    name = "flash_attn-2.8.3+cu12torch2.11cxx11abiTRUE-cp312-cp312-linux_aarch64.whl"
    result = inspect(tmp_path, f"./{name}")
    assert (result["verdict"], [finding["kind"] for finding in result["findings"]]) == ("perhaps", ["name"])
    assert "CUDA 12 and torch 2.11" in result["table"]
    result = inspect(tmp_path, "./thing-1.0-cp312-cp312-linux_x86_64.whl")
    assert (result["verdict"], [finding["kind"] for finding in result["findings"]]) == ("no", ["platform"])
    assert "linux_x86_64" in result["table"]


@pytest.mark.parametrize("kind", ["recursive", "large", "many lines", "pipe"])
def test_unlimited_requirements_files_are_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "requirements.txt"
    if kind == "recursive":
        path.write_text("-r requirements.txt\n")
    elif kind == "large":
        path.write_bytes(b"#" * ((1 << 20) + 1))
    elif kind == "many lines":
        path.write_text("#\n" * 10_001)
    else:
        os.mkfifo(path)
    result = inspect(tmp_path, f"-r {path}")
    assert result["failed"] and result["remedy"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nothing-of-that-name", "nothing-of-that-name"),
        ("not a requirement", "not a requirement: "),
        ("-r /etc/passwd", "not a requirement: "),
        ("./thing-linux_x86_64.whl", "wheel file name"),
        ("-r /nowhere/requirements.txt", "cannot be read: No such file"),
        ("requirements-nowhere.txt", "cannot be read: No such file"),
        ("gone-1.0.tar.gz", "not a wheel, library, archive"),
        ("/etc/passwd", "not a wheel, library, archive"),
        ("nvidia/cuda:12.0-base-ubuntu20.04", "names an image"),
        ("nvcr.io/nvidia/pytorch:25.11-py3", "names an image"),
        ("vllm/vllm-openai", "names an image"),
        ("ubuntu:24.04", "names an image"),
    ],
)
def test_an_unresolvable_target_is_refused(tmp_path: Path, target: str, message: str) -> None:
    result = inspect(tmp_path, target)
    assert result["failed"] is True
    assert message in result["cause"]
    assert result["remedy"]


def test_a_directory_is_left_to_the_module_on_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def answer(name: str, arguments: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        calls.append((name, dict(arguments)))
        return {"changed": False, "verdict": "yes"}

    (tmp_path / "venv/lib").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    program = {"sha256": programs.PROOF.archive()[1]}
    for target, path in (("/srv/venv", "/srv/venv"), ("./venv/", str(tmp_path / "venv"))):
        options = {"target": target, "cuda": "13.0", "cache": str(tmp_path), "find_links": []}
        assert act(inspect_info.ActionModule, options, answer=answer)["verdict"] == "yes"
        assert calls.pop() == ("", {"target": path, "cuda": "13.0", "program": program})
