"""Messages for an owner who starts the site with an unfinished inventory."""

from pathlib import Path

import pytest

from tests.playbooks.run_playbook import ROOT, run_playbook

SHIPPED = ROOT / "inventory/hosts.yml"


def test_the_shipped_inventory_unedited_names_the_line_to_edit(tmp_path: Path) -> None:
    # No network can resolve this name.
    own = tmp_path / "hosts.yml"
    own.write_text(SHIPPED.read_text().replace("spark01.local", "spark01.invalid"))
    result = run_playbook(tmp_path, "-i", str(own), str(ROOT / "site.yml"), "-l", "spark01")
    output = " ".join(result.stdout.split())
    assert result.returncode == 4, output
    assert "reached over ssh: Could not resolve hostname spark01.invalid" in output
    assert f"into line 8 of {own} (ansible_host: spark01.invalid), or run `make spark`" in output
    # Nothing else was run on the host.
    assert "changed=0" in output and output.count("UNREACHABLE!") == 1


#: Edits of the shipped inventory, and phrases from the resulting message.
HALFWAY = {
    "another stack, and the method as it was": (
        {"# stack_name: torch-2.15.0": "stack_name: torch-2.15.0"},
        ["stack torch-2.15.0", "commit of triton", "Set stack_method: wheel,"],
    ),
    "three at once": (
        {
            "stack_method: build": "stack_method: wheels",
            "stack_profile: gb10": "stack_profile:",
            "# sparkforge_ca_certificate: /path": "sparkforge_ca_certificat: /path",
        },
        [
            "spark01 has variables with",
            "value of stack_method must be one of: wheel, build, got: wheels.",
            "stack_profile has no value",
            "mean sparkforge_ca_certificate?",
        ],
    ),
    "a line that is no YAML": ({"stack_method: build": "stack_method build"}, ["No inventory was parsed", "hosts.yml"]),
}


@pytest.mark.parametrize(("edits", "phrases"), HALFWAY.values(), ids=HALFWAY)
def test_half_edited_inventory_is_one_message_before_any_call(tmp_path: Path, edits, phrases):
    text = SHIPPED.read_text()
    for line, edited in edits.items():
        assert line in text
        text = text.replace(line, edited)
    (tmp_path / "hosts.yml").write_text(text)
    config = str(ROOT / "ansible.cfg")
    result = run_playbook(tmp_path, "-i", "hosts.yml", str(ROOT / "site.yml"), ANSIBLE_CONFIG=config)
    output = " ".join((result.stdout + result.stderr).split())
    assert result.returncode != 0 and "Observe the host" not in output
    assert [word for word in phrases if word not in output] == [], output


def test_playbook_names_its_missing_or_invalid_variables(tmp_path: Path) -> None:
    result = run_playbook(
        tmp_path, "-i", "localhost,", str(ROOT / "playbooks/mirror.yml"), "-e",
        '{"mirror_machines": 7, "mirror_directry": "x"}',
    )  # fmt: skip
    output = " ".join(result.stdout.split())
    assert result.returncode == 2 and "Write the files" not in output
    assert "mean mirror_directory?" in output and "mirror_directory is required: The target directory" in output
    assert "docs/playbooks.md lists them" in output


@pytest.mark.parametrize(
    "playbook", ["site", *(f"playbooks/{name}" for name in ("build", "fabric", "rollback", "uninstall", "guard"))]
)
def test_two_names_of_one_machine_are_one_message_before_any_call(tmp_path: Path, playbook: str) -> None:
    hosts = "{spark01: {ansible_host: 192.0.2.1}, spark02: {ansible_host: 192.0.2.1}}"
    (tmp_path / "hosts.yml").write_text(f"all: {{children: {{fabric: {{hosts: {hosts}}}}}}}\n")
    result = run_playbook(tmp_path, "-i", "hosts.yml", str(ROOT / f"{playbook}.yml"))
    output = " ".join(result.stdout.split())
    assert result.returncode == 2, output
    assert "both are reached" in output
    assert (
        output.count("fatal: ") == 1
        and "-l '!spark02'" in output
        and "Traceback" not in output
        and "UNREACHABLE!" not in output
    )
