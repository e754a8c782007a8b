import base64
import contextlib
import hashlib
import io
import os
import random
import re
import signal
import stat
import subprocess
import sys
import tarfile
import threading
import typing as t
import zlib
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import (
    git as repositories,
    git_command,
    git_errors,
    git_tree,
    sources,
    urls,
)

from tests.unit.git_server import Repository, Server, git
from tests.unit.redist_tree import member, tar
from tests.unit.web_server import Server as WebServer, make_certificate

ENVIRONMENT = {"PATH": os.environ["PATH"]}


class Clock:
    """A fake clock that only ``sleep`` advances; ``at`` maps moments to functions that are called then."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.at: dict[float, t.Callable[[], None]] = {}

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        for moment in [moment for moment in self.at if moment <= self.now]:
            self.at.pop(moment)()

    def patience(self, seconds: float = git_errors.RETRY_SECONDS) -> sources.Patience:
        return sources.Patience(seconds, self.sleep, lambda: self.now)


class Bench:
    """A git server, a store and a destination for a single fetch."""

    def __init__(self, tmp_path: Path) -> None:
        self.path = tmp_path
        self.root = tmp_path / "served"
        self.root.mkdir()
        self.server = Server(self.root)
        self.store = tmp_path / "store"
        self.tree = tmp_path / "build" / "source"
        self.clock = Clock()
        self.messages: list[str] = []

    def repository(self, name: str) -> Repository:
        return Repository(self.root, name)

    def url(self, name: str) -> str:
        return f"{self.server.url}/{name}.git"

    def fetch(self, source: t.Any, **options: t.Any) -> dict[str, t.Any]:
        options.setdefault("patience", self.clock.patience())
        options.setdefault("environment", ENVIRONMENT)
        return sources.fetch(source, str(self.tree), str(self.store), self.messages.append, **options)

    def source(self, files: t.Mapping[str, str | bytes], *submodules: t.Any, **options: t.Any) -> sources.Git:
        """Commit the files to a new repository ``one``, and return that commit as a source."""
        return sources.Git(self.url("one"), self.repository("one").commit(files, *submodules, **options))

    def fetch_error(self, source: t.Any, **options: t.Any) -> SparkforgeError:
        with pytest.raises(SparkforgeError) as failure:
            self.fetch(source, **options)
        if self.tree.parent.exists():
            assert os.listdir(self.tree.parent) == [], "nothing may be left of a failed fetch"
        return failure.value

    def resolve(self, name: str, version: str, **options: t.Any) -> str:
        options.setdefault("patience", self.clock.patience(60))
        return sources.resolve(self.url(name), version, ENVIRONMENT, **options)


@pytest.fixture
def bench(tmp_path: Path) -> t.Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.server.stop()


def random_bytes(seed: int, size: int = 3000) -> bytes:
    return random.Random(seed).randbytes(size)


FILES = {f"data{number}": random_bytes(number) for number in range(45)}


# --- resolve ---


def test_resolve_tags_branches_and_commits(bench: Bench) -> None:
    repository = bench.repository("one")
    first = repository.commit({"file": "1"})
    git("tag", "v1.0", cwd=repository.tree)
    second = repository.commit({"file": "2"})
    git("tag", "--annotate", "--message=release", "v2.0", cwd=repository.tree)
    git("branch", "release/2", first, cwd=repository.tree)
    git("tag", "same", first, cwd=repository.tree)
    git("branch", "same", second, cwd=repository.tree)
    assert bench.resolve("one", "v1.0") == first
    assert bench.resolve("one", "v2.0") == second, "an annotated tag is peeled"
    assert git("rev-parse", "v2.0", cwd=repository.tree) != second
    assert bench.resolve("one", "main") == second
    assert bench.resolve("one", "release/2") == first
    assert bench.resolve("one", "HEAD") == second
    assert bench.resolve("one", "same") == first, "the tag is preferred to the branch"
    assert bench.resolve("one", "refs/tags/v2.0") == second
    requests = len(bench.server.requests)
    assert bench.resolve("one", "A" * 40) == "a" * 40
    assert len(bench.server.requests) == requests, "a commit needs no network"


def test_resolve_missing_tag_suggests_similar_tags(bench: Bench) -> None:
    repository = bench.repository("one")
    repository.commit({"file": "1"})
    for tag in ("v2.9.0", "v2.9.1", "v2.10.0", "ciflow/trunk/1", "v2.9.1-rc1"):
        git("tag", "--annotate", "--message=m", tag, cwd=repository.tree)
    with pytest.raises(SparkforgeError) as failure:
        bench.resolve("one", "2.9.1")
    assert f"{bench.url('one')} has no tag" in failure.value.cause
    assert "for example v2.9.1," in failure.value.remedy
    with pytest.raises(SparkforgeError, match="use all 40 digits"):
        bench.resolve("one", "5811a8d")


@pytest.mark.parametrize("version", ["", "--upload-pack=touch", "a b", "main~1", "a..b", "*"])
def test_resolve_refuses_invalid_version_without_a_request(bench: Bench, version: t.Any) -> None:
    with pytest.raises(SparkforgeError, match="version of"):
        bench.resolve("one", version)
    assert bench.server.requests == []


def test_resolve_retries_for_a_minute(bench: Bench) -> None:
    commit = bench.repository("one").commit({"file": "1"})
    bench.server.stop()
    bench.clock.at[20] = bench.server.start
    assert bench.resolve("one", "main") == commit
    bench.server.stop()
    bench.clock.pauses.clear()
    with pytest.raises(SparkforgeError, match=r"cannot be reached: Failed to connect .*60 s and 7 attempts"):
        bench.resolve("one", "main")
    assert 60 <= sum(bench.clock.pauses) < 70
    bench.server.start()


# --- a commit ---


def test_fetch_leaves_out_the_history(bench: Bench) -> None:
    repository = bench.repository("org/one")
    _old, commit, _new = (repository.commit({"file": f"{i}", f"data{i}": random_bytes(i, 100_000)}) for i in range(3))
    assert bench.fetch(sources.Git(bench.url("org/one"), commit)) == {"commit": commit, "submodules": {}}
    assert (bench.tree / "file").read_text() == "1"
    assert git("rev-list", "--count", "HEAD", cwd=bench.tree) == "1"
    assert bench.server.sent < 210_000, "the third commit's data were not asked for"
    assert git("status", "--porcelain", cwd=bench.tree) == ""
    assert git("rev-parse", "HEAD", cwd=bench.tree) == commit
    assert git("remote", "get-url", "origin", cwd=bench.tree) == bench.url("org/one")
    assert os.listdir(bench.tree.parent) == ["source"]
    assert any("fetching" in line for line in bench.messages)


def test_tree_modes_do_not_depend_on_umask(bench: Bench, umask: t.Callable[[int], int]) -> None:
    repository = bench.repository("one")
    (repository.tree / "tool").write_text("#!/bin/sh\n")
    (repository.tree / "tool").chmod(0o755)
    (repository.tree / "link").symlink_to("file")
    commit = repository.commit({"file": "x", "folder/other": "y"})
    umask(0o077)
    bench.fetch(sources.Git(bench.url("one"), commit))
    modes = {name: stat.S_IMODE((bench.tree / name).stat().st_mode) for name in (".", "tool", "file", "folder")}
    assert modes == {".": 0o755, "tool": 0o755, "file": 0o644, "folder": 0o755}
    assert os.readlink(bench.tree / "link") == "file"


def test_second_fetch_recreates_tree_from_store(bench: Bench) -> None:
    library, repository = bench.repository("library"), bench.repository("one")
    inner = library.commit({"code": "library"})
    commit = repository.commit({"file": "1"}, {"third_party/library": ("../library.git", inner)})
    source = sources.Git(bench.url("one"), commit)
    first = bench.fetch(source)
    bench.server.stop()
    (bench.tree / "file").write_text("changed")
    (bench.tree / "built.o").write_text("object")
    (bench.tree / "folder").mkdir(mode=0o500)
    assert bench.fetch(source) == first == {"commit": commit, "submodules": {"third_party/library": inner}}
    assert sorted(os.listdir(bench.tree)) == [".git", ".gitmodules", "file", "third_party"]
    assert (bench.tree / "file").read_text() == "1"
    assert os.listdir(bench.tree.parent) == ["source"]
    assert bench.clock.pauses == []
    bench.server.start()


def test_tree_does_not_need_the_store(bench: Bench) -> None:
    bench.fetch(bench.source({"file": "1"}))
    sources.disk.remove(str(bench.store))
    assert git("status", "--porcelain", cwd=bench.tree) == ""
    git("fsck", "--full", cwd=bench.tree)


def test_fetch_reuses_stored_objects(bench: Bench) -> None:
    repository = bench.repository("one")
    first = repository.commit({"large": random_bytes(1, 300_000)})
    second = repository.commit({"small": "new"})
    bench.fetch(sources.Git(bench.url("one"), first))
    bench.server.sent = 0
    bench.fetch(sources.Git(bench.url("one"), second))
    assert bench.server.sent < 10_000
    assert sorted(os.listdir(bench.tree)) == [".git", "large", "small"]


def test_old_server_serves_only_branch_tips(bench: Bench) -> None:
    bench.server.old = True
    repository = bench.repository("one")
    commits = [repository.commit({"file": str(number)}) for number in range(4)]
    bench.fetch(sources.Git(bench.url("one"), commits[3]))
    assert git("rev-list", "--count", "HEAD", cwd=bench.tree) == "1"
    sources.disk.remove(str(bench.tree))
    error = bench.fetch_error(sources.Git(bench.url("one"), commits[1]))
    assert f"{bench.url('one')} does not serve" in error.cause and f"is {commits[1]}: " in error.cause
    assert "playbooks/mirror.yml" in error.remedy


def test_local_repository(bench: Bench) -> None:
    repository, library = bench.repository("one"), bench.repository("library")
    inner = library.commit({"code": "x"})
    first = repository.commit({"file": "1"}, {"lib": ("../library.git", inner), "again": (str(library.bare), inner)})
    git("tag", "v1", cwd=repository.tree)
    repository.commit({"file": "2"})
    for repo in (str(repository.bare), f"file://{repository.bare}"):
        assert sources.resolve(repo, "v1", ENVIRONMENT) == first
        bench.fetch(sources.Git(repo, first))
        assert git("rev-list", "--count", "HEAD", cwd=bench.tree) == "1"
        assert (bench.tree / "lib/code").read_text() == (bench.tree / "again/code").read_text() == "x"
    assert bench.server.requests == []


def test_fetch_refuses_tag(bench: Bench) -> None:
    error = bench.fetch_error(sources.Git(bench.url("one"), "v1.0"))
    assert "'v1.0' is not" in error.cause
    assert "lock.yml" in error.remedy


def test_missing_commit(bench: Bench) -> None:
    bench.repository("one").commit({"file": "1"})
    error = bench.fetch_error(sources.Git(bench.url("one"), "1" * 40))
    assert f"{bench.url('one')} does not" in error.cause and f"commit {'1' * 40}: " in error.cause
    assert "source.version" in error.remedy
    assert bench.clock.pauses == [], "a retry would not help"


def test_missing_repository(bench: Bench) -> None:
    error = bench.fetch_error(sources.Git(bench.url("none"), "1" * 40))
    assert error.cause.startswith(f"The repository {bench.url('none')} does not exist: ")
    assert bench.clock.pauses == []
    error = bench.fetch_error(sources.Git(str(bench.root / "none.git"), "1" * 40))
    assert "does not exist" in error.cause


# --- URLs ---


@pytest.mark.parametrize(
    ("base", "url", "absolute"),
    [
        ("https://example.com/org/one.git", "../two.git", "https://example.com/org/two.git"),
        ("https://example.com/org/one", "../../other/two", "https://example.com/other/two"),
        ("https://example.com/org/one/", "./sub", "https://example.com/org/one/sub"),
        ("https://example.com/org/one.git", "./../two/", "https://example.com/org/two"),
        ("https://example.com/org/one.git", "https://example.org/x", "https://example.org/x"),
        ("git@example.com:org/one.git", "../two.git", "git@example.com:org/two.git"),
        ("git@example.com:org/one.git", "../../two.git", "git@example.com:two.git"),
        ("ssh://git@example.com:2222/org/one.git", "../two.git", "ssh://git@example.com:2222/org/two.git"),
        ("/srv/git/one.git", "../two.git", "/srv/git/two.git"),
        ("file:///srv/git/one.git", "../two.git", "file:///srv/git/two.git"),
        ("https://example.com/one.git", "two.git", "two.git"),
    ],
)
def test_relative_urls_resolve_as_in_git(base: t.Any, url: t.Any, absolute: t.Any) -> None:
    assert urls.absolute_url(base, url) == absolute


@pytest.mark.parametrize("base", ["https://example.com/one.git", "git@example.com:one.git", "/one.git"])
def test_relative_url_above_the_host_is_refused(base: t.Any) -> None:
    with pytest.raises(SparkforgeError, match="points above"):
        urls.absolute_url(base, "../../two.git")


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% /tmp/x", "fd::7", "https::https://example.com/x", "-oProxyCommand=touch",
        "--upload-pack=touch", "ssh://-oProxyCommand=touch/x", "-o@example.com:x", "ftp://example.com/x", "http:///x",
        "relative/path", "https://example.com/x\nhttps://example.com/y",
    ],
)  # fmt: skip
def test_urls_that_run_commands_are_refused(bench: Bench, url: t.Any) -> None:
    assert "git may not" in bench.fetch_error(sources.Git(url, "1" * 40)).cause


@pytest.mark.parametrize("protocol", ["ssh", "git"])
def test_ssh_or_git_url_with_password_is_refused(bench: Bench, protocol: str) -> None:
    error = bench.fetch_error(sources.Git(f"{protocol}://git:pa%2Fss@example.com/x.git", "1" * 40))
    assert "with a password" in error.cause and "a key" in error.remedy
    assert "ss@" not in str(error.as_result())


def test_store_key_identifies_the_repository(bench: Bench) -> None:
    def key(url: str) -> str:
        return urls.make_revision(url, "1" * 40, {}).key

    assert key("https://example.com/org/one") == key("https://user:secret@example.com/org/one.git/")
    assert key("https://example.com/org/one") != key("https://example.com/fork/one")
    assert re.fullmatch(r"one-[0-9a-f]{16}", key("https://example.com/org/one"))
    assert re.fullmatch(r"[A-Za-z0-9_-]+", key("git@example.com:..%2f.git"))


def test_mirror_replaces_url_prefixes(bench: Bench) -> None:
    library, repository = bench.repository("mirror/library"), bench.repository("mirror/deep/one")
    inner = library.commit({"code": "x"})
    commit = repository.commit({"file": "1"}, {"lib": ("https://example.org/a/library.git", inner)})
    rewrite = {
        "https://example.com/": "https://mirror.sparkforge.test/",
        "https://example.com/org/": f"{bench.server.url}/mirror/deep/",
        "https://example.org/a/": f"{bench.root}/mirror/",
    }
    bench.fetch(sources.Git("https://example.com/org/one.git", commit), rewrite=rewrite)
    assert (bench.tree / "lib/code").read_text() == "x"
    assert git("remote", "get-url", "origin", cwd=bench.tree) == "https://example.com/org/one.git"
    assert git("remote", "get-url", "origin", cwd=bench.tree / "lib") == "https://example.org/a/library.git"
    assert sources.resolve("https://example.com/org/one.git", "main", ENVIRONMENT, rewrite=rewrite) == commit
    sources.disk.remove(str(bench.tree))
    error = bench.fetch_error(sources.Git("https://example.com/org/none", "1" * 40), rewrite=rewrite)
    assert f"https://example.com/org/none (mirror {bench.server.url}/mirror/deep/none) does not exist" in error.cause


def test_credentials_reach_only_the_server(bench: Bench, tmp_path: Path) -> None:
    library, repository = bench.repository("library"), bench.repository("one")
    commit = repository.commit({"file": "1"}, {"lib": ("../library", library.commit({"code": "x"}))})
    bench.server.authorization = "Basic " + base64.b64encode(b"user:se cret").decode()
    url = bench.url("one").replace("http://", "http://user:se%20cret@")
    # This git records its arguments, which any user can see with `ps`.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nPATH="{os.environ["PATH"]}" exec git "$@"\n'
    )
    (tmp_path / "bin/git").chmod(0o755)
    environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    bench.fetch(sources.Git(url, commit), environment=environment)
    assert (bench.tree / "lib/code").read_text() == "x"
    leaks = subprocess.run(["grep", "-rlE", "se(%20|.)cret", str(tmp_path)], capture_output=True, check=False)
    assert leaks.stdout == b""
    assert "cret" not in "".join(bench.messages)
    sources.disk.remove(str(bench.tree))
    error = bench.fetch_error(sources.Git(url.replace("user:", "other:"), "1" * 40))
    assert "needs credentials" in error.cause
    assert "cret" not in str(error.as_result())


def test_rewrite_does_not_match_part_of_a_host() -> None:
    rewrite = {"https://example.com": "https://user:secret@mirror.test", "git://": "https://"}
    assert urls.apply_mirrors("https://example.com/a", rewrite) == "https://user:secret@mirror.test/a"
    assert urls.apply_mirrors("git://example.org/a", rewrite) == "https://example.org/a"
    for hostile in ("https://example.com.evil.test/a", "https://example.com:80@evil.test/a"):
        assert urls.apply_mirrors(hostile, rewrite) == hostile


@pytest.mark.parametrize("user", ["user:secret@", "token@"])
def test_credentials_do_not_follow_redirect(bench: Bench, tmp_path: Path, user: t.Any) -> None:
    commit = bench.repository("one").commit({"file": "1"})
    mirror = Server(bench.root)
    mirror.redirects["/"] = f"{bench.server.url}/"
    try:
        url = f"{mirror.url}/one.git".replace("http://", f"http://{user}")
        error = bench.fetch_error(sources.Git(url, commit))
        assert mirror.credentials
        assert bench.server.requests == []
        assert bench.server.credentials == []
        assert "redirects" in error.cause
        assert "final URL" in error.remedy
        assert "secret" not in str(error.as_result())
    finally:
        mirror.stop()


def test_git_settings_of_user_and_system_are_ignored(bench: Bench, tmp_path: Path) -> None:
    repository = bench.repository("one")
    commit = repository.commit({"file": "text\n", ".gitattributes": "*.x filter=evil\n", "a.x": "x"})
    (tmp_path / ".config/git").mkdir(parents=True)
    (tmp_path / ".config/git/attributes").write_text("* text eol=crlf filter=evil\n")
    (tmp_path / ".gitconfig").write_text(
        f'[filter "evil"]\n\tsmudge = touch {tmp_path}/evil\n'
        f'[url "http://127.0.0.1:9/"]\n\tinsteadOf = {bench.server.url}\n'
    )
    environment = {
        **ENVIRONMENT, "HOME": str(tmp_path), "GIT_DIR": str(repository.bare), "GIT_WORK_TREE": "/",
        "GIT_CONFIG_GLOBAL": str(tmp_path / ".gitconfig"), "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "filter.evil.smudge", "GIT_CONFIG_VALUE_0": f"touch {tmp_path}/evil",
    }  # fmt: skip
    bench.fetch(sources.Git(bench.url("one"), commit), environment=environment)
    assert (bench.tree / "file").read_bytes() == b"text\n"
    assert not (tmp_path / "evil").exists()
    assert not (bench.tree / ".git/hooks").exists()


def test_git_proxy_comes_from_the_environment(bench: Bench) -> None:
    bench.repository("one").commit({"file": "1"})
    error = bench.fetch_error(
        sources.Git("http://example.com/one.git", "1" * 40),
        environment={**ENVIRONMENT, "http_proxy": "http://user:secret@127.0.0.1:9"},
        patience=bench.clock.patience(0),
    )
    assert "cannot be reached" in error.cause
    assert "127.0.0.1" in error.cause
    assert "secret" not in str(error.as_result())


def test_missing_git_is_reported(bench: Bench, tmp_path: Path) -> None:
    error = bench.fetch_error(sources.Git(bench.url("one"), "1" * 40), environment={"PATH": str(tmp_path)})
    assert f"the PATH {tmp_path}" in error.cause
    assert "build_toolchain" in error.remedy


def test_tls_is_verified_with_ca_of_the_environment(bench: Bench, tmp_path: Path) -> None:
    both, alone = make_certificate(tmp_path)
    commit = bench.repository("one").commit({"file": "1"})
    secure = Server(bench.root, both)
    try:
        source = sources.Git(f"{secure.url}/one.git", commit)
        error = bench.fetch_error(source)
        assert "TLS certificate" in error.cause and f"{secure.url}/one.git cannot" in error.cause
        assert "sparkforge_ca_certificate" in error.remedy
        assert bench.clock.pauses == [], "a retry would not help"
        trusting = {**ENVIRONMENT, "SSL_CERT_FILE": alone}
        secure.redirects["/"] = f"{bench.server.url}/"
        error = bench.fetch_error(source, environment=trusting)
        assert "is not allowed" in error.cause
        assert bench.server.requests == [], "what begins with TLS stays with TLS"
        secure.redirects.clear()
        bench.fetch(source, environment=trusting)
        assert (bench.tree / "file").read_text() == "1"
    finally:
        secure.stop()


# Messages of git and ssh that no server in these tests can cause.
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ssh: Could not resolve hostname none.invalid: Name or service not known\nfatal: Could not read from remote "
         "repository.", "NETWORK"),
        ("ssh: connect to host example.com port 22: Connection timed out\nfatal: Could not read from remote",
         "NETWORK"),
        ("Host key verification failed.\nfatal: Could not read from remote repository.", "HOST_KEY"),
        ("git@example.com: Permission denied (publickey).\nfatal: Could not read from remote repository.", "ACCESS"),
        ("ERROR: Repository not found.\nfatal: Could not read from remote repository.", "MISSING"),
        ("fatal: could not read Username for 'https://example.com': terminal prompts disabled", "ACCESS"),
        ("fatal: unable to access 'https://example.com/x/': Received HTTP code 407 from proxy after CONNECT", "PROXY"),
        ("fatal: unable to access 'https://example.com/x/': CONNECT tunnel failed, response 407", "PROXY"),
        ("fatal: unable to access 'https://example.com/x/': gnutls_handshake() failed: The TLS connection was "
         "non-properly terminated.", "NETWORK"),
        ("fatal: unable to access 'https://example.com/x/': Recv failure: Connection reset by peer", "NETWORK"),
        ("client_loop: send disconnect: Broken pipe\nfetch-pack: unexpected disconnect while reading sideband packet\n"
         "fatal: early EOF\nfatal: fetch-pack: invalid index-pack output", "BROKEN"),
        ("error: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly (err 8)\nfatal: early EOF", "BROKEN"),
        ("error: RPC failed; HTTP 504 curl 22 The requested URL returned error: 504\nfatal: the remote end hung up "
         "unexpectedly", "NETWORK"),
        ("fatal: detected dubious ownership in repository at '/srv/one.git'", "OWNER"),
        ("fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output", "SPACE"),
        ("error: unable to create temporary file: Read-only file system", "STORE"),
        ("fatal: unable to access 'https://example.com/x/': The requested URL returned error: 302", "REDIRECTED"),
        ("fatal: something new", "UNKNOWN"),
    ],
)  # fmt: skip
def test_git_errors_are_classified(text: t.Any, kind: t.Any) -> None:
    assert git_errors.of_remote(text, 128).kind.name == kind


def test_unknown_git_error_is_retried_twice(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(
        f'#!/bin/sh\ncase "$*" in *fetch*) echo "fatal: a new kind of error" >&2; exit 1;; esac\n'
        f'PATH="{os.environ["PATH"]}" exec git "$@"\n'
    )
    (tmp_path / "bin/git").chmod(0o755)
    error = bench.fetch_error(sources.Git(bench.url("one"), "1" * 40), environment={"PATH": f"{tmp_path}/bin"})
    assert error.cause == f"git cannot fetch the repository {bench.url('one')}: a new kind of error."
    assert bench.clock.pauses == [1, 2]


def test_concurrent_fetches_share_one_download(bench: Bench) -> None:
    source = bench.source(FILES)
    bench.server.stall = 60_000
    process = start_fetch(bench, source)
    assert bench.server.stalled.wait(60)
    trees = [bench.path / f"other{number}" / "source" for number in range(2)]
    waiting = threading.Event()

    def note(line: str) -> None:
        if "another build" in line:
            waiting.set()

    def other(tree: Path) -> None:
        sources.fetch(source, str(tree), str(bench.store), note, ENVIRONMENT)

    threads = [threading.Thread(target=other, args=(tree,)) for tree in trees]
    for thread in threads:
        thread.start()
    assert waiting.wait(60)
    bench.server.stall = 0
    process.kill()  # the kernel releases the locks of a killed process
    process.communicate()
    for thread in threads:
        thread.join()
    assert all(len(os.listdir(tree)) == 46 for tree in trees)
    assert len(bench.server.wants) == 2, "one request of the killed fetch, and one for both others"


# --- submodules ---


def pytorch_source(bench: Bench) -> tuple[sources.Git, dict[str, str]]:
    """Return a source like PyTorch's, with absolute and relative URLs, a repository used twice, nested submodules."""
    asmjit, fbgemm, cutlass, top = (bench.repository(f"org/{name}") for name in ("asmjit", "fbgemm", "cutlass", "top"))
    commits = {"third_party/fbgemm/external/asmjit": asmjit.commit({"asm.c": "asm"})}
    old, new = cutlass.commit({"cutlass.h": "old"}), cutlass.commit({"cutlass.h": "new"})
    commits["third_party/fbgemm/external/cutlass"] = old
    commits["third_party/fbgemm"] = fbgemm.commit(
        {"fbgemm.c": "fbgemm"},
        {
            "external/asmjit": ("../asmjit.git", commits["third_party/fbgemm/external/asmjit"]),
            "external/cutlass": (bench.url("org/cutlass"), old),
        },
    )
    commits["third_party/cutlass"] = new
    top_commit = top.commit(
        {"setup.py": "setup()"},
        {"third_party/fbgemm": (bench.url("org/fbgemm"), commits["third_party/fbgemm"]),
         "third_party/cutlass": ("../../org/cutlass", new)},
    )  # fmt: skip
    return sources.Git(bench.url("org/top"), top_commit), commits


