"""An environment's requirements and fingerprints, its activation scripts, and the diagnosis of pip's output."""

import contextlib
import json
import pathlib
import shlex
import shutil
import subprocess

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import installer, render
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import environment, names, requirement, tags

SHA_A, SHA_B = "a" * 64, "b" * 64
SHELLS = ("bash", "dash", "zsh")


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        (f"torch==2.9.1 --hash=sha256:{SHA_A}", "torch", f"torch==2.9.1 --hash=sha256:{SHA_A}"),
        (
            f"Typing_Extensions==4.1  --hash=sha256:{SHA_B} --hash=sha256:{SHA_A}",
            "typing-extensions",
            f"Typing_Extensions==4.1 --hash=sha256:{SHA_A} --hash=sha256:{SHA_B}",
        ),
        (f"torch==2.9.1 \\\n    --hash=sha256:{SHA_A}", "torch", f"torch==2.9.1 --hash=sha256:{SHA_A}"),
        (f"a[b,c]==1+cu130 ; sys_platform == 'linux' --hash=sha256:{SHA_A}", "a", None),
        (f"a @ https://example.com/a-1-py3-none-any.whl --hash=sha256:{SHA_A}", "a", None),
    ],
)
def test_requirement_has_a_canonical_line(text: str, name: str, line: str | None) -> None:
    parsed = requirement.parse_requirement(text)
    assert parsed.name == name
    assert line is None or parsed.line == line
    assert requirement.parse_requirement(parsed.line) == parsed


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("torch==2.9.1", "'torch==2.9.1' has no hash"),
        (f"torch>=2 --hash=sha256:{SHA_A}", "exactly one package"),
        ("torch==2.9.1 --hash=md5:" + "0" * 32, "is not a sha256"),
        ("torch==2.9.1 --hash=sha256:123", "is not a sha256"),
        ("-r other.txt", "exactly one package"),
        (f"--index-url https://example.com --hash=sha256:{SHA_A}", "exactly one package"),
        (f"torch==2 --no-binary=x --hash=sha256:{SHA_A}", "exactly one package"),
        (f"torch==2 --hash=sha256:{SHA_A}\n--index-url https://example.com", "exactly one package"),
        ("", "exactly one package"),
    ],
)
def test_requirement_without_pin_or_hash_is_refused(text: str, cause: str) -> None:
    with pytest.raises(SparkforgeError, match=cause):
        requirement.parse_requirement(text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"https://user:secret@b/a-1-py3-none-any.whl --hash=sha256:{SHA_A}", "https://b/.*or a token"),
        (f"https://b/a.whl?token=secret --hash=sha256:{SHA_A}", "or a token"),
        ("https://user:secret@b/a-1-py3-none-any.whl", "https://b/.*or a token"),
    ],
)
def test_requirement_with_password_in_url_is_refused(line: str, message: str) -> None:
    """The requirement appears in receipts and in --diff, which every user can read."""
    with pytest.raises(SparkforgeError, match=message) as caught:
        requirement.parse_requirement(f"a @ {line}")
    assert "secret" not in json.dumps(caught.value.as_result())


@pytest.mark.parametrize("location", ["https://a/ --trusted-host b", "/a b", "/a'b", "https://a/#x"])
def test_location_is_one_argument_of_one_line(location: str) -> None:
    option = requirement.place_option("find_links", location)
    assert shlex.split(option, comments=False) == ["--find-links", location]


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        *((f"https://a/{end}--trusted-host b", "index_url has") for end in "\n\r\x0b\x85\u2028\0"),
        ("https://[a/", "which is not"),
    ],
)
def test_location_with_line_end_is_refused(location: str, reason: str) -> None:
    with pytest.raises(SparkforgeError, match=reason):
        requirement.place_option("index_url", location)


