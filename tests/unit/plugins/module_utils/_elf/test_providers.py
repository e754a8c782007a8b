import re

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import providers


@pytest.mark.parametrize(
    ("soname", "role", "package", "archive"),
    [
        ("libcudart.so.13", "cuda_libraries", "cuda-cudart-13-0", "cuda/redist/cuda_cudart/linux-sbsa"),
        ("libcublas.so.13", "cuda_libraries", "libcublas-13-0", "cuda/redist/libcublas/linux-sbsa"),
        ("libcublasLt.so.13", "cuda_libraries", "libcublas-13-0", "cuda/redist/libcublas/linux-sbsa"),
        ("libcufft.so.12", "cuda_libraries", "cuda-libraries-13-0", "cuda/redist/libcufft/linux-sbsa"),
        ("libcusolver.so.12", "cuda_libraries", "libcusolver-13-0", "cuda/redist/libcusolver/linux-sbsa"),
        ("libcufile.so.0", "cuda_libraries", "libcufile-13-0", "cuda/redist/libcufile/linux-sbsa"),
        ("libcudnn_engines_precompiled.so.9", "cuda_libraries", "libcudnn9-cuda-13", "cudnn/redist/cudnn/linux-sbsa"),
        ("libnccl.so.2", "cuda_libraries", "libnccl2", None),
        ("libcusparseLt.so.0", "cusparselt", "libcusparselt0-cuda-13", "cusparselt/redist/libcusparse_lt/linux-sbsa"),
        ("libcudss.so.0", "math_libraries", "libcudss0-cuda-13", "cudss/redist/libcudss/linux-sbsa"),
        ("libnvpl_lapack_lp64_gomp.so.0", "math_libraries", "libnvpl-lapack0", "nvpl/redist/nvpl_lapack/linux-sbsa"),
        ("libnvpl_blas_core.so.0", "math_libraries", "libnvpl-blas0", "nvpl/redist/nvpl_blas/linux-sbsa"),
        ("libgomp.so.1", "build_toolchain", "libgomp1", None),
        ("libpython3.12.so.1.0", "build_toolchain", "libpython3.12", None),
        ("libLLVM.so.20.1", "build_toolchain", "libllvm20", None),
        ("libtorch_cpu.so", "python_env", None, None),
        ("libgfortran-105e6576.so.5.0.0", "python_env", None, None),
        ("libz.so.1", None, "zlib1g", None),
        ("/opt/x/libgomp.so.1", "build_toolchain", "libgomp1", None),
    ],
)
def test_known_library_has_role_package_and_archive(soname, role: str | None, package: str | None, archive: str | None):
    provider = providers.provider(soname, "aarch64", "13.0")
    assert (provider.role, provider.package, provider.archive) == (role, package, archive)
    assert provider.hint.endswith(".")


@pytest.mark.parametrize(
    ("sonames", "role", "hint"),
    [
        ("libcuda.so.1 libnvidia-ml.so.1 libnvidia-ptxjitcompiler.so.1", "driver", "collection never does"),
        ("libwhatever.so.3 libcudss.so.7 libcudnn.so.10 xlibcublas.so.13", None, "Unknown"),
        ("libnvpl_blas_core.so.0", None, "exist for x86_64"),
    ],
)
def test_library_without_a_role_has_a_hint(sonames: str, role: str | None, hint: str) -> None:
    for soname in sonames.split():
        provider = providers.provider(soname, "x86_64")
        assert (provider.role, provider.package, provider.archive) == (role, None, None)
        assert hint in provider.hint
    assert "Unknown" in providers.provider("").hint


def test_soname_determines_cuda_major() -> None:
    assert providers.provider("libcublas.so.12", cuda_version="13.0").package == "libcublas-12-*"
    assert providers.provider("libcufft.so.11", cuda_version="13.0").package == "cuda-libraries-12-*"
    assert providers.provider("libcublas.so.13", cuda_version="13.2").package == "libcublas-13-2"


def test_package_name_without_cuda_version_is_a_pattern() -> None:
    assert providers.provider("libcublas.so.13").package == "libcublas-13-*"
    assert providers.provider("libcudss.so.0").package == "libcudss0-cuda-*"


def test_cudss_1_is_not_cudss_0() -> None:
    assert providers.provider("libcudss.so.1").package is None
    assert "libcudss.so.0" in providers.provider("libcudss.so.1").hint


def test_archive_depends_on_the_platform() -> None:
    assert providers.provider("libcudss.so.0", "x86_64").archive == "cudss/redist/libcudss/linux-x86_64"
    assert providers.provider("libcudss.so.0", "riscv64").archive is None


def test_table_has_no_unfilled_placeholder() -> None:
    for entry in providers._TABLE:
        groups = re.compile(entry.pattern).groups
        for text in (entry.package or "", entry.hint):
            assert "{" not in text.format(*["1"] * groups, suffix="13-0", major="13", minor="13.0")


@pytest.mark.parametrize(
    ("name", "optional"),
    [
        ("libcudss_commlayer_openmpi.so.0", True),
        ("libcudss_mtlayer_gomp.so.0", True),
        ("libcudss.so.0", False),
        ("libtorch_cuda.so", False),
    ],
)
def test_optional_plugins_are_recognized(name: str, optional: bool) -> None:
    assert bool(providers.optional_plugin(name)) is optional