def test_submodules_are_checked_out_recursively(bench: Bench) -> None:
    source, commits = pytorch_source(bench)
    assert bench.fetch(source) == {"commit": source.version, "submodules": commits}
    files = {
        "third_party/cutlass/cutlass.h": "new",
        "third_party/fbgemm/fbgemm.c": "fbgemm",
        "third_party/fbgemm/external/asmjit/asm.c": "asm",
        "third_party/fbgemm/external/cutlass/cutlass.h": "old",
    }
    assert {path: (bench.tree / path).read_text() for path in files} == files
    assert git("status", "--porcelain", cwd=bench.tree) == ""
    lines = git("submodule", "status", "--recursive", cwd=bench.tree).splitlines()
    assert {line.split()[1]: line.split()[0] for line in lines} == commits, "git would prefix a missing one with '-'"
    # flash-attention's setup.py runs this command.
    bench.server.stop()
    git("submodule", "update", "--init", "--recursive", cwd=bench.tree)
    bench.server.start()


def test_submodules_can_be_left_out(bench: Bench) -> None:
    source, _commits = pytorch_source(bench)
    assert bench.fetch(sources.Git(source.repo, source.version, False)) == {"commit": source.version, "submodules": {}}
    assert os.listdir(bench.tree / "third_party/fbgemm") == []
    assert not any("cutlass" in request for request in bench.server.requests)


