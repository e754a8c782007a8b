"""The inventory and the ssh host keys that setup writes."""

import subprocess
from pathlib import Path

import pytest
import yaml
from sparkforge import Refusal, inventory, unsafe_text
from sparkforge.find import Spark
from sparkforge.questions import Answers

KEY = "ssh-ed25519 AAAA"


@pytest.fixture(autouse=True)
def _addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "address_to_keep", lambda spark: spark.addresses[0])
    newest = {"stack_name": "torch-2.11.0", "stack_method": "wheel"}
    methods = {"wheels": {"stack_method": "wheel"}, "source": {"stack_method": "build"}, "newest": newest}
    monkeypatch.setattr(inventory, "methods", lambda: ("", methods))


def answers(*sparks: Spark, method: str = "wheels") -> Answers:
    default = Spark("spark-1", ["192.0.2.1"], "", 2222, key_file="/k y", key=KEY)
    return Answers(list(sparks or (default,)), "ada", method, "secret")


def test_the_inventory_has_the_answers_but_not_the_password() -> None:
    text = inventory.render({}, answers())
    assert "secret" not in text
    sparks = yaml.safe_load(text)["all"]["children"]["sparks"]
    assert sparks["hosts"]["spark-1"] == {
        "ansible_host": "192.0.2.1",
        "ansible_port": 2222,
        "ansible_ssh_private_key_file": "/k y",
    }
    assert sparks["vars"]["ansible_user"] == "ada"
    # ssh accepts only the host key that setup stored, under the name that setup used.
    for option in ("HostKeyAlias={{ inventory_hostname }}", "StrictHostKeyChecking=yes"):
        assert f"-o {option}" in sparks["vars"]["ansible_ssh_common_args"]
    assert sparks["vars"]["sparkforge_accept_nvidia_license"] is True
    assert sparks["vars"]["stack_method"] == "wheel"
    assert "stack_name" not in sparks["vars"]


def test_the_proxy_is_stored_in_the_variable_of_the_roles() -> None:
    behind = answers()
    behind.proxy = "http://ada:{{ x }}@proxy.example:3128"
    text = inventory.render({}, behind)
    proxies = unsafe_text.load(text)["all"]["children"]["sparks"]["vars"]["sparkforge_proxies"]
    assert proxies == dict.fromkeys(("http", "https"), behind.proxy) and text.count("!unsafe") == 2
    # The proxy is kept if setup is run again without the option.
    again = unsafe_text.load(inventory.render(unsafe_text.load(text), answers()))
    assert again["all"]["children"]["sparks"]["vars"]["sparkforge_proxies"] == proxies
    assert "sparkforge_proxies" not in inventory.render({}, answers())


def test_users_variables_are_kept_and_new_answers_replace_old_ones() -> None:
    known = yaml.safe_load(inventory.render({}, answers()))
    known["all"]["vars"] = {"verify_schedule": "weekly"}
    known["all"]["children"]["fabric"] = {"hosts": {"spark-1": None}}
    sparks = known["all"]["children"]["sparks"]
    sparks["hosts"]["spark-1"]["mine"] = 1
    sparks["vars"]["stack_profile"] = "generic"
    again = inventory.render(known, answers(Spark("spark-2", ["192.0.2.2"], "", local=True), method="source"))
    groups = yaml.safe_load(again)["all"]
    assert groups["vars"] == {"verify_schedule": "weekly"}
    assert groups["children"]["fabric"] == {"hosts": {"spark-1": None}}
    hosts, variables = groups["children"]["sparks"]["hosts"], groups["children"]["sparks"]["vars"]
    assert hosts["spark-1"]["mine"] == 1
    assert hosts["spark-2"] == {"ansible_connection": "local"}
    assert variables["stack_profile"] == "generic"
    assert variables["stack_method"] == "build"


def test_the_newest_stack_is_named_until_another_method_is_chosen() -> None:
    known = yaml.safe_load(inventory.render({}, answers(method="newest")))
    sparks = known["all"]["children"]["sparks"]
    assert {"stack_name": "torch-2.11.0", "stack_method": "wheel"}.items() <= sparks["vars"].items()
    sparks["hosts"]["spark-1"]["stack_name"] = "mine"
    sparks = yaml.safe_load(inventory.render(known, answers()))["all"]["children"]["sparks"]
    assert "stack_name" not in sparks["vars"]
    assert sparks["hosts"]["spark-1"]["stack_name"] == "mine"


@pytest.mark.parametrize("text", ["[", "- a\n", "all: [1]\n", "all: {children: {sparks: {hosts: [a]}}}\n", "\0"])
def test_an_invalid_inventory_is_refused_and_unchanged(text: str, tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text(text)
    with pytest.raises(Refusal, match=r"hosts\.yml"):
        inventory.load(path)
    assert path.read_text() == text


def test_keys_of_other_hosts_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_text("spark-0 ssh-rsa A\nspark-1 ssh-rsa B\n")
    assert inventory.known_keys(path, answers().sparks) == f"spark-0 ssh-rsa A\nspark-1 {KEY}\n"


OLD = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRnt4vLtUNZ7dEuiqoOqMY6+AZ3XUJVbPf5ANL5aOQl"


@pytest.mark.parametrize("hashed", [False, True])
def test_an_accepted_key_replaces_the_old_one_by_name_and_address(hashed: bool, tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_text(f"spark-1 {OLD}\n192.0.2.1 {OLD}\n192.0.2.2 {OLD}\n")
    if hashed:
        subprocess.run(["ssh-keygen", "-H", "-f", path], check=True, capture_output=True)
    sparks = answers().sparks
    assert inventory.known_keys(path, sparks).count(OLD) == 2
    sparks[0].changed = "its key is another one"
    text = inventory.known_keys(path, sparks)
    assert text.count(OLD) == 1 and text.endswith(f"spark-1 {KEY}\n192.0.2.1 {KEY}\n")


def test_files_are_written_atomically_and_readable_by_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "hosts.yml"
    inventory.write(path, "a\n")
    inventory.write(path, "b\n")
    assert path.read_text() == "b\n"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [entry.name for entry in path.parent.iterdir()] == ["hosts.yml"]
    (tmp_path / "file").touch()
    with pytest.raises(Refusal, match="cannot be written"):
        inventory.write(tmp_path / "file" / "hosts.yml", "a\n")


def test_the_default_inventory_is_in_the_users_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARKFORGE_INVENTORY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/settings")
    assert inventory.default_path() == Path("/settings/sparkforge/hosts.yml")
    monkeypatch.setenv("SPARKFORGE_INVENTORY", "/elsewhere.yml")
    assert inventory.default_path() == Path("/elsewhere.yml")
