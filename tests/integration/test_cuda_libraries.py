"""The role cusparselt with each backend, and cuda_libraries on a host that, like one running DGX OS, already has vendor
sources, pins and packages."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.host import native_architecture
from lab.packages import Package, SigningKey, write_repository
from tests.integration.conftest import Bench, Host, Play, changes

Role = Callable[..., Play]
VENDOR_SOURCE = "/etc/apt/sources.list.d/cuda-compute-repo.sources"
VENDOR_KEYRING = "/usr/share/keyrings/cuda-compute-repo.asc"
PINS = "/etc/apt/preferences.d/cuda-compute-repo-lowpri"
REDIST = "/opt/sparkforge/redist/libcusparse_lt"
LOADER_ENTRY = "/etc/ld.so.conf.d/sparkforge-cusparselt.conf"
OPEN = """python3 -c "import ctypes; ctypes.CDLL('libcusparseLt.so.0')
print(next(line.split()[-1] for line in open('/proc/self/maps') if 'libcusparseLt' in line))" """


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    fresh = bench.fresh()
    # Apply the one-time changes of any role's first run: the mirror's CA, and Debian's package lists.
    fresh.roles("network_access").succeeded()
    fresh.execute("apt-get update -q")
    return fresh


@pytest.fixture(scope="module")
def before(host: Host) -> tuple[list[str], list[str]]:
    return state(host)


@pytest.fixture
def cusparselt(host: Host) -> Role:
    def run(*arguments: str, **variables: Any) -> Play:
        return host.roles("cusparselt", arguments=arguments, **variables)

    return run


@pytest.fixture
def role(host: Host) -> Role:
    def run(*arguments: str, **variables: Any) -> Play:
        return host.roles("cuda_libraries", arguments=arguments, sparkforge_apt_lock_timeout=1, **variables)

    return run


@pytest.fixture(scope="module")
def vendor(host: Host) -> str:
    """Configure NVIDIA's source on the host as DGX OS does, and install a newer package from a similar repository."""
    repository = next((host.mirror["tree"] / "compute/cuda/repos/ubuntu2404").iterdir())
    url = f"{host.mirror['url']}/compute/cuda/repos/ubuntu2404/{repository.name}"
    host.copy(repository / "3bf863cc.pub", VENDOR_KEYRING)
    text = f"Types: deb\nURIs: {url}/\nSuites: /\nSigned-By: {VENDOR_KEYRING}\n"
    host.execute(f"cat > {VENDOR_SOURCE} <<'end'\n{text}end\napt-get update -q")
    return url


def package(name: str, version: str = "1.0", **relations: list[str]) -> Package:
    return Package(name, version, native_architecture(), "planted by a test", relations=relations)


def plant(host: Host, folder: Path, *packages: Package) -> None:
    """Install packages without the collection."""
    for package in packages:
        host.copy(package.write(folder).path, f"/srv/{package.file_name}")
        host.execute(f"dpkg -i /srv/{package.file_name}")


def state(host: Host) -> tuple[list[str], list[str]]:
    return host.contents(), host.snapshot()["packages"]


def opened(host: Host) -> str:
    """Return the file that dlopen finds for the library."""
    return host.execute(OPEN)


def remains(host: Host) -> dict[str, bool]:
    """Return, for each backend, whether it has left anything on the host."""
    packages = "\n".join(line for line in host.snapshot()["packages"] if "cusparselt" in line)
    contents = "\n".join(host.contents())
    return {
        "package": "libcusparselt0" in packages or LOADER_ENTRY in contents or "apt-cusparselt" in contents,
        "local_repo": "local-repo" in packages or "cusparselt-local" in contents or "apt_local_repo-" in contents,
        "redist": "libcusparse_lt" in contents,
    }


def test_check_on_a_fresh_host_names_the_source(host: Host, before: tuple[list[str], list[str]], cusparselt: Role):
    play = cusparselt("--check", "--diff").succeeded()
    assert play.changed > 0
    assert "cuSPARSELt 0.8.1 from local_repo" in play.text
    assert "Skipped: no apt source" in play.text
    assert state(host) == before