def test_missing_submodule_is_named_with_path_and_url(bench: Bench) -> None:
    source, commits = pytorch_source(bench)
    os.rename(bench.root / "org/asmjit.git", bench.root / "org/gone.git")
    error = bench.fetch_error(source)
    path = "third_party/fbgemm/external/asmjit"
    assert error.cause.startswith(f"The submodule {path} ({bench.url('org/asmjit')}) does not exist: ")
    os.rename(bench.root / "org/gone.git", bench.root / "org/asmjit.git")
    bench.server.requests.clear()
    assert bench.fetch(source)["submodules"] == commits
    assert not any("top" in request or "fbgemm" in request for request in bench.server.requests), "both are stored"


def test_submodule_without_the_recorded_commit(bench: Bench) -> None:
    library, repository = bench.repository("library"), bench.repository("one")
    library.commit({"code": "x"})
    commit = repository.commit({"file": "1"}, {"lib": ("../library.git", "2" * 40)})
    error = bench.fetch_error(sources.Git(bench.url("one"), commit))
    assert f"submodule lib ({bench.url('library')}) does not" in error.cause and f"commit {'2' * 40}: " in error.cause
    assert "never pushed" in error.remedy


@pytest.mark.parametrize(("modules", "cause"), [("", "has no URL"), ("[submodule\n", "cannot be read: bad config")])
def test_unusable_gitmodules(bench: Bench, modules: str, cause: str) -> None:
    error = bench.fetch_error(bench.source({"file": "1"}, {"lib": ("x", "2" * 40)}, modules=modules))
    assert cause in error.cause


