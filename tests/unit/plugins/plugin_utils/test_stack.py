"""A stack's facts: its files, refused definitions and locks, and the inputs of the lock id."""

import copy
import fnmatch
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.files import write_text
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load
from ansible_collections.sparkforge.dgx_spark.tools.lock import write
from sparkforge_proof import catalogue, run, settings, settings as proof_settings

COLLECTION = Path(__file__).parents[4]
SHIPPED = COLLECTION / "roles" / "stack"
MACHINES = ["cp312-linux-aarch64", "cp312-linux-x86_64"]
SHIPPED_PATHS = load.search_paths([], str(SHIPPED))
SHA = "a" * 64
OTHER = "b" * 64

SITE: dict[str, t.Any] = {
    "description": "A site's own",
    "cuda": {"version": "13.0"},
    "driver_minimum": "580.65.06",
    "systems": [{"id": "ubuntu", "version": "24.04"}],
    "machines": ["aarch64"],
    "python": {"version": "3.12", "minimum": "3.10", "maximum": "3.14"},
    "llvm_major": 20,
    "versions": {"torch": "2.13.0", "triton": "3.7.1", "torchvision": None, "torchaudio": "2.11.0"},
    "wheel": {"available": True, "cuda": "13.0", "without": {"torchaudio": "not wanted"}},
    "cusparselt": {"version": "0.8.1", "soname": "libcusparseLt.so.0"},
    "archives": [
        {
            "product": "cudss", "component": "libcudss", "release": "0.8.0", "version": "0.8.0.10", "variant": "cuda13",
            "soname": "libcudss.so.0", "sha256": {"linux-sbsa": SHA},
        }
    ],
    "sources": {},
}  # fmt: skip
LOCK: dict[str, t.Any] = {
    "format": 1,
    "stack": "site",
    "resolved": "2026-11-20",
    "archives": {"libcudss": {"release": "0.8.0", "version": "0.8.0.10", "sha256": {"linux-x86_64": OTHER}}},
    "wheels": {
        "cp312-linux-aarch64": [f"torch==2.13.0 --hash=sha256:{SHA}", f"filelock==4.2.11 --hash=sha256:{OTHER}"]
    },
    "sources": {},
}


