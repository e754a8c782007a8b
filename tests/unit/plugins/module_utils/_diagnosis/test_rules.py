"""Every rule of the shipped table is in order, is reached, and is shown by a real line."""

import pathlib
import re
import time
import timeit
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import rules, scan, table
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.scan import RULES, TOPICS, diagnose
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.table import Rule
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import providers

from lab import troubleshooting

ROOT = pathlib.Path(__file__).parents[5]
LOGS = pathlib.Path(__file__).parents[3] / "data" / "logs"
FRAGMENTS = sorted(LOGS.glob("*.log"))
EXAMPLES = [(rule, text) for topic in TOPICS for rule, own in troubleshooting.examples(topic).items() for text in own]


def said_of(text: str) -> set[str]:
    """Return the rules that the whole table tells of ``text``, having looked at what a person would read."""
    found = diagnose(text)
    assert len(found.lines) <= scan.LINES
    for said in (found.cause, found.remedy, *(f"{notice.cause} {notice.remedy}" for notice in found.notices)):
        assert not re.search(r"\{\w*\}|\[[^\]]*\{|  ", said)
    return {found.rule} if found.rule else {notice.rule for notice in found.notices}


# One item asks all rules of all examples, and names each that fails: an item for each would be a thousand.
def test_no_earlier_rule_hides_the_one_that_an_example_is_of() -> None:
    told = [(rule, text, said_of(text + "\n")) for rule, text in EXAMPLES]
    assert not [(rule, text, rules) for rule, text, rules in told if rule not in rules]


def test_each_rule_has_an_example_and_each_example_a_rule() -> None:
    assert list(dict.fromkeys(rule for rule, _text in EXAMPLES)) == [rule.name for rule in RULES]
    assert all(text for _rule, text in EXAMPLES)


def test_each_fragment_of_a_log_is_recognised() -> None:
    told = {path.name: said_of(path.read_text(encoding="utf-8")) for path in FRAGMENTS}
    assert not {name: rules for name, rules in told.items() if name.split(".")[0] not in rules}