def test_submodule_with_update_none_is_skipped(bench: Bench) -> None:
    modules = '[submodule "lib"]\n\tpath = lib\n\turl = ../none.git\n\tupdate = none\n'
    source = bench.source({"file": "1"}, {"lib": ("x", "2" * 40)}, modules=modules)
    assert bench.fetch(source)["submodules"] == {}
    assert any("update = none" in line for line in bench.messages)


@pytest.mark.parametrize("form", ["{}", "file://{}", "ext::sh -c touch% {}"])
def test_remote_source_cannot_read_local_repository(bench: Bench, tmp_path: Path, form: t.Any) -> None:
    secret = Repository(tmp_path / "private", "secret")
    inner = secret.commit({"key": "x"})
    error = bench.fetch_error(bench.source({"file": "1"}, {"lib": (form.format(secret.bare), inner)}))
    assert "The submodule lib" in error.cause
    assert "refused" in error.cause or "git may not" in error.cause


def test_submodule_is_not_written_through_symlink(bench: Bench, tmp_path: Path) -> None:
    library, repository = bench.repository("library"), bench.repository("one")
    inner = library.commit({"code": "x"})
    (tmp_path / "outside").mkdir()
    commit = repository.commit({"file": "1"}, {"lib/inner": ("../library.git", inner)})
    # git itself never creates a tree in which `lib` is both a symlink and a directory.
    entries = git("ls-tree", commit, cwd=repository.tree)
    command = ["git", "hash-object", "-w", "--stdin"]
    blob = subprocess.check_output(command, cwd=repository.tree, input=str(tmp_path / "outside"), text=True).strip()
    entries = f"{entries}\n120000 blob {blob}\tlib"
    tree = subprocess.check_output(["git", "mktree"], cwd=repository.tree, input=entries, text=True).strip()
    evil_commit = git("commit-tree", "-m", "evil", tree, cwd=repository.tree)
    git("branch", "evil", evil_commit, cwd=repository.tree)
    # git checks out one of the two entries; either is fine here.
    with contextlib.suppress(SparkforgeError):
        bench.fetch(sources.Git(bench.url("one"), evil_commit))
    assert os.listdir(tmp_path / "outside") == []