@pytest.mark.parametrize(
    ("suffix", "reason"),
    [
        ("py3-none-any", None),
        ("py2.py3-none-any", None),
        ("1-cp312-cp312-manylinux_2_28_aarch64", None),
        ("cp39-abi3-manylinux2014_aarch64.manylinux_2_17_aarch64", None),
        ("py3-none-manylinux1_aarch64", "pip accepts only manylinux2014 and newer on linux_aarch64"),
        ("py3-none-manylinux_2_12_aarch64.manylinux2010_aarch64", "pip accepts only manylinux2014 and newer"),
        ("py3-none-manylinux_2_12_aarch64.manylinux_2_17_aarch64", None),
        ("py3-none-manylinux1_x86_64.manylinux_2_12_aarch64", "pip accepts only manylinux2014 and newer"),
        ("cp312-cp312-linux_x86_64", "host is linux_aarch64"),
        ("cp312-cp312-win_arm64", "host is linux_aarch64"),
        ("cp312-cp312-musllinux_1_2_aarch64", "host is linux_aarch64"),
        ("cp311-cp311-linux_aarch64", "the interpreter is cp312"),
        ("cp313-abi3-linux_aarch64", "the interpreter is cp312"),
        ("cp312-cp312t-linux_aarch64", "the interpreter is cp312"),
    ],
)
def test_wheel_for_another_platform_is_refused(suffix: str, reason: str | None) -> None:
    with pytest.raises(SparkforgeError, match=reason) if reason else contextlib.nullcontext():
        wheel = tags.check_wheel_fits(f"a-1.0-{suffix}.whl", (3, 12), "aarch64")
        assert (wheel.distribution, wheel.version) == ("a", "1.0")
    assert tags.check_wheel_fits("a-1.0-py3-none-manylinux1_x86_64.whl", (3, 12), "x86_64")


@pytest.mark.parametrize("file", ["a.whl", "a-1.0.tar.gz", "a-1.0-py3-none.whl", "a b-1-py3-none-any.whl"])
def test_invalid_wheel_name_is_refused(file: str) -> None:
    with pytest.raises(SparkforgeError, match="wheel file name"):
        names.parse_wheel_name(file)


def test_fingerprint_depends_on_inputs_and_not_on_order() -> None:
    def digest(minor: int = 12, machine: str = "aarch64", lines: str = "ab", wheels: str = "c") -> str:
        return environment.fingerprint((3, minor), machine, list(lines), list(wheels))

    assert digest() == digest(lines="ba")
    changed = {digest(13), digest(machine="x86_64"), digest(lines="a"), digest(wheels="")}
    assert len({digest(), digest(lines="abc", wheels=""), *changed}) == 6


PIP = [
    (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "A file system is full",
    ),
    ("ERROR: something else", "pip failed: something else."),
    ("", "pip failed: no message."),
]


@pytest.mark.parametrize(("output", "cause"), PIP)
def test_pip_failure_has_cause_and_remedy(output: str, cause: str) -> None:
    error = installer.pip_failure(output)
    assert cause in error.cause
    assert error.remedy.endswith(".")


@pytest.mark.parametrize(
    ("output", "cause", "remedy"),
    [
        ("No module named 'ensurepip'", "create virtual environments", "apt install python3.12-venv"),
        ("No module named 'venv'", "cannot create", "build_toolchain"),
        ("ensurepip has no wheel of pip\n", "cannot create", "build_toolchain"),
        ("[Errno 28] No space left on device: '/x'", "no space left", "Free space"),
        ("Error: what", "virtual environment: Error: what", "CPython 3.12"),
    ],
)
def test_missing_venv_names_its_package(output: str, cause: str, remedy: str) -> None:
    error = installer.venv_failure("/usr/bin/python3.12", (3, 12), output)
    assert cause in error.cause
    assert remedy in error.remedy


