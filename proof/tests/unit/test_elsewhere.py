"""The words of the one file, which names nothing that only the collection has."""

import ast
import re
from collections.abc import Iterator

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import PROOF
from sparkforge_proof import elsewhere

OF_THE_COLLECTION = re.compile(
    r"playbooks/|[Aa]nsible|\brole\b|verify_[a-z]|stack_[mp]\w+|limits\.[a-z]|sparkforge_gpu\w+|\bthe play\b"
)
#: What a run of the checks does not say: what the roles publish, an endpoint, causes of build logs, check mode, root.
UNSAID = ("publish.py", "endpoint/", "_diagnosis/", "_core/disk.py", "_core/modules.py", "_wheel/requirement.py")
PARTS = ("Run the role {}", "{} would install {}", "verify_paths is empty", "{} playbooks/deploy.yml, which")


def sentences() -> Iterator[str]:
    """Yield each text of the sources, with braces for what is put in; not the docstrings."""
    for path, source in PROOF.sources().items():
        if not path.endswith(".py") or any(part in path for part in UNSAID):
            continue
        passed_over: set[ast.AST] = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Expr):
                passed_over.add(node.value)
            elif isinstance(node, ast.JoinedStr) and node not in passed_over:
                passed_over.update(node.values)
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in passed_over:
                yield node.value


def test_no_sentence_of_the_one_file_names_what_only_the_collection_has() -> None:
    ours = [text for text in sentences() if OF_THE_COLLECTION.search(text) and " " in text.strip()]
    assert len(ours) > 30
    rules = {pattern for pattern, _text in elsewhere._REPLACEMENTS}
    for text in ours:
        if text.startswith(PARTS) or text in rules:
            continue
        said = elsewhere.reword(text)
        assert not OF_THE_COLLECTION.search(said), said
        assert "  " not in said and " ." not in said and not re.search(r"\. [a-z]", said), said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Remove /a/b and run playbooks/deploy.yml, which installs the environment from the locked wheels. If so.",
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
def test_remedy_of_the_collection_has_another_of_pip(text: str, said: str) -> None:
    report = {"checks": [{"name": "a.b", "remedy": text, "ratio": 1.0, "covered": [text]}], "seconds": 3}
    expected = {"checks": [{"name": "a.b", "remedy": said, "ratio": 1.0, "covered": [said]}], "seconds": 3}
    assert elsewhere.reword(report) == expected