def test_lfs_files_are_reported(bench: Bench) -> None:
    bench.fetch(bench.source({".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"}))
    assert any("Git LFS" in line for line in bench.messages)


# --- a bad network ---


def test_failing_server_is_retried_with_backoff(bench: Bench) -> None:
    bench.server.statuses = [503, 502, 500, 429]
    bench.fetch(bench.source({"file": "1"}))
    assert bench.clock.pauses == [1, 2, 4, 8]
    assert any("503; attempt 2 in 1 s" in line for line in bench.messages)


@pytest.mark.parametrize(
    ("status", "cause"), [(403, "needs credentials"), (404, "does not exist"), (407, "The proxy blocks")]
)
def test_final_http_status_is_not_retried(bench: Bench, status: t.Any, cause: t.Any) -> None:
    bench.server.statuses = [status] * 9
    assert cause in bench.fetch_error(sources.Git(bench.url("one"), "1" * 40)).cause
    assert bench.clock.pauses == []


def test_login_page_is_not_a_repository(bench: Bench, web: WebServer) -> None:
    web.files["/one.git/info/refs?service=git-upload-pack"] = b"<!doctype html><html>log in</html>"
    error = bench.fetch_error(sources.Git(f"{web.url}/one.git", "1" * 40))
    assert f"{web.url}/one.git does not serve" in error.cause
    assert "login page" in error.remedy
    assert bench.clock.pauses == []


