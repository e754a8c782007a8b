"""Checks of the shipped rules: each is complete, matches a real line, and is not hidden by an earlier rule."""

import pathlib
import re
import time
import timeit
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import rules, scan, table
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.scan import RULES, diagnose
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.table import Rule
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.topics import TOPICS
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import providers

from lab import troubleshooting

ROOT = pathlib.Path(__file__).parents[5]
LOGS = pathlib.Path(__file__).parents[3] / "data" / "logs"
FRAGMENTS = sorted(LOGS.glob("*.log"))
EXAMPLES = [(rule, text) for topic in TOPICS for rule, own in troubleshooting.examples(topic).items() for text in own]


def matching_rules(text: str) -> set[str]:
    """Return the rules that match a text, after checking that their messages have no unfilled placeholders."""
    diagnosis = diagnose(text)
    assert len(diagnosis.lines) <= scan.LINES
    for message in [text for result in (diagnosis, *diagnosis.notices) for text in (result.cause, result.remedy)]:
        assert not re.search(r"\{\w*\}|\[[^\]]*\{|  ", message)
    return {diagnosis.rule} if diagnosis.rule else {notice.rule for notice in diagnosis.notices}


# A single test checks all examples and names those that fail; as parameters, they would be a thousand tests.
def test_examples_match_their_rule() -> None:
    matches = [(rule, text, matching_rules(text + "\n")) for rule, text in EXAMPLES]
    assert not [(rule, text, rules) for rule, text, rules in matches if rule not in rules]


def test_rules_and_examples_correspond() -> None:
    assert list(dict.fromkeys(rule for rule, _text in EXAMPLES)) == [rule.name for rule in RULES]
    assert all(text for _rule, text in EXAMPLES)


def test_log_fragments_match_their_rule() -> None:
    matches = {path.name: matching_rules(path.read_text(encoding="utf-8")) for path in FRAGMENTS}
    assert not {name: rules for name, rules in matches.items() if name.split(".")[0] not in rules}