class Site:
    """An inventory with a single stack and its lock, which tests change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stack = copy.deepcopy(SITE)
        self.lock: dict[str, t.Any] | None = copy.deepcopy(LOCK)

    @property
    def search_paths(self) -> load.SearchPaths:
        return load.search_paths([str(self.path)], str(SHIPPED))

    def write(self) -> None:
        for folder, key, content in (("stacks", "stack_definition", self.stack), ("locks", "stack_lock", self.lock)):
            (self.path / folder).mkdir(exist_ok=True)
            if content is not None:
                (self.path / folder / "site.yml").write_text(yaml.safe_dump({key: content}))

    def facts(self, name="site", method="wheel", profile="gb10", libraries="all") -> dict[str, t.Any]:
        self.write()
        stack = facts.facts(name, method, profile, self.search_paths, libraries=libraries)["stack"]
        return t.cast("dict[str, t.Any]", stack)

    def refusal(self, **arguments: str) -> SparkforgeError:
        with pytest.raises(SparkforgeError) as caught:
            self.facts(**arguments)
        assert caught.value.remedy
        return caught.value


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_the_facts_have_the_keys_that_roles_read(site: Site) -> None:
    stack = site.facts()
    assert stack["name"] == "site"
    assert stack["cuda"] == {"version": "13.0", "major": 13, "suffix": "13-0", "home": "/usr/local/cuda-13.0"}
    assert stack["profile"]["name"] == "gb10"
    assert stack["profile"]["architectures"] == "12.0"
    assert stack["driver_minimum"] == "580.65.06"
    assert stack["archives"][0]["sha256"] == {"linux-sbsa": SHA, "linux-x86_64": OTHER}
    assert stack["lock"]["wheels"]["cp312-linux-aarch64"][0].startswith("filelock==4.2.11 ")
    assert stack["cusparselt"]["archive"] is None


def test_a_package_without_a_wheel_has_no_version(site: Site) -> None:
    assert site.facts()["versions"]["torchaudio"] is None
    assert site.facts()["wheel"]["without"] == {"torchaudio": "not wanted"}


def test_a_stack_may_have_only_a_version_of_torch(site: Site) -> None:
    site.stack["versions"] = {"torch": "2.13.0"}
    del site.stack["wheel"]["without"]
    expected = {"torch": "2.13.0", "triton": None, "torchvision": None, "torchaudio": None}
    assert site.facts()["versions"] == expected
    lock_id = site.facts()["lock"]["id"]
    site.stack["versions"] = expected
    assert site.facts()["lock"]["id"] == lock_id, "an omitted version equals one that is null"
    # A stack that builds only PyTorch does not need the versions of other units.
    site.stack["versions"] = {"torch": "2.13.0"}
    site.stack["sources"] = {"pytorch": {"url": "https://x.example/p.git", "ref": "c" * 40}}
    site.stack["units"] = {"pytorch": {}}
    assert list(site.facts(method="build")["units"]) == ["pytorch"]


def test_the_inventory_comes_before_the_collection(site: Site) -> None:
    site.write()
    stack_file = site.path / "stacks" / "torch-2.15.0.yml"
    stack_file.write_text(yaml.safe_dump({"stack_definition": {**site.stack, "description": "mine"}}))
    assert load.load("torch-2.15.0", site.search_paths)[1] == str(stack_file)


def test_a_requested_directory_comes_before_the_inventory(site: Site, tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    (first / "site.yml").write_text(yaml.safe_dump({"stack_definition": {**SITE, "description": "first"}}))
    site.write()
    paths = load.search_paths([str(site.path)], str(SHIPPED), [str(first)])
    assert load.load("site", paths)[0]["description"] == "first"


def test_an_unknown_stack_lists_the_known_ones_and_the_search_paths(site: Site) -> None:
    error = site.refusal(name="torch-2.15")
    for message in ("torch-2.15.yml", str(site.path / "stacks"), str(SHIPPED / "vars"), "torch-2.9.1", "site,"):
        assert message in error.cause
    assert "`torch-2.15.0`" in error.remedy


@pytest.mark.parametrize("name", ["../site", "", "profiles", "a/b"])
def test_a_path_or_the_file_of_profiles_is_not_a_stack_name(site: Site, name: str) -> None:
    assert "is unknown" in site.refusal(name=name).cause


def test_an_unknown_profile_lists_the_known_ones(site: Site) -> None:
    error = site.refusal(profile="gb1")
    assert "gb10, generic, thor" in error.cause
    assert "`gb10`" in error.remedy


def test_an_unknown_method_names_the_nearest(site: Site) -> None:
    assert "Set stack_method to wheel" in site.refusal(method="wheels").remedy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"driver_minimun": "580"}, "did you mean driver_minimum"),
        ({"cuda": {"version": 13.0}}, "cuda.version is the number 13.0: quote it"),
        ({"python": {"version": 3.1, "minimum": "3.10", "maximum": "3.14"}}, "python.version is the number 3.1"),
        ({"python": {"version": "3.9", "minimum": "3.10", "maximum": "3.14"}}, "3.9 is outside 3.10 to 3.14"),
        ({"machines": []}, "machines is an"),
        ({"machines": ["arm64"]}, "machines[0] is 'arm64', write it as aarch64 or x86_64"),
        ({"machines": "aarch64"}, "machines must be a list, not a string"),
        ({"llvm_major": "20"}, "llvm_major must be an integer, not a string"),
        ({"llvm_major": True}, "llvm_major must be an integer, not a truth value"),
        ({"llvm_major": 3}, "be from 14 to 99"),
        ({"description": None}, "description is empty"),
        ({"versions": {"torch": "latest"}}, "versions.torch is 'latest'"),
        ({"versions": {"triton": "3.7.1"}}, "versions.torch is missing"),
        (
            {
                "versions": {"torch": "2.13.0"},
                "sources": {"torchvision": {"url": "https://x.example/v.git", "ref": "main"}},
                "units": {"torchvision": {}},
            },
            "versions.torchvision is missing, but units.torchvision builds it",
        ),
        ({"wheel": {"available": False, "cuda": None}}, "wheel.reason is missing"),
        ({"wheel": {"available": "yes", "cuda": None}}, "wheel.available must be true or false"),
        ({"profiles": {"gb10": {"architecture": "12.0"}}}, "did you mean architectures"),
        ({"profiles": {"gb10": {"architectures": "sm_121"}}}, "profiles.gb10.architectures is 'sm_121'"),
        ({"archives": SITE["archives"] * 2}, "archives has libcudss twice"),
        ({"archives": [{**SITE["archives"][0], "sha256": {"linux-aarch64": SHA}}]}, "linux-aarch64 is not"),
        ({"archives": [{**SITE["archives"][0], "sha256": {"linux-sbsa": "abc"}}]}, "64 hexadecimal digits"),
        # The recipe from 2025 builds torchvision v0.9.2, released in 2021.
        (
            {"versions": {**SITE["versions"], "torch": "2.9.1", "torchvision": "0.9.2"}},
            "torchvision 0.9.2 does not fit",
        ),
        ({"sources": {"pytorch": {"url": "https://x.example/p.git", "ref": "v2.12.0"}}}, "versions says 2.13.0"),
        ({"sources": {"pytorch": {"url": None, "ref": "v2.13.0"}}}, "ref names no"),
        ({"sources": {"tool": {"url": None, "ref": None}}}, "no other source"),
        ({"sources": {"tool": {"archive": "https://x.example/a.tar.gz"}}}, "sources.tool.sha256 is missing"),
        ({"sources": {"tool": {"archive": "a.tar.gz", "sha256": SHA}}}, "sources.tool.archive is 'a.tar.gz'"),
        (
            {"sources": {"a": {"url": "https://x.example/a", "ref": None, "pin": {"source": "b", "files": ["x"]}}}},
            "sources.a.pin.source is b",
        ),
        ({"units": {"tool": {}}}, "units.tool has no source: it lacks sources.tool"),
        ({"units": {"tool": {"environmnt": {}}}}, "did you mean environment"),
        ({"units": {"tool": {"environment": {"USE_X": 1.5}}}}, "quote it"),
        ({"units": {"tool": {"requirements": ["cmake<4"]}}}, "write it as setuptools==80.9.0"),
        ({"units": {"tool": {"depends": ["other"]}}}, "units.tool.depends names other"),
        ({"units": {"a": {"depends": ["b"]}, "b": {"depends": ["a"]}}}, "units.a depends on itself: a -> b -> a"),
        ({"units": {"a": {"depends": ["a"]}}}, "units.a depends on itself: a -> a"),
        ({"units": {"beside": {}}}, "units.beside is not"),
    ],
)
def test_an_invalid_stack_is_refused_with_key_and_expected_value(site: Site, change: dict[str, t.Any], message: str):
    site.stack.update(change)
    error = site.refusal()
    assert message in error.cause
    assert str(site.path / "stacks" / "site.yml") in error.cause


def test_all_problems_of_a_stack_are_reported_at_once(site: Site) -> None:
    site.stack.update({"llvm_major": "x", "machines": [], "extra": 1})
    del site.stack["cuda"]
    error = site.refusal()
    assert len(error.details["problems"]) == 4
    assert "4 problems" in error.cause


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stack_definition: [", "valid YAML"),
        ("stack: {}", "single top-level key"),
        ("", "single top-level key"),
        ("stack_definition: {}\nextra: {}", "it has stack_definition, extra"),
        ("stack_definition: {a: 1, a: 2}", "duplicate key 'a'"),
        ("stack_definition: !!python/object/apply:os.getcwd []", "valid YAML"),
        ("\u0001", "valid YAML"),
    ],
)
def test_a_file_that_is_not_a_stack_is_refused_and_runs_nothing(site: Site, text: str, message: str) -> None:
    (site.path / "stacks").mkdir()
    (site.path / "stacks" / "broken.yml").write_text(text)
    with pytest.raises(SparkforgeError) as caught:
        load.load("broken", site.search_paths)
    assert message in caught.value.cause


def test_a_stack_without_wheels_is_refused_with_its_reason() -> None:
    with pytest.raises(SparkforgeError) as caught:
        facts.facts("torch-2.9.1", "wheel", "gb10", SHIPPED_PATHS)
    assert "CPU builds" in caught.value.cause
    assert "Set stack_method to build" in caught.value.remedy
    assert "stack_lock_index_url" in caught.value.remedy


def test_the_inventory_may_pin_wheels_for_a_stack_that_has_none(site: Site) -> None:
    site.stack["wheel"].update(available=False, reason="only elsewhere")
    assert site.facts()["lock"]["wheels"]


def test_a_stack_without_a_lock_names_the_playbook_that_writes_it(site: Site) -> None:
    site.lock = None
    assert "sparkforge.dgx_spark.lock -e stack_name=site" in site.refusal().remedy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"versions": {**SITE["versions"], "torch": "2.14.1"}}, "has torch 2.13.0 for cp312-linux-aarch64"),
        ({"versions": {**SITE["versions"], "torchvision": "0.28.0"}}, "has torchvision (none)"),
        ({"archives": [{**SITE["archives"][0], "version": "0.8.0.11"}]}, "libcudss version 0.8.0.10"),
        ({"archives": [{**SITE["archives"][0], "sha256": {"linux-x86_64": SHA}}]}, "the stack pins " + SHA),
    ],
)
def test_an_outdated_lock_is_refused(site: Site, change: dict[str, t.Any], message: str) -> None:
    site.stack.update(change)
    assert message in site.refusal().cause


def test_an_archive_without_any_sha256_is_refused(site: Site) -> None:
    assert site.lock is not None
    del site.stack["archives"][0]["sha256"]
    site.lock["archives"] = {}
    assert "No sha256 is known for libcudss 0.8.0.10" in site.refusal().cause


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stack": "other"}, "the stack other"),
        ({"wheels": {"cp312-linux-aarch64": ["torch==2.13.0"]}}, "--hash=sha256"),
        ({"wheels": {"cp312-linux-arm64": []}}, "cp312-linux-arm64 is not"),
        ({"wheels": {"cp312-linux-aarch64": [f"torch @ https://x --hash=sha256:{SHA}"]}}, "name==version"),
        ({"format": 2}, "format is 2"),
    ],
)
def test_a_wrong_lock_is_refused(site: Site, change: dict[str, t.Any], message: str) -> None:
    assert site.lock is not None
    site.lock.update(change)
    assert message in site.refusal().cause


def test_lock_id_depends_only_on_the_pins(site: Site) -> None:
    first = site.facts()["lock"]["id"]
    assert len(first) == 12
    assert int(first, 16) >= 0
    assert site.lock is not None
    site.stack["description"] = "Another description"
    site.lock["resolved"] = "2027-01-01"
    site.lock["wheels"]["cp312-linux-aarch64"].reverse()
    assert site.facts()["lock"]["id"] == first
    assert site.facts(profile="generic")["lock"]["id"] == first
    site.lock["wheels"]["cp312-linux-aarch64"][0] = f"filelock==4.2.11 --hash=sha256:{SHA}"
    assert site.facts()["lock"]["id"] != first


def test_a_stack_amends_a_profile_and_adds_one(site: Site) -> None:
    workstation = {
        "description": "A workstation", "compute_capability": "12.0", "architectures": "12.0", "unified_memory": False,
        "memory_minimum_mib": 1024, "driver_minimum": "590.1",
    }  # fmt: skip
    site.stack["profiles"] = {"thor": {"driver_minimum": "580.00"}, "workstation": workstation}
    assert site.facts(profile="thor")["driver_minimum"] == "580.00"
    assert site.facts(profile="thor")["profile"]["architectures"] == "11.0"
    assert site.facts(profile="workstation")["driver_minimum"] == "590.1"
    assert site.facts()["driver_minimum"] == "580.65.06"


def test_a_new_profile_of_a_stack_must_be_complete(site: Site) -> None:
    site.stack["profiles"] = {"workstation": {"description": "A workstation"}}
    assert "lacks architectures" in site.refusal(profile="workstation").cause


COMMIT = "1" * 40
LINE = f"cmake==3.31.10 --hash=sha256:{SHA}"
BUILT_SOURCES: dict[str, t.Any] = {
    "pytorch": {"url": "https://example.com/pytorch.git", "ref": "v2.13.0"},
    "triton": {"url": "https://example.com/triton.git", "ref": None},
    "llvm": {"url": None, "ref": None, "submodules": False},
    "tool": {"archive": "https://example.com/tool-1.0.tar.gz", "sha256": SHA},
    "flash_attention": {"url": "https://example.com/flash.git", "ref": "v2"},
}
BUILT_UNITS: dict[str, t.Any] = {
    "llvm": {},
    "triton": {"requirements": ["cmake==3.31.10"], "environment": {"A": 1}},
    "pytorch": {"requires": ["filelock"]},
    "tool": {"depends": ["pytorch"]},
    "flash_attention": {"optional": True},
}
BUILT_LOCK: dict[str, t.Any] = {
    "sources": {
        "pytorch": {"url": "https://example.com/pytorch.git", "ref": "v2.13.0", "commit": COMMIT},
        "triton": {
            "url": "https://example.com/triton.git",
            "ref": None,
            "commit": "2" * 40,
            "pinned_by": {"source": "pytorch", "commit": COMMIT, "file": "pins/triton.txt"},
        },
        "llvm": {"url": "https://example.com/llvm.git", "ref": None, "commit": "3" * 40},
    },
    "build_requirements": {"cp312-linux-aarch64": {"triton": [LINE], "llvm": []}},
    "run_requirements": {"cp312-linux-aarch64": {"pytorch": [f"filelock==4.2.11 --hash=sha256:{SHA}"]}},
}


@pytest.fixture
def built_site(site: Site) -> Site:
    """A site whose stack is built from source."""
    site.stack.update(copy.deepcopy({"sources": BUILT_SOURCES, "units": BUILT_UNITS}))
    site.lock = {**copy.deepcopy(LOCK), "wheels": {}, **copy.deepcopy(BUILT_LOCK)}
    return site


def test_a_unit_has_its_commit_and_its_requirements_from_the_lock(built_site: Site) -> None:
    stack = built_site.facts(method="build")
    assert stack["units"]["triton"] == {
        "optional": False,
        "environment": {"A": 1},
        "source": {"repo": "https://example.com/triton.git", "version": "2" * 40, "submodules": True},
        "patches": [],
        "requirements": {"cp312-linux-aarch64": [LINE]},
    }
    assert stack["units"]["llvm"]["source"] == {
        "repo": "https://example.com/llvm.git",
        "version": "3" * 40,
        "submodules": False,
    }
    assert stack["units"]["tool"]["source"] == {"archive": "https://example.com/tool-1.0.tar.gz", "sha256": SHA}
    assert stack["lock"]["run_requirements"]["cp312-linux-aarch64"]["pytorch"][0].startswith("filelock==")
    assert stack["lock"]["sources"]["triton"]["pinned_by"]["source"] == "pytorch"


def test_a_commit_in_the_stack_needs_no_lock(built_site: Site) -> None:
    assert built_site.lock is not None
    built_site.stack["sources"]["pytorch"]["ref"] = "4" * 40
    built_site.stack["sources"]["triton"]["ref"] = "5" * 40
    built_site.lock["sources"] = {"llvm": built_site.lock["sources"]["llvm"]}
    assert built_site.facts(method="build")["units"]["pytorch"]["source"]["version"] == "4" * 40


def test_a_patch_beside_the_stack_precedes_one_of_the_role(built_site: Site) -> None:
    (built_site.path / "stacks").mkdir()
    (built_site.path / "stacks/own.patch").write_text("--- a\n")
    built_site.stack["units"]["pytorch"]["patches"] = ["own.patch", "of-the-role.patch"]
    patches = built_site.facts(method="build")["units"]["pytorch"]["patches"]
    assert patches == [str(built_site.path / "stacks/own.patch"), "of-the-role.patch"]


def remove(*path: str) -> t.Callable[[dict[str, t.Any]], None]:
    def change(lock: dict[str, t.Any]) -> None:
        for key in path[:-1]:
            lock = lock[key]
        del lock[path[-1]]

    return change


def replace(value: t.Any, *path: str) -> t.Callable[[dict[str, t.Any]], None]:
    def change(lock: dict[str, t.Any]) -> None:
        for key in path[:-1]:
            lock = lock[key]
        lock[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (remove("sources", "llvm"), "the commit of llvm is not known"),
        (remove("build_requirements"), "requirements of triton"),
        (remove("run_requirements"), "run-time requirements"),
        (replace("v2.12.0", "sources", "pytorch", "ref"), "pytorch v2.12.0, but the stack"),
        (replace("9" * 40, "sources", "pytorch", "commit"), "pytorch 111111111111 pins it, but pytorch 999999999999"),
        (
            replace([LINE.replace("3.31.10", "3.31.9")], "build_requirements", "cp312-linux-aarch64", "triton"),
            "cmake 3.31.9 on cp312-linux-aarch64, but the",
        ),
    ],
)
def test_an_incomplete_or_outdated_lock_of_a_build_is_refused(built_site: Site, change, message):
    assert built_site.lock is not None
    change(built_site.lock)
    error = built_site.refusal(method="build")
    assert message in error.cause
    assert "sparkforge.dgx_spark.lock -e stack_name=site" in error.remedy
    assert "stack_method: wheel" in error.remedy


def test_all_gaps_of_a_lock_are_reported_at_once_and_removal_needs_no_lock(built_site: Site) -> None:
    built_site.lock = None
    assert len(built_site.refusal(method="build").details["problems"]) == 5
    built_site.write()
    stack = facts.facts("site", "build", "gb10", built_site.search_paths, lock_required=False)["stack"]
    assert stack["units"]["pytorch"]["source"] is None
    assert stack["units"]["triton"]["requirements"] == BUILT_UNITS["triton"]["requirements"]
    del built_site.stack["archives"][0]["sha256"]
    built_site.write()
    assert facts.facts("site", "wheel", "gb10", built_site.search_paths, lock_required=False)["stack"]["name"] == "site"


def test_a_stack_without_units_is_not_built(site: Site) -> None:
    error = site.refusal(method="build")
    assert "names no units" in error.cause
    assert "stack_method: wheel" in error.remedy


def test_lock_id_of_a_build_depends_on_units_and_requirements(built_site: Site) -> None:
    assert built_site.lock is not None
    first = built_site.facts(method="build")["lock"]["id"]
    built_site.stack["description"] = "Another description"
    assert built_site.facts(method="build")["lock"]["id"] == first
    built_site.stack["units"]["triton"]["environment"]["A"] = 2
    second = built_site.facts(method="build")["lock"]["id"]
    built_site.lock["build_requirements"]["cp312-linux-aarch64"]["triton"] = [LINE.replace(SHA, OTHER)]
    assert len({first, second, built_site.facts(method="build")["lock"]["id"]}) == 3


HOME = "/usr/local/cuda-13.0"


@pytest.mark.parametrize(
    ("version", "built_here", "expected"),
    [
        (None, True, {}),
        # The ptxas in Triton 3.5 does not know sm_121a, whether from a wheel or built here.
        ("3.5.1", False, {"TRITON_PTXAS_PATH": f"{HOME}/bin/ptxas"}),
        ("3.6.0", False, {}),
        ("3.10.0", False, {}),
    ],
)
def test_a_triton_with_an_old_ptxas_gets_that_of_the_host(version: str | None, built_here, expected: dict[str, str]):
    assert facts.triton_environment(version, HOME, built=built_here) == expected


@pytest.mark.parametrize(("version", "blackwell"), [("3.5.1", False), ("3.6.0", True), ("3.10.0", True)])
def test_a_triton_that_is_built_here_gets_tools_and_headers_of_the_host(version: str, blackwell: bool) -> None:
    environment = facts.triton_environment(version, HOME, built=True)
    assert environment["TRITON_PTXAS_PATH"] == f"{HOME}/bin/ptxas"
    assert ("TRITON_PTXAS_BLACKWELL_PATH" in environment) is blackwell
    assert environment["TRITON_CUDART_PATH"] == f"{HOME}/include"
    # CPATH would affect every compilation by the user.
    assert "CPATH" not in environment


SHIPPED_STACKS = sorted(path.stem for path in SHIPPED.glob("vars/*.yml") if path.stem != "profiles")


@pytest.mark.parametrize("name", SHIPPED_STACKS)
def test_a_shipped_stack_and_its_lock_are_valid_and_written_as_the_playbook_writes(name: str) -> None:
    definition, _path = load.load(name, SHIPPED_PATHS)
    lock, lock_path = load.load_lock(name, SHIPPED_PATHS)
    assert lock is not None and lock_path is not None
    assert Path(lock_path).read_text() == write.lock_text(lock)
    assert definition["python"]["version"] == "3.12"


def test_the_shipped_lock_of_the_newest_release_has_its_wheels_for_every_machine() -> None:
    stack = facts.facts("torch-2.15.0", "wheel", "gb10", SHIPPED_PATHS)["stack"]
    assert sorted(stack["lock"]["wheels"]) == MACHINES
    lines = stack["lock"]["wheels"]["cp312-linux-aarch64"]
    assert facts.locked_version(lines, "triton") == "3.9.0"
    assert facts.locked_version(lines, "nvidia-cudnn-cu13") == "9.26.0.51"
    assert facts.locked_version(lines, "torchaudio") is None
    # The sha256 is that of the wheel in the index.
    assert "torch==2.15.0 --hash=sha256:9e51cf9460c5441dcd2a4f31ece207e35ea7c3d2535be0f929cca4944e2eeb18" in lines


@pytest.mark.parametrize(
    ("method", "libraries", "stack_libraries", "expected"),
    [
        ("wheel", "auto", None, "wheels"),
        ("wheel", "all", None, "all"),
        ("wheel", "auto", "all", "all"),
        ("build", "auto", None, "all"),
    ],
)
def test_libraries_come_from_wheels_or_for_a_build_from_the_host(
    built_site: Site, method: str, libraries: str, stack_libraries: str | None, expected: str
) -> None:
    assert built_site.lock is not None
    built_site.lock["wheels"] = copy.deepcopy(LOCK["wheels"])
    lock_id = built_site.facts(method=method)["lock"]["id"]
    if stack_libraries:
        built_site.stack["wheel"]["libraries"] = stack_libraries
    stack = built_site.facts(method=method, libraries=libraries)
    assert stack["libraries"] == expected
    assert bool(stack["archives"]) == (expected == "all")
    # The environment's contents are the same.
    assert stack["lock"]["id"] == lock_id


def test_the_cpu_stack_has_no_cuda_packages() -> None:
    stack = facts.facts("cpu", "wheel", "gb10", SHIPPED_PATHS)["stack"]
    assert (stack["wheel"]["cuda"], stack["archives"], stack["activation"]) == (None, [], {})
    lines = stack["lock"]["wheels"]["cp312-linux-aarch64"]
    assert not [line for line in lines if line.startswith(("nvidia-", "cuda-", "triton"))]
    # The sha256 comes from the index's metadata of the wheel, whose torch/version.py has 2.10.0+cpu.
    assert "torch==2.10.0 --hash=sha256:5fd4117d89ffd47e3dcc71e71a22efac24828ad781c7e46aaaf56bf7f2796acf" in lines


def test_the_default_stack_has_official_wheels_of_one_cuda_on_every_machine() -> None:
    default = yaml.safe_load((SHIPPED / "defaults" / "main.yml").read_text())
    assert (default["stack_name"], default["stack_method"]) == ("", "build")
    stack = facts.facts(default["stack_default"], "wheel", "gb10", SHIPPED_PATHS)["stack"]
    assert sorted(stack["lock"]["wheels"]) == MACHINES
    # The wheels' CUDA version equals the host's, because torchaudio compares the two on import.
    assert (stack["wheel"]["cuda"], stack["wheel"]["without"]) == (stack["cuda"]["version"], {})
    assert all(stack["versions"].values())
    for lines in stack["lock"]["wheels"].values():
        for name, version in stack["versions"].items():
            assert facts.locked_version(lines, name) == version
        assert (facts.locked_version(lines, "nvidia-cuda-runtime") or "").startswith("13.0.")
    # The sha256 comes from the index's metadata of the wheel.
    line = "torch==2.14.1 --hash=sha256:0b13acde294b401509830d85a8906cbf2fc97425a12a66cce1d9fa13c5106a2a"
    assert line in stack["lock"]["wheels"]["cp312-linux-aarch64"]


@pytest.mark.parametrize(
    ("name", "commits"),
    [
        (
            "torch-2.9.1",
            {"llvm": "7d5de3033187c8a3bb4d2e322f5462cdaf49808f", "triton": "bfeb066872bc1e8b2d2bc0a3b295b99dd77206e7"},
        ),
        # PyTorch's commit is the wheels' git_version; the stack's file has the sources of the others.
        (
            "torch-2.14.1",
            {
                "llvm": "5f07f818b51b786b0a87b4e514882600ecba112f",
                "triton": "c01b6774b1865984607d89d89d3a10833de92037",
                "compute_library": "7b256bb7965f2fd99cdee790a4b0e56dab438a8c",
                "pytorch": "5c4886908584029761b579af026dcfb627c84070",
            },
        ),
    ],
)
def test_a_complete_lock_suffices_to_build_a_release(name: str, commits: dict[str, str]) -> None:
    stack = facts.facts(name, "build", "gb10", SHIPPED_PATHS)["stack"]
    units = [*dict.fromkeys(("llvm", "triton", *commits, "pytorch"))]
    assert list(stack["units"]) == [*units, "torchvision", "torchaudio", "flash_attention"]
    assert stack["extensions"] == ["torchvision", "torchaudio"]
    for unit_name, unit in stack["units"].items():
        # Optional units need a commit too: flash-attention's was once missing, so a request for it was refused.
        assert len(unit["source"]["version"]) == 40, unit_name
        no_python = unit["optional"] or unit_name in ("llvm", "compute_library")
        assert no_python or sorted(unit["requirements"]) == MACHINES
    assert {unit_name: stack["units"][unit_name]["source"]["version"] for unit_name in commits} == commits
    # Triton's pyproject.toml requires CMake below 4.
    lines = stack["units"]["triton"]["requirements"]["cp312-linux-aarch64"]
    assert (facts.locked_version(lines, "cmake") or "").startswith("3.")


def test_the_newest_release_lacks_a_commit_and_is_installed_from_wheels() -> None:
    with pytest.raises(SparkforgeError) as caught:
        facts.facts("torch-2.15.0", "build", "gb10", SHIPPED_PATHS)
    # The repository with Triton's pin was unreachable when the lock was written.
    assert caught.value.details["problems"] == ["the commit of triton is not known"]
    assert "stack_method: wheel" in caught.value.remedy
    assert facts.facts("torch-2.15.0", "wheel", "gb10", SHIPPED_PATHS)["stack"]["activation"] == {}


def test_shipped_files_contain_only_urls_of_sources() -> None:
    for path in SHIPPED.rglob("*.yml"):
        for word in path.read_text().split():
            if "://" in word:
                assert "https://github.com/" in word, (path, word)


@pytest.mark.parametrize(
    "path", sorted((COLLECTION / "inventory" / "stacks").glob("*.yml")), ids=lambda path: path.stem
)
def test_the_stacks_of_the_example_inventory_are_valid(path: Path) -> None:
    assert load.read_file(str(path), "stack")


def test_shipped_profiles_name_existing_checks_and_rates() -> None:
    profiles = load.read_file(str(SHIPPED / "vars" / "profiles.yml"), "profiles")
    names = [*catalogue.CHECKS, *settings.HOST_ROWS]
    for name, profile in profiles.items():
        assert all(fnmatch.filter(names, pattern) for pattern in profile["required_checks"]), name
        assert set(profile["speed_floors"]) <= set(proof_settings.RATES), name
        assert all(floor["ratio"] < 1 for floor in profile["speed_floors"].values())


@pytest.mark.parametrize("profile", ["gb10", "thor", "generic"])
@pytest.mark.parametrize("stack", [name for name in SHIPPED_STACKS if name.startswith("torch-")])
def test_each_shipped_profile_fits_each_shipped_stack(stack: str, profile: str) -> None:
    fact = facts.facts(stack, "wheel", profile, SHIPPED_PATHS, lock_required=False)["stack"]
    assert fact["profile"]["name"] == profile
    run.Proof({"profile": fact["profile"]})
    if profile == "thor":
        assert (fact["profile"]["compute_capability"], fact["profile"]["architectures"]) == ("11.0", "11.0")
        assert fact["profile"]["unified_memory"] is True and fact["driver_minimum"] == "580.00"


@pytest.mark.parametrize("evidence", ["seen somewhere", "", "measured"])
def test_a_floor_names_evidence_of_one_of_three_kinds(site: Site, evidence: str) -> None:
    floor = {"nominal": 1.0, "ratio": 0.5, "evidence": evidence}
    site.stack["profiles"] = {"gb10": {"speed_floors": {"copy_gb_per_s": floor}}}
    cause = site.refusal().cause
    assert "profiles.gb10.speed_floors.copy_gb_per_s.evidence" in cause and "from the data sheet" in cause


def test_no_shipped_profile_lists_the_architecture_whose_attention_kernel_is_empty() -> None:
    profiles = load.read_file(str(SHIPPED / "vars" / "profiles.yml"), "profiles")
    assert sorted(profiles) == ["gb10", "generic", "thor"]
    assert not [name for name, profile in profiles.items() if "12.1" in (profile["architectures"] or "")]


def test_a_failed_write_leaves_the_old_lock_and_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "site.yml"
    write_text(str(path), "old\n", "No.")
    assert path.stat().st_mode & 0o777 == 0o644
    with pytest.raises(UnicodeEncodeError):
        write_text(str(path), "\ud800", "No.")
    assert path.read_text() == "old\n"
    assert [item.name for item in path.parent.iterdir()] == ["site.yml"]