def test_fetch_waits_ten_minutes_for_the_network(bench: Bench) -> None:
    bench.server.stop()
    bench.clock.at[600] = bench.server.start
    bench.fetch(bench.source({"file": "1"}))
    assert (bench.tree / "file").read_text() == "1"
    assert max(bench.clock.pauses) == 60


def test_lost_network_is_reported_and_next_run_succeeds(bench: Bench) -> None:
    source, commits = pytorch_source(bench)
    bench.fetch(sources.Git(bench.url("org/fbgemm"), commits["third_party/fbgemm"]))
    sources.disk.remove(str(bench.tree))
    bench.server.stop()
    error = bench.fetch_error(source)
    assert error.cause.startswith(f"The repository {bench.url('org/top')} cannot be reached: ")
    assert "(for 10 minutes and" in error.cause
    assert 600 <= sum(bench.clock.pauses) < 700
    assert "Check the network" in error.remedy
    bench.server.start()
    assert bench.fetch(source)["submodules"] == commits


def test_unknown_host(bench: Bench) -> None:
    error = bench.fetch_error(sources.Git("https://none.invalid/x.git", "1" * 40), patience=bench.clock.patience(0))
    assert "none.invalid (for 1 attempt)" in error.cause


def test_interrupted_fetch_resumes_in_pieces(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "PIECE", 10)
    # It first requests all, then the directories, then ten files per request; the third of these is cut off twice.
    bench.server.cuts = [60_000, 0, 0, 0, 2_000, 2_000]
    bench.fetch(bench.source(FILES))
    assert len(list(bench.tree.glob("data*"))) == 45
    assert [len(wants) for wants in bench.server.wants] == [1, 1, 10, 10, 10, 10, 10, 10, 5]
    assert bench.clock.pauses == [1, 2]
    assert git("status", "--porcelain", cwd=bench.tree) == ""
    assert git("rev-list", "--count", "HEAD", cwd=bench.tree) == "1"
    assert not list(bench.store.glob("*.pieces"))


def test_next_run_resumes_interrupted_fetch(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "PIECE", 10)
    source = bench.source(FILES)
    bench.server.cuts = [60_000, 0, 0, 0, *[2_000] * 20]
    error = bench.fetch_error(source)
    assert "cannot be reached" in error.cause
    assert "(for 10 attempts)" in error.cause
    bench.server.cuts, bench.server.wants, bench.server.sent = [], [], 0
    bench.fetch(source)
    assert [len(wants) for wants in bench.server.wants] == [10, 10, 5]
    assert bench.server.sent < 26 * 3_100
    assert len(list(bench.tree.glob("data*"))) == 45


def test_server_without_filters_resends_everything(bench: Bench) -> None:
    repository = bench.repository("one")
    git("config", "uploadpack.allowFilter", "false", cwd=repository.tree)
    commit = repository.commit(FILES)
    bench.server.cuts = [60_000, 60_000]
    bench.fetch(sources.Git(bench.url("one"), commit))
    assert len(list(bench.tree.glob("data*"))) == 45
    assert git("status", "--porcelain", cwd=bench.tree) == ""


# --- a bad disk, and a killed process ---

CHILD = """
import sys
sys.path[:0] = sys.argv[5:]
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import sources
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
import os, resource
if sys.argv[4] != "0":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), int(sys.argv[4])))
url, commit = sys.argv[1].split("#")
try:
    sources.fetch(sources.Git(url, commit), sys.argv[2], sys.argv[3], print, {"PATH": os.environ["PATH"]})
except SparkforgeError as error:
    sys.exit(error.cause)
"""


def start_fetch(bench: Bench, source: sources.Git, limit: int = 0) -> subprocess.Popen[str]:
    arguments = [f"{source.repo}#{source.version}", str(bench.tree), str(bench.store), str(limit)]
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *arguments, *sys.path], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_killed_fetch_leaves_no_tree(bench: Bench) -> None:
    source = bench.source(FILES)
    bench.server.stall = 60_000
    process = start_fetch(bench, source)
    assert bench.server.stalled.wait(60)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not bench.tree.exists()
    bench.server.stall = 0
    bench.server.stop()
    bench.server.start()
    (store,) = bench.store.glob("*.git")
    (store / "shallow.lock").write_text("left by a kill")
    (store / "objects/pack/tmp_pack_x").write_text("left by a kill")
    (bench.tree.parent / ".source.partial").mkdir()
    (bench.tree.parent / ".source.partial/half").write_text("x")
    bench.fetch(source)
    assert len(os.listdir(bench.tree)) == 46
    assert os.listdir(bench.tree.parent) == ["source"]
    assert not (store / "objects/pack/tmp_pack_x").exists()


def test_full_disk_is_reported(bench: Bench) -> None:
    source = bench.source(FILES)
    process = start_fetch(bench, source, 60_000)
    _said, cause = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"stored in {bench.store}/one-" in cause
    assert "MB are free" in cause
    assert os.listdir(bench.tree.parent) == []
    assert not list(bench.store.glob("*.git/objects/pack/*")), "the space is given back"
    bench.fetch(source)


def test_unwritable_store_is_reported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.os, "access", lambda path, mode: path != str(bench.store))
    error = bench.fetch_error(sources.Git(bench.url("one"), "1" * 40))
    assert f"written to {bench.store}: Permission denied" in error.cause
    assert "build user" in error.remedy