def test_local_repo_by_sha256_installs_a_loadable_library(host: Host, cusparselt: Role) -> None:
    repository = host.mirror["summary"]["cusparselt_local_repos"]["0.8.0"]
    cusparselt(cusparselt_version="0.8.0", cusparselt_local_repo_sha256=repository["sha256"]).succeeded()
    assert opened(host).endswith("/libcusparseLt/13/libcusparseLt.so.0.8.0.4")
    source = host.execute("cat /etc/apt/sources.list.d/*cusparselt*")
    assert f"/usr/share/keyrings/{repository['keyring']}" in source and "trusted" not in source


def test_local_repo_upgrades_and_retires_the_older(host: Host, cusparselt: Role) -> None:
    cusparselt().succeeded()
    assert opened(host).endswith("/libcusparseLt/13/libcusparseLt.so.0.8.1.1")
    assert "0.8.0" not in host.execute("ls -d /var/cusparselt*; dpkg -l | grep cusparselt")


def test_second_run_changes_nothing_and_keeps_the_local_repo(cusparselt: Role) -> None:
    play = cusparselt().succeeded()
    assert play.changed == 0
    assert "from local_repo" in play.text and "already" in play.text


@pytest.mark.long
def test_archive_replaces_the_local_repo_completely(host: Host, cusparselt: Role) -> None:
    cusparselt(cusparselt_backends=["redist"]).succeeded()
    assert opened(host).startswith(REDIST)
    assert remains(host) == {"package": False, "local_repo": False, "redist": True}


def test_absent_removes_everything_and_is_idempotent(host: Host, before: tuple[list[str], list[str]], cusparselt: Role):
    earlier = state(host)
    assert cusparselt("--check", "--diff", cusparselt_state="absent").succeeded().changed > 0
    assert state(host) == earlier
    assert cusparselt(cusparselt_state="absent").succeeded().changed > 0
    assert remains(host) == {"package": False, "local_repo": False, "redist": False}
    assert "libcusparseLt" not in host.execute("/sbin/ldconfig -p")
    assert cusparselt(cusparselt_state="absent").succeeded().changed == 0
    assert changes(before[1], host.snapshot()["packages"]) == []


@pytest.mark.parametrize(
    ("name", "licence"),
    [
        ("cuda_libraries", "CUDA Toolkit EULA"),
        ("math_libraries", "libcudss, nvpl_blas, nvpl_lapack are under"),
        ("cusparselt", "cuSPARSELt"),
    ],
)
def test_without_an_accepted_licence_nothing_happens(host: Host, name: str, licence: str) -> None:
    earlier = state(host)
    play = host.roles(name, sparkforge_accept_nvidia_license="false").failed()
    assert licence in play.text and "sparkforge_accept_nvidia_license to true" in play.text
    assert state(host) == earlier


@pytest.mark.parametrize("wrong", ["key", "url"])
def test_a_source_that_apt_cannot_verify_or_find_leaves_nothing(host: Host, wrong: str) -> None:
    summary = host.mirror["summary"]
    repository = next((host.mirror["tree"] / "compute/cuda/repos/ubuntu2404").iterdir())
    url = f"{host.mirror['url']}/compute/cuda/repos/ubuntu2404/{repository.name}/"
    options = {"url": url, "key_url": f"{url}3bf863cc.pub", "key_fingerprint": summary["key_fingerprint"]}
    site = summary["site_repository"]
    if wrong == "key":
        options |= {"key_url": f"{host.mirror['url']}{site['key']}", "key_fingerprint": site["key_fingerprint"]}
    else:
        options["url"] = url.replace("compute/", "nowhere/")
    earlier = state(host)
    result = host.task("sparkforge.dgx_spark.apt_source", name="nvidia-cuda", **options)
    # The message names the key that made the signature.
    assert (summary["key_fingerprint"][-16:] if wrong == "key" else "nowhere") in result["cause"] + result["remedy"]
    assert state(host) == earlier


def test_a_plan_that_would_remove_a_package_is_refused(host: Host, role: Role, vendor: str, tmp_path: Path) -> None:
    plant(host, tmp_path, package("our-cluster-library", Conflicts=["libnccl2"]))
    earlier = state(host)[1]
    assert "apt would remove our-cluster-library" in role().failed().text
    assert state(host)[1] == earlier
    host.execute("dpkg --purge our-cluster-library")


