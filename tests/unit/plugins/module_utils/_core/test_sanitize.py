"""A single function removes control characters from untrusted text before it is printed."""

import re
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import sanitize

ROOT = Path(__file__).parents[5]
#: Control sequences, characters that reverse or hide text, and characters that cannot be encoded.
EVIL = [
    "\x1b]0;evil\a", "\r\x1b[2KYour password has expired", "\x9b31m", "\x7f", "\u202egnp.exe", "\u2066a", "a\u200bb",
    "\ufeff", "\u2028", "\U000e0041", "\udc1b", "\xad", "\u061c",
]  # fmt: skip
#: Programs that run on a host on their own, and checks that refuse unprintable text.
OWN_CHECKS = {
    "roles/serving/files/sparkforge_unit.py",
    "plugins/module_utils/_record/redaction.py",
    "proof/src/sparkforge_proof/endpoint/cli.py",
}


@pytest.mark.parametrize("evil", EVIL)
def test_control_characters_are_replaced(evil: str) -> None:
    assert sanitize.line(f"torch {evil} 2.14") != f"torch {evil} 2.14"
    control_characters = set("\x1b\a\r\x9b\x7f\u202e\u2066\u200b\ufeff\u2028\udc1b\xad\u061c")
    assert not control_characters & set(sanitize.text(evil))
    assert sanitize.line(evil).encode()
    assert sanitize.unit(f"x{evil}.service").isascii()


@pytest.mark.parametrize("name", ["PyTorch 2.14.1+cu130", "Modell für Ä 模型", "a\tb", "résumé.gguf", "1 < 2 & 3"])
def test_names_in_any_language_are_kept(name: str) -> None:
    assert sanitize.line(name) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ssh.service", "ssh.service"),
        (r"systemd-fsck@dev-disk-by\x2duuid-1.service", r"systemd-fsck@dev-disk-by\x2duuid-1.service"),
        ("x\x1b]0;evil\a.service", "x??0?evil?.service"),
        ("a b\n.service", "a?b?.service"),
        ("\u00e4.scope", "?.scope"),
    ],
)
def test_unit_name_has_only_valid_characters(name: str, expected: str) -> None:
    assert sanitize.unit(name) == expected


def test_only_one_function_checks_for_printable_text() -> None:
    folders = ("plugins", "proof/src", "guard/src", "cli", "tools", "roles")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    users = {str(path.relative_to(ROOT)) for path in sources if re.search(r"isprintable\(\)", path.read_text())}
    assert users <= OWN_CHECKS