def flip(pack: Path) -> None:
    content = bytearray(pack.read_bytes())
    content[len(content) // 2] ^= 0x55
    pack.write_bytes(content)


def rewrite(pack: Path) -> None:
    """Change the content of the files' objects but keep their names, as a build on this host could."""
    store, content = pack.parents[2], pack.read_bytes()
    for part in (pack, pack.with_suffix(".idx"), pack.with_suffix(".rev")):
        part.unlink(missing_ok=True)
    subprocess.run(["git", "unpack-objects", "-q"], cwd=store, input=content, check=True)
    for path in store.glob("objects/??/*"):
        if zlib.decompress(path.read_bytes()).startswith(b"blob "):
            path.chmod(0o644)
            path.write_bytes(zlib.compress(b"blob 5\0evil\n"))


#: Kind of damage -> the store's files that are changed, and the change.
DAMAGE: dict[str, tuple[str, t.Callable[[Path], object]]] = {
    "truncate": ("objects/pack/*.pack", lambda pack: os.truncate(pack, pack.stat().st_size // 2)),
    "flip": ("objects/pack/*.pack", flip),
    "lose_pack": ("objects/pack/*.pack", Path.unlink),
    "lose_index": ("objects/pack/*.idx", Path.unlink),
    "empty_refs": ("refs/sparkforge/commits/*", lambda ref: ref.write_text("")),
    "lose_head": ("HEAD", Path.unlink),
    "spoil_config": ("config", lambda config: config.write_bytes(bytes(60))),
    "rewrite": ("objects/pack/*.pack", rewrite),
}


def damage_store(bench: Bench, damage: str) -> None:
    pattern, change = DAMAGE[damage]
    paths = list(bench.store.glob(f"one-*.git/{pattern}"))
    assert paths
    for path in paths:
        path.chmod(0o644)
        change(path)


def test_hooks_in_the_store_do_not_run(bench: Bench) -> None:
    repository = bench.repository("one")
    first = repository.commit({"file": "first"})
    bench.fetch(sources.Git(bench.url("one"), first))
    sources.disk.remove(str(bench.tree))
    (store,) = bench.store.glob("*.git")
    ran = bench.path / "ran"
    (store / "hooks").mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-checkout", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"):
        (store / "hooks" / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\n")
        (store / "hooks" / name).chmod(0o755)
    second = repository.commit({"file": "second"})
    bench.fetch(sources.Git(bench.url("one"), second))
    assert (bench.tree / "file").read_text() == "second"
    assert not ran.exists(), ran.read_text()
    # The hooks are executable, because plain git runs them.
    subprocess.run(["git", "update-ref", "refs/heads/x", second], cwd=store, check=True)
    assert "reference-transaction" in ran.read_text()


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_store_is_fetched_again(bench: Bench, damage: str) -> None:
    source = bench.source(FILES)
    bench.fetch(source)
    sources.disk.remove(str(bench.tree))
    damage_store(bench, damage)
    bench.fetch(source)
    assert {path.name: path.read_bytes() for path in bench.tree.glob("data*")} == FILES
    git("fsck", "--full", cwd=bench.tree)
    assert not bench.clock.pauses


def test_malformed_old_commit_is_not_damage(bench: Bench) -> None:
    repository = bench.repository("one")
    repository.commit({"file": "content"})
    tree = subprocess.check_output(["git", "rev-parse", "HEAD^{tree}"], cwd=repository.bare, text=True).strip()
    malformed = f"tree {tree}\nauthor A <a@example.com> x\ncommitter A <a@example.com> x\n\nNo date.\n".encode()
    command = ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
    commit = subprocess.check_output(command, cwd=repository.bare, input=malformed).decode().strip()
    subprocess.run(["git", "update-ref", "refs/heads/odd", commit], cwd=repository.bare, check=True)
    bench.fetch(sources.Git(bench.url("one"), commit))
    assert (bench.tree / "file").read_text() == "content"
    assert not any("damaged" in line for line in bench.messages)


@pytest.mark.parametrize("damage", ["truncate", "flip", "lose_pack"])
def test_fetch_repairs_damaged_store(bench: Bench, damage: str) -> None:
    repository = bench.repository("one")
    first = repository.commit(FILES)
    second = repository.commit({"file": "new"})
    bench.fetch(sources.Git(bench.url("one"), first))
    damage_store(bench, damage)
    bench.fetch(sources.Git(bench.url("one"), second))
    assert (bench.tree / "data7").read_bytes() == random_bytes(7)
    bench.fetch(sources.Git(bench.url("one"), first))
    assert (bench.tree / "data7").read_bytes() == random_bytes(7)
    assert not (bench.tree / "file").exists()
    assert any("damaged" in line for line in bench.messages)


# --- archives ---


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


TAR = [
    (member("one-1.0/", tarfile.DIRTYPE), b""),
    (member("one-1.0/setup.py"), b"setup()"),
    (member("one-1.0/tools/run", mode=0o755), b"#!/bin/sh\n"),
    (member("one-1.0/link", tarfile.SYMTYPE, "tools/run"), b""),
]


def packed_tar(kind: str) -> bytes:
    if kind != "tar":
        return tar(TAR, kind)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for info, content in TAR:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> t.Iterator[WebServer]:
    monkeypatch.setattr(sources.http.time, "sleep", lambda _seconds: None)
    served = WebServer()
    yield served
    served.close()


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "tar"])
def test_archive_top_directory_is_stripped(bench: Bench, web: WebServer, kind: t.Any, umask: t.Callable[[int], int]):
    content = packed_tar(kind)
    web.files["/one-1.0"] = content
    source = sources.Archive(f"{web.url}/one-1.0", sha256(content).upper())
    umask(0o077)
    assert bench.fetch(source) == {"sha256": sha256(content)}
    assert sorted(os.listdir(bench.tree)) == ["link", "setup.py", "tools"]
    assert (bench.tree / "link").read_text() == "#!/bin/sh\n"
    modes = {name: stat.S_IMODE((bench.tree / name).stat().st_mode) for name in (".", "tools", "setup.py", "tools/run")}
    assert modes == {".": 0o755, "tools": 0o755, "setup.py": 0o644, "tools/run": 0o755}
    assert os.listdir(bench.tree.parent) == ["source"]
    assert os.listdir(bench.store) == [sha256(content)]
    web.files.clear()
    (bench.tree / "setup.py").write_text("changed")
    bench.fetch(source)
    assert (bench.tree / "setup.py").read_text() == "setup()"
    assert len(web.requests) == 1, "the second one comes from the store"


def test_local_archive_with_special_characters(bench: Bench) -> None:
    content = packed_tar("gz")
    path = bench.path / "a b%20#?.tar.gz"
    path.write_bytes(content)
    bench.fetch(sources.Archive(str(path), sha256(content)))
    assert (bench.tree / "setup.py").exists()
    path.unlink()
    bench.fetch(sources.Archive(str(path), sha256(content)))
    sources.disk.remove(str(bench.tree))
    error = bench.fetch_error(sources.Archive(str(path), "0" * 64))
    assert "cannot be read: No such file or directory" in error.cause


def test_archive_with_several_top_entries(bench: Bench) -> None:
    content = tar([(member("setup.py"), b"setup()"), (member("src/one.c"), b"int x;")], "gz")
    (bench.path / "archive").write_bytes(content)
    bench.fetch(sources.Archive(str(bench.path / "archive"), sha256(content)))
    assert sorted(os.listdir(bench.tree)) == ["setup.py", "src"]
    assert stat.S_IMODE(bench.tree.stat().st_mode) == 0o755


def test_archive_with_wrong_sha256(bench: Bench, web: WebServer) -> None:
    content = packed_tar("gz")
    web.files["/one.tar.gz"] = content
    error = bench.fetch_error(sources.Archive(f"{web.url}/one.tar.gz", "0" * 64))
    assert error.cause == f"The sha256 of {web.url}/one.tar.gz is {sha256(content)}, expected {'0' * 64}."
    assert os.listdir(bench.store) == []
    with pytest.raises(SparkforgeError, match="has no sha256"):
        bench.fetch(sources.Archive(f"{web.url}/one.tar.gz", "abc"))


def test_archive_damaged_in_store_is_fetched_again(bench: Bench, web: WebServer) -> None:
    content = packed_tar("gz")
    web.files["/one.tar.gz"] = content
    source = sources.Archive(f"{web.url}/one.tar.gz", sha256(content))
    bench.fetch(source)
    (bench.store / sha256(content)).write_bytes(content[:-5])
    bench.fetch(source)
    assert len(web.requests) == 2
    assert (bench.store / sha256(content)).read_bytes() == content


def test_archive_from_mirror_over_bad_network(bench: Bench, web: WebServer) -> None:
    content = packed_tar("gz")
    web.files["/mirror/one.tar.gz"] = content
    web.cuts["/mirror/one.tar.gz"] = [100, 20]
    web.statuses["/mirror/one.tar.gz"] = [503] * 40
    source = sources.Archive("https://example.com/one.tar.gz", sha256(content))
    bench.fetch(source, rewrite={"https://example.com": f"{web.url}/mirror"})
    assert (bench.tree / "setup.py").exists()
    assert len(web.requests) == 43


def test_archive_proxy_comes_from_the_environment(bench: Bench, web: WebServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    content = packed_tar("gz")
    web.files["http://example.com/one.tar.gz"] = content
    source = sources.Archive("http://example.com/one.tar.gz", sha256(content))
    bench.fetch(source, environment={**ENVIRONMENT, "http_proxy": web.url})
    assert web.paths == ["http://example.com/one.tar.gz"]
    assert os.environ["http_proxy"] == "http://127.0.0.1:9"


def refusal(bench: Bench, content: bytes) -> str:
    (bench.path / "archive").write_bytes(content)
    error = bench.fetch_error(sources.Archive(str(bench.path / "archive"), sha256(content)))
    assert sorted(os.listdir(bench.path)) == ["archive", "build", "served", "store"]
    return error.cause


def test_hostile_tar_archive_is_refused(bench: Bench) -> None:
    for bad, cause in (
        (member("top/l", tarfile.SYMTYPE, "../beside"), "archive's directory"),
        (member("top/a/l", tarfile.SYMTYPE, "../../beside"), "archive's directory"),
        (member("top/l", tarfile.SYMTYPE, "/etc"), "outside the archive"),
        (member("../x"), "leaves the archive"),
        (member("top/h", tarfile.LNKTYPE, "/etc/passwd"), "absolute"),
        (member("top/h", tarfile.LNKTYPE, "top/none"), "an earlier file"),
        (member("top/n", tarfile.CHRTYPE), "device node"),
    ):
        assert cause in refusal(bench, tar([(member("top/x"), b"x"), (bad, b"")], "gz"))


def test_archive_keeps_inner_symlinks(bench: Bench) -> None:
    content = tar([(member("top/a/b"), b"x"), (member("top/c/l", tarfile.SYMTYPE, "../a/b"), b"")], "gz")
    (bench.path / "archive").write_bytes(content)
    bench.fetch(sources.Archive(str(bench.path / "archive"), sha256(content)))
    assert (bench.tree / "c/l").read_text() == "x"


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "is not a source archive: it is empty"),
        (b"<html>", "is not a source archive: it begins with b'<html>'"),
        (packed_tar("gz")[:60], "is damaged"),
        (packed_tar("xz")[:90], "is damaged"),
        (b"PK\x03\x04 and nothing more", "it is a zip archive"),
    ],
    # gzip stores the time, which in a test's name would differ between pytest-xdist's workers.
    ids=["nothing", "a page", "half a gz", "half an xz", "a zip"],
)
def test_file_that_is_not_an_archive(bench: Bench, content: t.Any, cause: t.Any) -> None:
    assert cause in refusal(bench, content)


