"""The texts of the single file, which must not mention parts of the collection."""

import ast
import re
from collections.abc import Iterator

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import PROOF
from sparkforge_proof import elsewhere

OF_THE_COLLECTION = re.compile(
    r"playbooks/|[Aa]nsible|\brole\b|verify_[a-z]|stack_[mp]\w+|limits\.[a-z]|sparkforge_gpu\w+|\bthe play\b"
)
#: Sources whose texts are not printed when checks run.
NOT_PRINTED = ("publish.py", "endpoint/", "_diagnosis/", "_core/disk.py", "_core/modules.py", "_wheel/requirement.py")
PARTS = ("Run the role {}", "{} would install {}", "verify_paths is empty", "{} playbooks/deploy.yml, which")


def sentences() -> Iterator[str]:
    """Yield all texts in the sources except docstrings; braces stand for inserted values."""
    for path, source in PROOF.sources().items():
        if not path.endswith(".py") or any(part in path for part in NOT_PRINTED):
            continue
        skipped: set[ast.AST] = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Expr):
                skipped.add(node.value)
            elif isinstance(node, ast.JoinedStr) and node not in skipped:
                skipped.update(node.values)
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
                yield node.value


def test_single_file_does_not_name_the_collection() -> None:
    ours = [text for text in sentences() if OF_THE_COLLECTION.search(text) and " " in text.strip()]
    assert len(ours) > 30
    rules = {pattern for pattern, _text in elsewhere._REPLACEMENTS}
    for text in ours:
        if text.startswith(PARTS) or text in rules:
            continue
        printed = elsewhere.reword(text)
        assert not OF_THE_COLLECTION.search(printed), printed
        assert "  " not in printed and " ." not in printed and not re.search(r"\. [a-z]", printed), printed


@pytest.mark.parametrize(
    ("text", "replacement"),
    [
        (
            "Remove /a/b and run playbooks/deploy.yml, which installs the environment. If so.",
            "Install the packages of this environment again. If so.",
        ),
        (
            "Run playbooks/libraries.yml and playbooks/deploy.yml, or correct verify_paths.",
            "Install the library that is missing.",
        ),
        ("Run the role cuda_libraries, which installs the package libcudnn9.", "Install the package libcudnn9."),
        ("limits.memory_share is 0.", "--memory-share is 0."),
    ],
)
def test_remedy_with_pip(text: str, replacement: str) -> None:
    def report(remedy: str) -> dict[str, object]:
        return {"checks": [{"name": "a.b", "remedy": remedy, "ratio": 1.0, "covered": [remedy]}], "seconds": 3}

    assert elsewhere.reword(report(text)) == report(replacement)
