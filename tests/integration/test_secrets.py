"""Put a secret in every place that accepts one, run the whole site with -vvv and --diff, and search everything it left.

One host builds and serves its wheelhouse with a password; another installs from it. Both download through a proxy, from
an index and git mirrors that each have a password, and systemd's journal records the actions of sudo and the builds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from lab import bench as benches, image, serve
from tests import upstream
from tests.integration import planted, proxy
from tests.integration.conftest import Host, Play, running
from tests.integration.planted import Planted
from tests.integration.test_build import VARIABLES, lock, write_stack

pytestmark = pytest.mark.long

PORT = 8629
# Use a name, because Debian 13's pip fails with https and an address; /etc/hosts and RESOLVE resolve it.
NAME = "wheelhouse.sparkforge.test"
RESOLVE = """import socket
def getaddrinfo(host, *rest, _ask=socket.getaddrinfo, **options):
    return _ask({address!r} if host == {name!r} else host, *rest, **options)
socket.getaddrinfo = getaddrinfo
"""
NOTHING = "nothing-has-this-name==1.0 --hash=sha256:" + "0" * 64


@dataclass
class Site:
    """Two hosts, the secrets in their inventory, and the controller's directory for output."""

    builder: Host
    taker: Host
    secrets: Planted
    variables: dict[str, dict[str, object]]
    kept: Path

    @property
    def hosts(self) -> list[Host]:
        return [self.builder, self.taker]

    def give(self, **changed: object) -> None:
        """Write the secrets to a private file for each host on the controller, as a user would."""
        for host in self.hosts:
            path = host.inventory / "host_vars" / f"{host.name}.yml"
            path.parent.mkdir(exist_ok=True)
            path.touch(0o600)
            path.write_text(yaml.safe_dump({**self.variables[host.name], **changed}))

    def run(self, name: str, playbook: str, *arguments: str, **variables: object) -> Play:
        """Run a playbook on both hosts, and keep its output."""
        all_variables = {**VARIABLES, **variables}
        del all_variables["sparkforge_rewrite"]
        limit = ",".join(host.name for host in self.hosts)
        play = self.builder.run(playbook, "-l", limit, "-vvv", "--diff", *arguments, **all_variables)
        (self.kept / f"{name}.out").write_text(play.output)
        return play

    def search(self) -> planted.Found:
        """Search both hosts, and everything on the controller that these runs could have written."""
        hits = planted.Found()
        for host in self.hosts:
            hits += planted.on_host(host, self.secrets)
        bench = benches.Bench.load(self.builder.bench)
        assert bench
        hits += planted.on_controller(self.secrets, self.builder.inventory.parent, self.kept, bench.folder)
        return hits

    def unexpected(self, hits: planted.Found) -> list[planted.Hit]:
        """Return the hits that are neither in the table of accepted files nor in the controller's own inventory."""
        own = {str(host.inventory / "host_vars" / f"{host.name}.yml") for host in self.hosts}
        rows = planted.accepted()
        return [hit for hit in hits.hits if hit.where not in own and not any(row.covers(hit) for row in rows)]


def plant(builder: Host, taker: Host, secrets: Planted, https: str, http: str, tls: serve.Certificate) -> dict:
    """Return each host's variables, with a different secret in every place that accepts one."""
    mirror = builder.mirror["url"].removeprefix("https://")
    archive = builder.execute("grep -hoE 'https?://[^/ ]+' -r /etc/apt/sources.list* | head -1").partition("://")[2]

    def at(label: str, path: str) -> str:
        return f"https://user:{secrets.url(label)}@{mirror}/{path}"

    both = {
        "ansible_become_password": secrets.text("become"),
        "sparkforge_proxies": {"https": https, "http": http, "no_proxy": [archive, NAME]},
        # Two URL prefixes: that of the stack's sources, and that of submodules.
        "sparkforge_rewrite": {
            upstream.ELSEWHERE: at("submodules", "git/"),
            f"{builder.mirror['url_here']}/git/": at("git", "git/"),
        },
        "python_env_index_url": at("index", "simple/"),
        "python_env_find_links": [at("links", "wheels/")],
        "sparkforge_wheelhouse_url": f"https://{NAME}:{PORT}",
        "sparkforge_wheelhouse_username": "fleet",
        "sparkforge_wheelhouse_password": secrets.text("wheelhouse"),
        **{f"{role}_index_url": at(f"{role}_index", "simple/") for role in ("triton", "pytorch", "torch_extensions")},
        **{
            f"{role}_find_links": [at(f"{role}_links", "wheels/")] for role in ("triton", "pytorch", "torch_extensions")
        },
    }
    serving = {
        "sparkforge_wheelhouse_serve": True,
        "wheelhouse_username": "fleet",
        "wheelhouse_password": secrets.text("wheelhouse"),
        "wheelhouse_tls_certificate": str(tls.certificate),
        "wheelhouse_tls_key": str(tls.key),
    }
    return {builder.name: {**both, **serving}, taker.name: both}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    secrets, kept = Planted(), tmp_path_factory.mktemp("kept")
    for bench in running(tmp_path_factory, "native"):
        builder, taker = (bench.fresh("systemd", ["--cap-add=SYS_ADMIN"]) for _number in range(2))
        for host in (builder, taker):
            assert host.execute("systemctl is-system-running --wait") == "running"
            # Pass it through stdin of a program in the container: command-line arguments are visible.
            image.podman("exec", host.container, "python3", "-c", BECOME.format(secrets.text("become").encode().hex()))
        write_stack(builder)
        lock(builder, "-e", "ansible_become_password=spark").succeeded()
        known = benches.Bench.load(bench.name)
        assert known
        ours = serve.Certificate(kept / "wheelhouse.pem", kept / "wheelhouse.key", known.folder / "ca.pem")
        serve.ensure_certificate(ours, [NAME])
        address = known.addresses[builder.name]
        for host in (builder, taker):
            host.execute(f"echo {address} {NAME} >> /etc/hosts")
        (kept / "names").mkdir()
        (kept / "names/sitecustomize.py").write_text(RESOLVE.format(address=address, name=NAME))
        with proxy.running(secrets.text("proxy")) as server, pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANSIBLE_HOME", str(kept / "ansible"))
            patch.setenv("ANSIBLE_LOG_PATH", str(kept / "ansible.log"))
            patch.setenv("PYTHONPATH", str(kept / "names"))
            patch.setenv("SSL_CERT_FILE", str(ours.ca))
            http = f"http://{proxy.USER}:{secrets.url('http_proxy')}@{server.address}"
            new_site = Site(builder, taker, secrets, plant(builder, taker, secrets, server.url, http, ours), kept)
            new_site.give()
            yield new_site