def test_each_fragment_of_a_log_has_a_line_of_provenance() -> None:
    described = re.findall(r"^\| `([^`]+)` \| \S", (LOGS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(described) == [path.name for path in FRAGMENTS]


def test_names_are_unique_and_known_where_they_are_named() -> None:
    names = [rule.name for rule in RULES]
    assert sorted(set(names)) == sorted(names)
    assert {name for rule in RULES for name in rule.when} | scan.KILLED | {scan.OUT_OF_MEMORY} <= set(names)


def test_each_rule_is_complete() -> None:
    for rule in RULES:
        assert rule.keys and all(rule.keys), rule.name
        assert rule.regex.pattern and not rule.regex.search(""), rule.name
        assert rule.exception is None or rule.exception.pattern, rule.name
        assert rule.cause.endswith((".", "}")) and rule.remedy.endswith("."), rule.name


def test_each_file_of_rules_is_in_the_table_and_holds_nothing_else() -> None:
    place = pathlib.Path(rules.__file__).parent
    assert {path.stem for path in place.glob("*.py")} - {"__init__"} == {t.__name__.rpartition(".")[2] for t in TOPICS}
    for path in place.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        shape = r'(?:#[^\n]*\n|\n)*"""[^"]+"""\n' + (
            "" if path.stem == "__init__" else r'\nRULES = r"""\n(?s:.*)\n"""\n'
        )
        assert re.fullmatch(shape, text), path.name


# -- what a rule may say


def test_no_sound_log_gets_advice() -> None:
    told = {path.name: diagnose(path.read_text(encoding="utf-8")) for path in (LOGS / "sound").glob("*.log")}
    assert len(told) >= 50
    assert not {name: found for name, found in told.items() if (found.rule, found.first_error) != (None, None)}
    assert all("reports an error that could be recognised" in found.cause for found in told.values())


def test_many_rules_name_a_public_source() -> None:
    links = [link for rule in RULES for link in rule.links]
    assert sum(bool(rule.links) for rule in RULES) >= 120
    assert all(re.fullmatch(r"https://[\w.-]+/\S+", link) for link in links)


def said_by(rule: Rule) -> str:
    """Return all that a rule may say."""
    return " ".join([rule.cause, rule.remedy, *(text for _name, _group, _pattern, text in rule.values)])


def installed_by(role: str) -> str:
    """Return where a role's packages are listed, with the numbers of the stack in their names."""
    files = [*(ROOT / "roles" / role).rglob("*.yml"), *(ROOT / "plugins/plugin_utils/plans").glob(f"{role}.*")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return re.sub(r"\{\{ stack\.cuda\.major \}\}|\{major\}", "13", text.replace("{{ stack.cuda.suffix }}", "13-0"))


def test_remedies_name_roles_that_exist_and_packages_that_they_install() -> None:
    known = {path.name for path in (ROOT / "roles").iterdir()}
    for rule in RULES:
        text = said_by(rule)
        roles = [name for names in re.findall(r"\broles? ([a-z_]+)(?: and ([a-z_]+))?", text) for name in names if name]
        # The unit llvm is built by the role of that name.
        assert set(roles) <= known, rule.name
        for package, role in re.findall(r"\((lib[\w.+-]+), role (\w+)\)", text):
            assert package in installed_by(role), (rule.name, package)


def test_a_library_s_package_is_what_its_role_installs() -> None:
    for soname in ("libcudart.so.13", "libcublas.so.13", "libnvrtc.so.13", "libcudnn.so.9", "libnccl.so.2"):
        provider = providers.provider(soname, "aarch64", "13.0")
        assert provider.role == "cuda_libraries" and provider.package
        family = re.match(r"lib[a-z]+|cuda-\w+", provider.package)
        assert family and family[0] in installed_by(provider.role), provider.package


@pytest.mark.parametrize("soname", ["libcudart.so.12", "libcublas.so.12", "libnvJitLink.so.12", "libcusolver.so.11"])
def test_a_library_of_another_cuda_is_not_said_to_be_installed(soname: str) -> None:
    found = diagnose(f"ImportError: {soname}: cannot open shared object file: No such file or directory\n")
    assert (found.rule, "role " in found.remedy, "cu130" in found.remedy) == ("cuda-12-library", False, True)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("vllm-free-memory.free-memory", "below 98.4 GiB"),
        ("flashinfer-versions-differ.fi-version", "Install both in one version, 0.6.16.post3"),
        (
            "driver-mismatch.nvrm-api-mismatch",
            "of the NVIDIA driver, 570.144, is a different version from its libraries",
        ),
        ("docker-client-too-old.docker-api", "DOCKER_API_VERSION=1.44"),
        ("dkms-build-failed.dkms-bad-status", "nvidia-fs 2.26.6 for the kernel 6.17.0-1021-nvidia"),
        ("rdma-timeout.ibv-retry", "RDMA timed out on rocep1s0f0"),
        ("other-cuda-library.nvjitlink", "other copies of libnvJitLink.so.12 off LD_LIBRARY_PATH"),
        ("apt-signed-by-missing.signed-by-empty", "and one without any Signed-By"),
        ("apt-held.held-changed", "on hold: libnccl2"),
        ("uv-no-wheel.uv-cu128", "take the cu130 build"),
        ("missing-header.curand-header", "the CUDA toolkit (role cuda_libraries)"),
        ("pcie-fault.aer", "The PCIe device 0000:01:00.0 reported"),
    ],
)
def test_advice_follows_the_values_of_the_line(log: str, words: str) -> None:
    found = diagnose((LOGS / f"{log}.log").read_text(encoding="utf-8"))
    assert words in f"{found.cause} {found.remedy}"


@pytest.mark.parametrize(
    ("log", "rule", "words"),
    [
        (
            "NVRM: Xid (PCI:000f:01:00): 94, pid=1, name=vllm, Contained\n",
            "gpu-memory-fault",
            "Start the program again",
        ),
        ("NVRM: Xid (PCI:000f:01:00): 64, pid=1, name=vllm, Row Remap\n", "gpu-memory-fault", "have the vendor check"),
        ("NVRM: Xid (PCI:000f:01:00): 143, GPU init failed\n", "gpu-xid", "Look the number up"),
        (
            "NVRM: Xid (PCI:000f:01:00): 45, pid=1, name=a, Ch 8\nNVRM: Xid (PCI:000f:01:00): 62, halt\n",
            "gpu-xid",
            "Xid 62: a controller of the GPU stopped",
        ),
        (
            "Because there is no version of vllm[audio]==9 and you require it\n",
            "uv-no-version",
            "takes vllm[audio] does",
        ),
        ("error: there is no version of vllm and you require vllm\n", "uv-no-version", "does not have it: uv takes"),
        ("error: there is no version of torch==2.7.0+cu128 and\n", "uv-no-version", "leave +cu out"),
        ("Error: listen tcp 127.0.0.1:11434: bind: address already in use\n", "port-in-use", "the port 11434 that"),
    ],
)
def test_advice_follows_numbers_and_names(log: str, rule: str, words: str) -> None:
    found = diagnose(log)
    assert found.rule == rule
    assert words in f"{found.cause} {found.remedy}"


@pytest.mark.parametrize("others", [[], [f"Model{number}ForCausalLM" for number in range(300)]], ids=["few", "many"])
@pytest.mark.parametrize(
    ("inner", "rule"), [("libx.so: undefined symbol: _ZN3c105ErrorC2E", "other-torch"), ("the widget is too old", None)]
)
def test_an_import_that_failed_is_told_and_not_what_a_server_says_of_it(
    inner: str, rule: str | None, others: list[str]
) -> None:
    name = "LlavaForConditionalGeneration"
    log = (
        f"ERROR 10-16 05:20:48 registry.py:264] Error in inspecting model architecture '{name}'\n"
        "ERROR 10-16 05:20:48 registry.py:264] RuntimeError: Error raised in subprocess:\n"
        f"ERROR 10-16 05:20:48 registry.py:264] ImportError: {inner}\n"
        f"ValueError: Model architectures ['{name}'] are not supported for now. Supported architectures: "
        f"{[name, *others]}\n"
    )
    found = diagnose(log)
    assert (found.rule, found.first_error) == (rule, f"ImportError: {inner}")


def worst(rule: Rule, size: int) -> list[str]:
    """Return lines that keep a rule's pattern busy: its keys and examples with each run of letters made long."""
    texts = [text for name, text in EXAMPLES if name == rule.name]
    stretched = [re.sub(r"[\w./]+", lambda match: match[0] * 3, text) for text in texts]
    fills = [
        "a" * size,
        "a " * (size // 2),
        "'" * size,
        "a:" * (size // 2),
        "/a" * (size // 2),
        "0." * (size // 2),
        "[" * size,
    ]
    return [text[:size] for text in (*(f"{key}{fill}" for key in rule.keys for fill in fills), *stretched, *fills)]


def test_no_pattern_backtracks_on_its_worst_line() -> None:
    # A log is read in pieces of LINE characters and windows of WINDOW, so that its time grows as its size does. What is
    # left is the time of one window, of which twice the length may take twice the time, and not four times: compared
    # with a linear pattern that runs on a text of that length in the same moment.
    def seconds(search: t.Callable[[str], object], text: str) -> float:
        # Other programs of a busy machine do not count.
        return min(timeit.repeat(lambda: search(text), timer=time.thread_time, number=1, repeat=3))

    linear = re.compile(r"(?:.|\n)*\r")
    size = table.LINE + table.WINDOW
    slow: dict[str, str] = {}
    for rule in RULES:
        bound = 40 * seconds(linear.match, "a" * size)
        slow.update((rule.name, text[:80]) for text in worst(rule, size) if seconds(rule.regex.search, text) > bound)
    assert not slow
