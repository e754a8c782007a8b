"""Check a provisioned host without using the collection."""

from __future__ import annotations

import json

import pytest

from lab import image

LIBRARIES = {
    "libcudss.so.0": "cuDSS",
    "libcusparseLt.so.0": "cuSPARSELt",
    "libnvpl_lapack_lp64_gomp.so.0": "NVPL LAPACK",
    "libnvpl_blas_lp64_gomp.so.0": "NVPL BLAS",
    "libcublas.so.13": "cuBLAS",
}
ENVIRONMENT = "/opt/sparkforge/envs/torch/current"


def sudo(host, command: str):
    """Run a command as root: sudo asks for the password of the lab's user."""
    return host.run("echo %s | sudo -S -p '' sh -c %s", image.PASSWORD, command)


@pytest.mark.parametrize("soname", LIBRARIES)
def test_the_loader_opens_the_library(host, soname: str):
    opened = host.run(f"python3 -c 'import ctypes; ctypes.CDLL(\"{soname}\")'")
    assert opened.rc == 0, opened.stderr


def test_a_library_of_an_archive_is_opened_from_its_versioned_folder(host):
    script = 'import ctypes; ctypes.CDLL("libcudss.so.0"); print(open("/proc/self/maps").read())'
    maps = host.run(f"python3 -c '{script}'").stdout
    assert "/opt/sparkforge/redist/libcudss/" in maps


def test_the_environment_imports_torch(host):
    ran = sudo(host, f"{ENVIRONMENT}/bin/python -c 'import torch; print(torch.__version__)'")
    assert ran.rc == 0, ran.stderr
    assert ran.stdout.startswith("2.10.0")


def test_torch_multiplies_matrices(host):
    if host.system_info.arch != "aarch64":
        pytest.skip("the native bench's torch is a stand-in without tensors")
    script = "import torch; a = torch.arange(6.0).reshape(2, 3); print((a @ a.T).tolist())"
    ran = sudo(host, f"{ENVIRONMENT}/bin/python -c '{script}'")
    assert ran.stdout.strip() == "[[5.0, 14.0], [14.0, 50.0]]", ran.stderr


def test_a_member_of_the_group_activates_the_environment_and_others_may_not_enter(host):
    # The account that Ansible connected as was made a member.
    member = host.run(". /opt/sparkforge/bin/activate-torch && python -c 'import sys; print(sys.prefix)'")
    assert member.rc == 0, member.stderr
    assert member.stdout.strip().startswith("/opt/sparkforge/envs/torch/")
    assert "current" not in member.stdout
    other = sudo(host, f"setpriv --reuid nobody --regid nogroup --clear-groups ls {ENVIRONMENT}/bin")
    assert other.rc != 0 and "Permission denied" in other.stderr, other.stderr


def test_compilers_and_python_headers_are_there(host):
    for program in ("gcc", "g++", "git", "cmake", "ninja", "ccache", "clang-19", "ld.lld-19", "llvm-config-19"):
        assert host.exists(program), program
    assert host.file("/usr/include/python3.13/Python.h").is_file


def test_every_source_has_a_key_of_its_own(host):
    for path in host.check_output("ls /etc/apt/sources.list.d").split():
        text = host.file(f"/etc/apt/sources.list.d/{path}").content_string
        assert "igned-" in text, f"{path} names no key: {text}"
        assert "trusted=yes" not in text


def test_the_receipts_say_what_was_brought(host):
    listed = sudo(host, "ls /opt/sparkforge/receipts").stdout.split()
    assert {"apt-cuda_libraries.json", "redist-libcudss.json", "env-torch.json"} <= set(listed)
    receipt = json.loads(sudo(host, "cat /opt/sparkforge/receipts/env-torch.json").stdout)
    assert receipt["modules"]["torch"]["version"].startswith("2.10.0")