# --- the build backend ---


def test_build_backend_is_read_without_toml_parser() -> None:
    requires = 'requires = [\n  "setuptools>=62",\n  "x; python_version < \'3.12\'",\n]\n'
    text = (
        f"[project]\nname = 'x'\nbuild-backend = 'no'\n[build-system]\n{requires}build-backend = \"a.b:c\"\n[tool.x]\n"
    )
    assert sources.build_backend(text) == "a.b:c"
    assert sources.build_backend("[build-system]\nrequires = []\n[tool.x]\nbuild-backend = 'no'\n") is None
    assert sources.build_backend("") is None


# --- cases that need a fake git or a prepared tree ---


def test_https_url_allows_only_https(tmp_path: Path) -> None:
    (tmp_path / "git").write_text('#!/bin/sh\necho "$GIT_ALLOW_PROTOCOL"\n')
    (tmp_path / "git").chmod(0o755)
    commands = git_command.Commands({"PATH": str(tmp_path)})
    for url, allowed in (("https://example.com/x", b"https\n"), ("ssh://example.com/x", b"ssh\n")):
        assert commands.remote(urls.read_remote(url, "It"), ["ls-remote"]) == allowed


def test_check_out_refuses_path_through_symlink(tmp_path: Path) -> None:
    for name in ("outside", "tree"):
        (tmp_path / name).mkdir()
    (tmp_path / "tree/lib").symlink_to(tmp_path / "outside")
    checkout = urls.make_revision("https://example.com/x", "1" * 40, {}, "lib")
    with pytest.raises(SparkforgeError, match="through a symlink"):
        git_tree.check_out(checkout, str(tmp_path / "tree"), "/none", git_command.Commands(ENVIRONMENT), print)
    assert os.listdir(tmp_path / "outside") == []


def test_too_many_submodules_are_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "SUBMODULES_LIMIT", 1)
    inner = bench.repository("library").commit({"code": "x"})
    error = bench.fetch_error(bench.source({"file": "1"}, {"lib": ("../library.git", inner)}))
    assert "more than 1 submodules" in error.cause