def test_log_fragments_have_provenance() -> None:
    described = re.findall(r"^\| `([^`]+)` \| \S", (LOGS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(described) == [path.name for path in FRAGMENTS]


def test_rule_names_are_unique_and_references_exist() -> None:
    names = [rule.name for rule in (*RULES, *scan.EVIDENCE)]
    assert sorted(set(names)) == sorted(names)
    assert {name for rule in RULES for name in rule.when} | scan.KILLED | {scan.OUT_OF_MEMORY} <= set(names)


def test_rules_are_complete() -> None:
    for rule in RULES:
        assert rule.keys and all(rule.keys), rule.name
        assert not any(re.search(r"\{\w+\}", text) for *_, text in rule.values), rule.name
        assert rule.regex.pattern and not rule.regex.search(""), rule.name
        assert rule.exception is None or rule.exception.pattern, rule.name
        assert rule.cause.endswith((".", "}")) and rule.remedy.endswith("."), rule.name


def matches_line_end(part: t.Any) -> bool:
    """Tell whether a parsed pattern, or a part of one, has a part that matches a line end."""
    if not isinstance(part, tuple):
        return not isinstance(part, (int, str, type(None))) and any(map(matches_line_end, part))
    name, argument = str(part[0]), part[-1]
    if name == "IN":
        return any(map(matches_line_end, argument)) is not (str(argument[0][0]) == "NEGATE")
    if name == "RANGE":
        return ord("\n") in range(argument[0], argument[1] + 1)
    if name in ("LITERAL", "NOT_LITERAL"):
        return bool(argument == ord("\n")) is (name == "LITERAL")
    return str(argument) in ("CATEGORY_SPACE", "CATEGORY_NOT_DIGIT", "CATEGORY_NOT_WORD") or any(
        map(matches_line_end, part)
    )


def test_only_rules_that_may_match_several_lines_are_given_several() -> None:
    wrong = [rule.name for rule in RULES if not rule.spans and matches_line_end(re._parser.parse(rule.pattern))]  # type: ignore[attr-defined]
    assert not wrong
    assert sum(rule.spans for rule in RULES) < len(RULES) / 4


def test_rule_files_are_loaded_and_contain_only_rules() -> None:
    files = list(pathlib.Path(rules.__file__).parent.glob("*.py"))
    topics = {topic.__name__.rpartition(".")[2] for topic in (*TOPICS, rules.evidence, rules.signs, rules.subjects)}
    assert {path.stem for path in files} - {"__init__"} == topics
    for path in files:
        assignment = "" if path.stem == "__init__" else r'\nRULES = r"""\n(?s:.*)\n"""\n'
        shape = rf'(?:#[^\n]*\n|\n)*"""[^"]+"""\n{assignment}'
        assert re.fullmatch(shape, path.read_text(encoding="utf-8")), path.name


# -- the rules' messages


def test_sound_logs_get_no_advice() -> None:
    diagnoses = {path.name: diagnose(path.read_text(encoding="utf-8")) for path in (LOGS / "sound").glob("*.log")}
    assert len(diagnoses) >= 50
    assert not {name for name, advice in diagnoses.items() if (advice.rule, advice.first_error) != (None, None)}
    assert all("reports an error that could be recognised" in diagnosis.cause for diagnosis in diagnoses.values())


def test_rules_name_public_sources() -> None:
    links = [link for rule in RULES for link in rule.links]
    assert sum(bool(rule.links) for rule in RULES) >= 120
    assert all(re.fullmatch(r"https://[\w.-]+/\S+", link) for link in links)


def messages(rule: Rule) -> str:
    """Return all texts that a rule may print."""
    return " ".join([rule.cause, rule.remedy, *(text for _name, _group, _pattern, text in rule.values)])


def package_lists(role: str) -> str:
    """Return the files that list a role's packages, with the stack's variables replaced by those of CUDA 13.0."""
    files = [*(ROOT / "roles" / role).rglob("*.yml"), *(ROOT / "plugins/plugin_utils/plans").glob(f"{role}.*")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return re.sub(r"\{\{ stack\.cuda\.major \}\}|\{major\}", "13", text.replace("{{ stack.cuda.suffix }}", "13-0"))


def test_remedies_name_existing_roles_packages_playbooks_and_options() -> None:
    options = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "roles").glob("*/meta/argument_specs.yml"))
    for rule in RULES:
        text = messages(rule)
        names = [name for pair in re.findall(r"\broles? ([a-z_]+)(?: and ([a-z_]+))?", text) for name in pair if name]
        paths = [*(f"roles/{name}" for name in names), *re.findall(r"playbooks/\w+\.yml", text)]
        assert all((ROOT / path).exists() for path in paths), rule.name
        assert all(f" {option}:\n" in options for option in re.findall(r"\bsparkforge_\w+", text)), rule.name
        for package, role in re.findall(r"\((lib[\w.+-]+|[\w.+]+-[\w.+-]+), role (\w+)\)", text):
            assert package in package_lists(role), (rule.name, package)


def test_role_installs_the_package_of_a_library() -> None:
    for soname in ("libcudart.so.13", "libcublas.so.13", "libnvrtc.so.13", "libcudnn.so.9", "libnccl.so.2"):
        provider = providers.provider(soname, "aarch64", "13.0")
        assert provider.role == "cuda_libraries" and provider.package
        family = re.match(r"lib[a-z]+|cuda-\w+", provider.package)
        assert family and family[0] in package_lists(provider.role), provider.package


@pytest.mark.parametrize("soname", ["libcudart.so.12", "libcublas.so.12", "libnvJitLink.so.12", "libcusolver.so.11"])
def test_library_of_another_cuda_has_no_role(soname: str) -> None:
    diagnosis = diagnose(f"ImportError: {soname}: cannot open shared object file: No such file or directory\n")
    assert diagnosis.rule == "cuda-12-library"
    assert "role " not in diagnosis.remedy and "cu130" in diagnosis.remedy


XID = "NVRM: Xid (PCI:000f:01:00)"
MISSING = "{}: cannot open shared object file: No such file or directory\n"
FORMAT = "image's platform (linux/{}) does not match the detected host platform (linux/{})\n"
NO_WHEEL = "Because torch==2.5.1 has no wheels with a matching platform tag (e.g., `{}`), we\n"
PTXAS = "ptxas error : Feature '{}' not supported on .target 'sm_121a'\n"
CONFLICT = "├─ a =1 * is installable and\n├─ c would require\n│ └─ a <1, which conflicts with any\n"
BACKENDS = "No valid attention backend found for cuda with x. Reasons: {A_SPARSE: [compute capability no]}.\n"
CRASHED = "RuntimeError: CUDA error: an illegal memory access was encountered\n"


@pytest.mark.parametrize(
    ("log", "rule", "message"),
    [
        (f"{XID}: 94, pid=1, name=vllm, Contained\n", "gpu-memory-fault", "Start the program again"),
        (f"{XID}: 64, pid=1, name=vllm, Row Remap\n", "gpu-memory-fault", "have the vendor check"),
        (f"{XID}: 143, GPU init failed\n", "gpu-xid", "Look the number up"),
        (f"{XID}: 45, pid=1, name=a, Ch 8\n{XID}: 62, halt\n", "gpu-xid", "Xid 62: a controller of the GPU stopped"),
        ("Because there is no version of vllm[audio]==9 and you\n", "uv-no-version", "for vllm[audio] does"),
        ("error: there is no version of vllm and you require vllm\n", "uv-no-version", "does not have it: uv uses"),
        ("error: there is no version of torch==2.7.0+cu128 and\n", "uv-no-version", "leave +cu out"),
        ("Error: listen tcp 127.0.0.1:11434: bind: address already in use\n", "port-in-use", "the port 11434 that"),
        (MISSING.format("ImportError: libnvrtc.so.12"), "cuda-12-library", "If the machine has only"),
        (MISSING.format("torch 2.11.0+cu130\nx: libnvrtc.so.12"), "cuda-12-library", "this log shows CUDA 13 (+cu130)"),
        (MISSING.format("x: libnvrtc.so.12") + "/opt/l/libnvrtc.so.12\n", "library-elsewhere", "_PATH=/opt/l:"),
        ("a.c:1:10: fatal error: linux/of_gpio.h: No such file\n", "missing-header", "linux-libc-dev"),
        ("  CC [M]  a.o\na.c:1:10: fatal error: linux/of_gpio.h: No such file\n", "module-older-than-kernel", "older"),
        ("image: a/b:1\nModuleNotFoundError: No module named 'x'\n", "python-module-missing", "the image a/b:1"),
        ("NCCL WARN Cuda failure 'peer access is not supported'\n", "nccl-cuda-failure", "NCCL_P2P_DISABLE=1"),
        ("NCCL INFO 0 via SHM/x\nNCCL WARN Cuda failure 'peer access is'\n", "nccl-host-memory", "CUMEM_HOST_ENABLE=0"),
        ("v: Unknown symbol x (err -22)\n", "module-symbol-unknown", "its licence forbids"),
        ("nvidia_drm: Unknown symbol nvKmsX (err -2)\n", "module-symbol-missing", "of nvidia_modeset"),
        ("x: disagrees about version of symbol ib_x\n", "module-symbols-differ", "or OFED's RDMA"),
        ("a : Depends: libc6 (>= 2.39-1) but 2.35-1 is to be installed\n", "apt-unmet-release", "has 2.35-1"),
        ("a : Depends: libc6 (>= 2.39-2) but 2.39-1 is to be installed\n", "apt-unmet", "Usually it comes from"),
        ("a : Depends: b (< 2.34.1) but 2.38-4ubuntu2 is to be installed\n", "apt-unmet", "codename"),
        ("ibv_modify_qp failed with 110 Connection timed out, on dev roce0:1\n", "rdma-no-route", "NCCL_IB_HCA"),
        ("x: rdma_connect() failed: Connection timed out\n", "rdma-verb-failed", "ib_write_bw"),
        ("nvcc fatal : Unsupported gpu architecture 'compute_110'\n", "nvcc-arch-unknown", "CUDA 13's number"),
        ("docker: no matching manifest for linux/amd64 in the list\n", "image-without-arm", "that has linux/amd64"),
        ("docker: no matching manifest for linux/arm64/v8 in it\n", "image-without-arm", "that has linux/arm64"),
        (FORMAT.format("amd64", "arm64/v8"), "image-of-another-platform", "that has linux/arm64"),
        (FORMAT.format("arm64", "amd64/v3"), "image-of-another-platform", "that has linux/amd64"),
        (NO_WHEEL.format("manylinux_2_35_x86_64"), "uv-no-matching-wheel", "for such a machine"),
        (NO_WHEEL.format("manylinux_2_39_aarch64"), "uv-no-matching-wheel", "index cu130"),
        (CRASHED, "cuda-misaligned", "release for it."),
        (f"ggml_cuda_init: found 1 CUDA devices\n{CRASHED}", "cuda-misaligned", "update llama.cpp"),
        (f"Graph capturing finished in 41 secs\n{CRASHED}", "cuda-misaligned", "--disable-cuda-graph tells"),
        (f"SpecDecoding metrics: 4.71\n{CRASHED}", "cuda-misaligned", "leave out speculative decoding"),
        ("NCCL WARN Got completion with status=IBV_WC_LOC_PROT_ERR(4)\n", "rdma-completion-refused", "DMABUF_ENABLE=0"),
        ("NCCL WARN Got completion with error 9, opcode 0\n", "rdma-completion-refused", "the same NCCL"),
        ("NVML: Driver Not Loaded\nx.service: Main process exited, code\n", "driver-not-loaded", "let x.service start"),
        ("Error: mkdir /media/disk/x: permission denied\n", "permission-denied", "namei -l PATH"),
        ("podman\nFailed to initialize NVML: Insufficient Permissions\n", "nvml-not-permitted", "first suspect"),
        (BACKENDS, "attention-backend-none", "no other backend helps"),
        ("E: Package 'libcudnn9' has no installation candidate\n", "apt-no-package", "such as libcudnn9-cuda-13"),
        (f"PTXASError: x\n{PTXAS.format('tcgen05.x')}", "ptxas-feature-missing", "It is a Triton kernel"),
        (PTXAS.format(".tile::scatter4"), "ptxas-feature-missing", "It is a Triton kernel"),
        (PTXAS.format("wgmma.fence"), "ptxas-feature-missing", "TORCH_CUDA_ARCH_LIST"),
        (f"Could not solve for environment specs\n{CONFLICT}", "conda-conflict", "a =1 *, but c needs a <1."),
        ("#1 /a.cu:1: f(): block: [0,0,0], thread: [1,0,0] Assertion `i < n` failed.\n", "cuda-assertion-read", "f()"),
    ],
)
def test_advice_depends_on_values_of_the_log(log: str, rule: str, message: str) -> None:
    diagnosis = diagnose(log)
    assert diagnosis.rule == rule
    assert message in f"{diagnosis.cause} {diagnosis.remedy}"


@pytest.mark.parametrize("others", [[], [f"Model{number}ForCausalLM" for number in range(300)]], ids=["few", "many"])
@pytest.mark.parametrize(
    ("inner", "rule"), [("libx.so: undefined symbol: _ZN3c105ErrorC2E", "other-torch"), ("the widget is too old", None)]
)
def test_import_error_outweighs_server_message(inner: str, rule: str | None, others: list[str]) -> None:
    name, prefix = "LlavaForConditionalGeneration", "ERROR 10-16 05:20:48 registry.py:264]"
    log = (
        f"{prefix} Error in inspecting model architecture '{name}'\n"
        f"{prefix} RuntimeError: Error raised in subprocess:\n{prefix} ImportError: {inner}\n"
        f"ValueError: Model architectures ['{name}'] are not supported for now. Supported architectures: "
        f"{[name, *others]}\n"
    )
    diagnosis = diagnose(log)
    assert (diagnosis.rule, diagnosis.first_error) == (rule, f"ImportError: {inner}")


def test_unknown_error_gets_the_remedy_of_its_subject() -> None:
    texts = troubleshooting.examples(rules.subjects)
    answers = [(rule, diagnose(text)) for rule in scan.SUBJECTS for text in texts[rule.name] or ("",)]
    assert not [rule.name for rule, answer in answers if answer.rule or f" {rule.cause}; " not in answer.cause]


def test_evidence_alone_is_no_error() -> None:
    diagnosis = diagnose("docker run --rm a/b:1\nNCCL_IB_GID_INDEX=1\n2 CC [M] x.o\ntorch 2.11.0+cu130\n")
    assert (diagnosis.rule, diagnosis.first_error, diagnosis.notices) == (None, None, [])
    assert not any(rule.cause or rule.remedy or rule.notice for rule in scan.EVIDENCE)


def worst_lines(rule: Rule, size: int) -> list[str]:
    """Return lines that may make a rule's pattern backtrack: its keys and examples, with long runs added."""
    stretched = [re.sub(r"[\w./]+", lambda match: match[0] * 3, text) for name, text in EXAMPLES if name == rule.name]
    fills = [(repeated * size)[:size] for repeated in ("a", "a ", "'", "a:", "/a", "0.", "[")]
    return [text[:size] for text in (*(f"{key}{fill}" for key in rule.keys for fill in fills), *stretched, *fills)]


def test_patterns_take_linear_time() -> None:
    # A log is searched in pieces of LINE characters and windows of WINDOW, so the total time grows linearly with its
    # size. Each rule's time for one window is compared with a linear pattern's time on a text of the same length.
    def seconds(search: t.Callable[[str], object], text: str) -> t.Iterator[float]:
        # thread_time excludes the time of other programs on a busy machine.
        return (timeit.timeit(lambda: search(text), timer=time.thread_time, number=1) for _again in range(3))

    linear = re.compile(r"(?:.|\n)*\r")
    size = table.LINE + table.WINDOW
    slow: dict[str, str] = {}
    for rule in RULES:
        bound = 40 * min(seconds(linear.match, "a" * size))
        lines = worst_lines(rule, size)
        # Most texts need only one of the attempts.
        slow.update(
            (rule.name, text[:80]) for text in lines if all(s > bound for s in seconds(rule.regex.search, text))
        )
    assert not slow
