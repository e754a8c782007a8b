"""Downloading wheels: they are chosen by hash and fetched only once, even over a bad network."""

import collections
import contextlib
import hashlib
import json
import os
import subprocess
import time
import types
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError, UnreachableError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import download, installer, model
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import http
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import requirement

from tests.unit import interpreter, web_server

MIB = 1 << 20


@pytest.fixture(scope="module")
def pip(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of the interpreter's bundled pip wheel."""
    directory = tmp_path_factory.mktemp("venv") / "venv"
    command = [interpreter.PYTHON, "-I", "-c", installer._VENV, "x", str(directory)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


class Bench:
    """An index on a server that can misbehave, and the host that downloads from it."""

    def __init__(self, path: Path, server: web_server.Server, pip: str) -> None:
        self.server, self.pip = server, pip
        self.paths = model.paths_of(str(path), "torch")
        os.makedirs(self.paths.directory)
        self.rows: dict[str, list[dict[str, t.Any]]] = {}

    def add(self, file: str, content: bytes, **row_fields: t.Any) -> str:
        """Serve a wheel, list it in the index and return its requirement."""
        name, version = file.split("-")[:2]
        sha256 = hashlib.sha256(content).hexdigest()
        self.server.files[f"/files/{file}"] = content
        row = {"url": f"../../files/{file}", "hashes": {"sha256": sha256}, "size": len(content), **row_fields}
        self.rows.setdefault(name, []).append(row)
        self.server.files[f"/simple/{name}/"] = json.dumps({"files": self.rows[name]}).encode()
        return f"{name}=={version} --hash=sha256:{sha256}"

    def fetch(self, *lines: str, **options: t.Any) -> tuple[list[str], dict[str, t.Any]]:
        options.setdefault("index_url", f"{self.server.url}/simple")
        requirements = [requirement.parse_requirement(line) for line in lines]
        environment = model.Options(self.paths, "x86_64", False, requirements=requirements, **options)
        return download.Download(environment, self.run, interpreter.PYTHON, self.pip).fetch(())

    @staticmethod
    def run(argv: t.Sequence[str], data: str = "", environ_update: t.Any = None) -> tuple[int, str, str]:
        environment = {**os.environ, **(environ_update or {})}
        result = subprocess.run(argv, input=data, env=environment, capture_output=True, text=True, check=False)
        return result.returncode, result.stdout, result.stderr

    def files(self, paths: t.Sequence[str]) -> list[str]:
        for path in paths:
            assert os.path.dirname(path).startswith(self.paths.of(".download"))
            assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == os.path.basename(os.path.dirname(path))
        return sorted(os.path.basename(path) for path in paths)


@pytest.fixture
def bench(tmp_path: Path, pip: str, monkeypatch: pytest.MonkeyPatch) -> t.Iterator[Bench]:
    for name in [name for name in os.environ if name.startswith("PIP_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    # Replace only this module's `time`, because other threads in this process must really sleep.
    monkeypatch.setattr(http, "time", types.SimpleNamespace(monotonic=time.monotonic, sleep=lambda _seconds: None))
    server = web_server.Server()
    yield Bench(tmp_path, server, pip)
    server.close()


def wheel_name(name: str, tag: str = "py3-none-any", version: str = "1.0") -> str:
    return f"{name}-{version}-{tag}.whl"


def test_next_call_continues_with_next_wheel(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "SLICE", -1.0)
    monkeypatch.setattr(download, "DOWNLOADS", 1)
    lines = [bench.add(wheel_name(name), name.encode() * 1000) for name in ("aaa", "b", "cc")]
    reports = []
    for _number in range(2):
        with pytest.raises(download.UnfinishedError) as unfinished:
            bench.fetch(*lines)
        reports.append(unfinished.value.progress)
    paths, last = bench.fetch(*lines)
    reports.append(last)
    assert bench.files(paths) == [wheel_name("aaa"), wheel_name("b"), wheel_name("cc")]
    finished = [[{"file": wheel_name(name), "size": size}] for name, size in (("b", 1000), ("cc", 2000), ("aaa", 3000))]
    assert [progress["finished"] for progress in reports] == finished
    keys = ("files", "of_files", "bytes", "of_bytes")
    counts = [tuple(progress[key] for key in keys) for progress in reports]
    assert counts == [(1, 3, 1000, 6000), (2, 3, 3000, 6000), (3, 3, 6000, 6000)]
    assert [progress["next"] for progress in reports] == [[wheel_name("cc")], [wheel_name("aaa")], []]
    # If a wheel has been downloaded, its index page is not requested again.
    requests = collections.Counter(bench.server.paths)
    assert [requests[f"/simple/{name}/"] for name in ("b", "cc", "aaa")] == [1, 2, 3]
    assert [requests[f"/files/{wheel_name(name)}"] for name in ("b", "cc", "aaa")] == [1, 1, 1]


def test_best_wheel_of_the_lock_is_fetched(bench: Bench) -> None:
    python = f"cp{''.join(map(str, interpreter.version()))}"
    linux = os.uname().machine
    tags = ["py3-none-any", f"{python}-{python}-linux_{linux}", f"{python}-{python}-manylinux_9_99_{linux}"]
    tags += ["cp27-cp27m-win32", f"{python}-{python}-macosx_11_0_arm64"]
    lines = [bench.add(wheel_name("tiny", tag), tag.encode()) for tag in tags]
    bench.add(wheel_name("tiny", version="2.0"), b"another version")
    hashes = " ".join(line.split()[1] for line in lines)
    paths, _progress = bench.fetch(f"tiny==1.0 {hashes}")
    assert bench.files(paths) == [wheel_name("tiny", tags[1])]
    assert len(bench.server.sent) == 2  # the page and the wheel


def test_names_and_versions_compare_as_in_pip(bench: Bench) -> None:
    first = bench.add(wheel_name("tiny_name", version="1.0+cu130"), b"local")
    bench.server.files["/simple/tiny-name/"] = bench.server.files.pop("/simple/tiny_name/")
    line = f"Tiny.Name==1 {first.split()[1]}"
    assert bench.files(bench.fetch(line)[0]) == [wheel_name("tiny_name", version="1.0+cu130")]


def test_requirement_for_other_hosts_is_skipped(bench: Bench) -> None:
    line = bench.add(wheel_name("tiny"), b"x")
    other = f"nothing==1.0 ; sys_platform == 'win32' --hash=sha256:{'0' * 64}"
    assert bench.files(bench.fetch(line, other)[0]) == [wheel_name("tiny")]


def test_requirement_with_url(bench: Bench) -> None:
    digest = bench.add(wheel_name("tiny"), b"x").split()[1]
    bench.server.files.pop("/simple/tiny/")
    line = f"tiny @ {bench.server.url}/files/{wheel_name('tiny')} {digest}"
    assert bench.files(bench.fetch(line, index_url="none")[0]) == [wheel_name("tiny")]


def test_page_without_hashes_needs_hash_of_the_lock(bench: Bench) -> None:
    line = bench.add(wheel_name("tiny"), b"x", hashes={})
    assert bench.files(bench.fetch(line)[0]) == [wheel_name("tiny")]
    with pytest.raises(SparkforgeError, match=f"tiny==1.0 is {line[-64:]}, but .* 0+"):
        bench.fetch(f"tiny==1.0 --hash=sha256:{'0' * 64}")
    several = f"{line} --hash=sha256:{'0' * 64}"
    assert bench.files(bench.fetch(several)[0]) == [wheel_name("tiny")]
    wrong = f"tiny==1.0 --hash=sha256:{'0' * 64} --hash=sha256:{'1' * 64}"
    with pytest.raises(SparkforgeError, match=f"tiny==1.0 is {line[-64:]}, but .* 0+ or 1+"):
        bench.fetch(wrong)


def test_find_links_come_before_the_index(bench: Bench, tmp_path: Path) -> None:
    line = bench.add(wheel_name("tiny"), b"x")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / wheel_name("tiny")).write_bytes(b"x")
    assert bench.files(bench.fetch(line, find_links=[str(tmp_path / "links")])[0]) == [wheel_name("tiny")]
    assert bench.server.requests == []


def test_find_links_wheel_with_other_sha256_is_skipped(bench: Bench, tmp_path: Path) -> None:
    line = bench.add(wheel_name("tiny"), b"x")
    (tmp_path / wheel_name("tiny")).write_bytes(b"stale")
    with pytest.raises(SparkforgeError, match="the lock says") as failure:
        bench.fetch(line, find_links=[str(tmp_path)], index_url="none")
    assert hashlib.sha256(b"stale").hexdigest() in failure.value.cause
    assert bench.files(bench.fetch(line, find_links=[str(tmp_path)])[0]) == [wheel_name("tiny")]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (b"<html><title>Sign in</title></html>", r"/simple/tiny/ is .*'Sign in'\) that lists"),
        (401, r"/simple/tiny/ .* \(HTTP 401\)"),
        (403, r"/simple/tiny/ .* \(HTTP 403\)"),
        (503, r"/simple/tiny/ answered HTTP 503"),
        (404, r"tiny==1\.0 .* \(.*/simple; offered: none\)"),
    ],
)
def test_index_error_is_reported(bench: Bench, answer: t.Any, cause: str) -> None:
    line = bench.add(wheel_name("tiny"), b"x")
    if isinstance(answer, bytes):
        bench.server.files["/simple/tiny/"] = answer
    else:
        bench.server.statuses["/simple/tiny/"] = [answer] * 4
    with pytest.raises(SparkforgeError, match=cause) as failure:
        bench.fetch(line)
    assert failure.value.remedy
    assert http.is_transient(failure.value) == (answer == 503)


def test_versions_offered_by_index_are_named(bench: Bench) -> None:
    for version in ("1.0", "2.0"):
        bench.add(wheel_name("tiny", version=version), version.encode())
    with pytest.raises(SparkforgeError, match=r"offered: 1\.0, 2\.0"):
        bench.fetch(f"tiny==3.0 --hash=sha256:{'0' * 64}")
    assert not any(path.startswith("/files/") for path in bench.server.paths)


def test_interpreter_without_working_pip_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    line = bench.add(wheel_name("tiny"), b"x")
    # Some distributions remove parts of pip.
    monkeypatch.setattr(download, "_CHOOSE", "import pip._internal.nothing")
    with pytest.raises(SparkforgeError, match=r"which wheels .*: ModuleNotFoundError"):
        bench.fetch(line)
    assert not any(path.startswith("/files/") for path in bench.server.paths)


def test_unreachable_index_is_named(bench: Bench) -> None:
    lines = [f"{name}==1.0 --hash=sha256:{'0' * 64}" for name in "abcdefghijklmnop"]
    with pytest.raises(UnreachableError, match=r"No connection to http://127\.0\.0\.1:9/simple/[a-p]/"):
        bench.fetch(*lines, index_url="http://127.0.0.1:9/simple")


def test_unreachable_find_links_are_skipped(bench: Bench) -> None:
    line = bench.add(wheel_name("tiny"), b"x")
    assert bench.files(bench.fetch(line, find_links=["http://127.0.0.1:9/wheels/"])[0]) == [wheel_name("tiny")]


def test_pip_configuration_names_the_index(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = bench.add(wheel_name("tiny"), b"x")
    settings = tmp_path / "pip.conf"
    settings.write_text(
        f"[global]\nindex-url = http://127.0.0.1:9/simple\n[install]\nextra-index-url =\n"
        f"    {bench.server.url}/none\n    {bench.server.url}/simple\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("PIP_INDEX_URL", f"{bench.server.url}/empty")
    assert bench.files(bench.fetch(line, index_url=None)[0]) == [wheel_name("tiny")]
    pages = [path for path in bench.server.paths if path.endswith("/")]
    assert pages == ["/empty/tiny/", "/none/tiny/", "/simple/tiny/"]
    settings.write_text("[global]\nno-index = true\n")
    with pytest.raises(SparkforgeError, match="no find_links are"):
        bench.fetch(f"other==1.0 --hash=sha256:{'0' * 64}", index_url=None)


def test_wheels_larger_than_the_disk_are_not_fetched(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [bench.add(wheel_name(name), bytes(2 * MIB)) for name in ("one", "two")]
    real = os.statvfs

    def nearly_full(path: t.Any) -> t.Any:
        size = real(path).f_frsize
        return types.SimpleNamespace(f_bavail=3 * MIB // size, f_frsize=size)

    monkeypatch.setattr(os, "statvfs", nearly_full)
    message = r"needs 4\.2 MB, and .* has 3\.1 MB free"
    with pytest.raises(SparkforgeError, match=message) as full:
        bench.fetch(*lines)
    assert "Free some space" in full.value.remedy
    assert not any(path.startswith("/files/") for path in bench.server.paths)


def test_fetched_wheel_is_readable_by_owner_only(bench: Bench) -> None:
    [path], _progress = bench.fetch(bench.add(wheel_name("tiny"), b"x"))
    modes = [os.stat(file).st_mode & 0o777 for file in (bench.paths.of(".download"), os.path.dirname(path), path)]
    assert modes == [0o700, 0o755, 0o600]


def test_credentials_are_sent_to_their_server_only(bench: Bench) -> None:
    with contextlib.closing(web_server.Server()) as other:
        bench.server.authorization = "Basic dXNlcjpzZWNyZXQ="
        content = b"x"
        other.files[f"/{wheel_name('tiny')}"] = content
        url = f"{other.url.replace('127.0.0.1', 'localhost')}/{wheel_name('tiny')}"
        line = bench.add(wheel_name("tiny"), content, url=url)
        entry = {"url": f"{bench.server.url}/x", "username": "user", "password": "secret"}
        assert bench.files(bench.fetch(line, credentials=[entry])[0]) == [wheel_name("tiny")]
        assert other.credentials == []


def test_smaller_wheels_are_fetched_first(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "DOWNLOADS", 1)
    sizes = [3, 1, 4, 5, 9, 2, 6]
    lines = [bench.add(wheel_name(f"n{size}"), bytes(size)) for size in sizes]
    bench.fetch(*lines)
    requested = [path for path in bench.server.paths if path.startswith("/files/")]
    assert requested == [f"/files/{wheel_name(f'n{size}')}" for size in sorted(sizes)]