BECOME = """import subprocess
line = b"spark:" + bytes.fromhex("{}")
subprocess.run(["chpasswd"], input=line + b"\\n", check=True)
"""


def test_no_secret_is_left_or_shown_by_a_site_that_succeeds_nor_by_one_that_fails(site: Site, capsys):
    with planted.sampled(site.secrets) as sampler:
        # This run may fail: a host in its factory state has no compiler that could report its version.
        site.run("check", "site", "--check")
        site.run("first", "site").succeeded()
        after = site.search()
        # The wheelhouse is now being served, so the controller queries it, since a key vouches for its content.
        key = site.builder.execute("cut -d ' ' -f 1,2 /opt/sparkforge/keys/wheelhouse.pub").strip()
        for variables in site.variables.values():
            variables["sparkforge_wheelhouse_signers"] = [key]
        site.give()
        site.run("second", "site").succeeded()
        site.run("converged", "site", "--check").succeeded()
        failed = fail(site)
        hits = site.search()
    # apt downloads as its own account, which must send the proxy its password; other accounts cannot read that process.
    allowed = [0, *(planted.user_id(site.builder, name) for name in ("sparkforge", "_apt"))]
    hits += sampler.end(allowed)
    for host in site.hosts:
        pid = image.podman("inspect", host.container, "--format", "{{.State.Pid}}").stdout.strip()
        assert pid in {seen for seen, _when in sampler.seen}, "the processes of the containers were not looked at"
    unexpected = [*site.unexpected(after), *site.unexpected(hits)]
    explained = sorted({hit.where for hit in [*after.hits, *hits.hits]} - {hit.where for hit in unexpected})
    with capsys.disabled():
        outputs = [path.stat().st_size for path in site.kept.glob("*.out")]
        print(f"\nafter the site: {after}")
        print(f"at the end: {hits}; {len(outputs)} outputs of plays ({sum(outputs) / 1e6:.1f} MB) are among them")
        print("explained:", *explained, sep="\n  ")
        print(f"{len(unexpected)} not explained:", *sorted(set(map(str, unexpected))), sep="\n  ")
    assert unexpected == []
    # Otherwise the failures would prove nothing.
    assert [message for message, play in failed.items() if play.code == 0 or message not in play.text] == []
    # Every row of the table must match a file; otherwise it is not needed.
    searched = [*after.hits, *hits.hits]
    assert [row.path for row in planted.accepted() if not any(row.covers(hit) for hit in searched)] == []


def fail(site: Site) -> dict[str, Play]:
    """Make the site fail at each place that has a secret; return each run by its expected message."""
    runs = {}
    broken = {**VARIABLES["pytorch_unit"], "environment": {"FIXTURE_WEIGHT": "3"}}
    rewrite = {
        url: mirror.replace("/git/", "/git/none/")
        for url, mirror in site.variables[site.builder.name]["sparkforge_rewrite"].items()
    }
    site.give(sparkforge_rewrite=rewrite)
    site.builder.execute("rm -r /opt/sparkforge/builds/.sources")
    runs["/git/none/"] = site.run("git", "site", pytorch_unit=broken)
    site.give()
    missing = {"python_env_extra_requirements": [NOTHING]}
    runs["nothing-has-this-name"] = site.run("pip", "site", **missing)
    proxies = site.variables[site.builder.name]["sparkforge_proxies"]
    site.give(sparkforge_proxies={**proxies, "https": str(proxies["https"]).replace("-proxy-", "-other-")})
    runs["407"] = site.run("proxy", "site", **missing)
    site.give(ansible_become_password=site.secrets.text("wrong"))
    runs["Incorrect sudo password"] = site.run("become", "site")
    site.give(sparkforge_wheelhouse_password=site.secrets.text("wrong"))
    site.taker.execute("rm -rf /opt/sparkforge/envs /opt/sparkforge/receipts/env-torch.json /opt/sparkforge/wheels")
    runs["401"] = site.run("wheelhouse", "site")
    return runs