@pytest.mark.parametrize(
    ("library", "role"),
    [
        ("libcudss.so.0", "role math_libraries"),
        ("libnvpl_lapack_lp64_gomp.so.0", "role math_libraries"),
        ("libcusparseLt.so.0", "role cusparselt"),
        ("libcublas.so.13", "role cuda_libraries"),
        ("libunheardof.so.3", "Find out"),
    ],
)
def test_missing_library_names_its_role(library: str, role: str) -> None:
    message = f"ImportError: {library}: cannot open shared object file: No such file or directory"
    error = installer.import_failure("torch", message)
    assert library in error.cause
    assert role in error.remedy
    assert "elf_closure_info" in error.remedy


def run_activated(tmp_path: pathlib.Path, shell: str, after: str, environ=None) -> subprocess.CompletedProcess[str]:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    directory = tmp_path / "it's here" / "envs" / "torch" / "aaa"
    (directory / "bin").mkdir(parents=True, exist_ok=True)
    variables = {"TRITON_PTXAS_PATH": "/a b/$HOME/'ptxas'"}
    script = render.render_activation(str(directory), "torch", ["/opt/x/lib", "/opt/y/lib"], variables)
    (directory / "bin" / "activate-sparkforge").write_text(script)
    current = directory.parent / "current"
    if not current.is_symlink():
        current.symlink_to("aaa")
    stable = tmp_path / "activate-torch"
    stable.write_text(render.render_stable_activation("torch", str(current)))
    command = [program, "-c", f"set -eu\n. {stable}\n{after}"]
    shell_environment = {"PATH": "/usr/bin:/bin", **(environ or {})}
    return subprocess.run(command, env=shell_environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_activation_sets_nccl_configuration_of_fabric(tmp_path: pathlib.Path, shell: str) -> None:
    after = 'echo "<${NCCL_CONF_FILE-}>"; deactivate; echo "<${NCCL_CONF_FILE-}>"'
    assert run_activated(tmp_path, shell, after).stdout.split() == ["<>", "<>"]
    fabric = tmp_path / "it's here/fabric/nccl.env"
    fabric.parent.mkdir()
    fabric.write_text("NCCL_IB_HCA=rocep1s0f0\n")
    assert run_activated(tmp_path, shell, after).stdout.splitlines() == [f"<{fabric}>", "<>"]
    # A variable that the user has set keeps its value.
    output = run_activated(tmp_path, shell, after, {"NCCL_CONF_FILE": "/home/me/nccl.conf"})
    assert output.stdout.split() == ["</home/me/nccl.conf>"] * 2


@pytest.mark.parametrize("shell", SHELLS)
def test_activation_works_under_set_eu_with_special_characters(tmp_path: pathlib.Path, shell: str) -> None:
    after = 'printf "%s\\n" "$VIRTUAL_ENV" "$PATH" "$LD_LIBRARY_PATH" "$TRITON_PTXAS_PATH"'
    result = run_activated(tmp_path, shell, after)
    assert result.stderr == ""
    directory = f"{tmp_path}/it's here/envs/torch/aaa"
    paths = [directory, f"{directory}/bin:/usr/bin:/bin", "/opt/x/lib:/opt/y/lib", "/a b/$HOME/'ptxas'"]
    assert result.stdout.splitlines() == paths


@pytest.mark.parametrize("shell", SHELLS)
def test_deactivate_restores_the_shell(tmp_path: pathlib.Path, shell: str) -> None:
    after = '. "$VIRTUAL_ENV/bin/activate-sparkforge"\ndeactivate\n'
    variables = ("PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "TRITON_PTXAS_PATH")
    after += "\n".join(f'printf "%s\\n" "${{{name}-unset}}"' for name in variables)
    assert run_activated(tmp_path, shell, after).stdout.splitlines() == ["/usr/bin:/bin", "unset", "unset", "unset"]
    result = run_activated(tmp_path, shell, after, {"LD_LIBRARY_PATH": "/mine"})
    assert result.stdout.splitlines()[1] == "/mine"