@pytest.fixture(scope="module")
def converged(host: Host, vendor: str, tmp_path_factory: pytest.TempPathFactory) -> Play:
    """The role has run on a host with a distribution's newer NCCL, and with a pin that prefers an older package."""
    site = host.mirror["summary"]["site_repository"]
    tree = tmp_path_factory.mktemp("newer")
    newer = package("cuda-nvtx-13-0", "13.0.99-1")
    key = SigningKey(tree / "key.asc", "a source of the host's own")
    indices = write_repository(tree, [(newer, newer.write(tree))], key, {"Origin": "newer"})
    for file in [*indices, tree / newer.file_name]:
        host.copy(file, f"/srv/newer/{file.name}")
    (tree / "newer.asc").write_bytes(key.armored)
    host.copy(tree / "newer.asc", "/usr/share/keyrings/newer.asc")
    host.copy(host.mirror["tree"] / site["key"].lstrip("/"), "/usr/share/keyrings/site.asc")
    lines = "deb [signed-by=/usr/share/keyrings/newer.asc] file:/srv/newer /\n"
    lines += f"deb [signed-by=/usr/share/keyrings/site.asc] {host.mirror['url']}{site['path']} /\n"
    host.execute(f"cat > /etc/apt/sources.list.d/others.list <<'end'\n{lines}end")
    pin = "Package: cuda-nvtx-13-0\nPin: version 13.0.85-1\nPin-Priority: 1001\n"
    host.execute(f"cat > {PINS} <<'end'\n{pin}end")
    return host.roles("cuda_libraries").succeeded()


def version(host: Host, name: str) -> str:
    return host.execute(f"dpkg-query -W -f '${{Version}}' {name}")


def test_the_vendors_source_is_recognised_by_its_url_and_no_second_one_is_added(host: Host, converged: Play, vendor):
    assert host.execute(f"grep -rlF {vendor} /etc/apt") == VENDOR_SOURCE
    assert host.execute("ls /usr/share/keyrings | grep sparkforge || true") == ""


def test_nccl_is_nvidias_for_the_cuda_major_not_a_newer_one_from_another_source(host: Host, converged: Play) -> None:
    assert "2.31.0-1" in host.execute("apt-cache policy libnccl2"), "the decoy is on offer"
    assert version(host, "libnccl2") == version(host, "libnccl-dev") == "2.28.9-1+cuda13.0"


def test_a_pin_that_prefers_an_older_version_is_honoured(host: Host, converged: Play) -> None:
    assert "13.0.99-1" in host.execute("apt-cache policy cuda-nvtx-13-0"), "the newer one is on offer"
    assert version(host, "cuda-nvtx-13-0") == "13.0.85-1"


def test_a_second_run_changes_nothing(role: Role, converged: Play) -> None:
    assert role().succeeded().changed == 0
    assert role("--check", "--diff").succeeded().changed == 0


def test_the_libraries_open(host: Host, converged: Play) -> None:
    for soname in ("libcublas.so.13", "libcudart.so.13", "libcufile.so.0"):
        host.execute(f"""python3 -c "import ctypes; ctypes.CDLL('{soname}')" """)


def test_autoremove_leaves_the_vendors_packages_alone(host: Host, converged: Play, tmp_path: Path) -> None:
    assert '"^dgx-"' in host.execute("apt-config dump APT::NeverAutoRemove")
    plant(host, tmp_path, package("dgx-something"), package("left-over"))
    host.execute("apt-mark auto dgx-something left-over")
    plan = host.execute("apt-get -s autoremove")
    assert "Remv left-over" in plan, "autoremove does sweep what nobody guards"
    assert "dgx-something" not in plan
    host.execute("dpkg --purge dgx-something left-over")


def test_absent_removes_the_packages_and_keeps_the_vendors_source(host: Host, role: Role, converged: Play) -> None:
    assert role(cuda_libraries_state="absent").succeeded().changed > 0
    packages = "\n".join(host.snapshot()["packages"])
    assert "cuda-" not in packages and "libnccl" not in packages and "libcublas" not in packages
    host.execute(f"test -f {VENDOR_SOURCE} && test -f {VENDOR_KEYRING}")
    contents = "\n".join(host.contents())
    assert "52sparkforge" not in contents and "/usr/local/cuda" not in contents
    assert role(cuda_libraries_state="absent").succeeded().changed == 0
