"""The file of a lock, and the differences between two locks."""

import copy

from ansible_collections.sparkforge.dgx_spark.tools.lock import diff, write

from tests.unit.plugins.plugin_utils.test_stack import LOCK, OTHER, SHA


def test_the_text_of_a_lock_does_not_depend_on_the_order_of_its_pins() -> None:
    lock = copy.deepcopy(LOCK)
    lock["wheels"]["cp312-linux-aarch64"].reverse()
    other = dict(reversed(list(LOCK.items())))
    assert write.lock_text(lock) == write.lock_text(other)
    assert write.same_pins(lock, {**other, "resolved": "2027-01-01"})
    assert not write.same_pins(None, lock)
    assert not write.same_pins(lock, {**other, "wheels": {}})


def test_each_changed_pin_is_one_sentence() -> None:
    new = copy.deepcopy(LOCK)
    new["wheels"]["cp312-linux-aarch64"] = [
        f"torch==2.13.0 --hash=sha256:{OTHER}",
        f"filelock==4.3.0 --hash=sha256:{OTHER}",
    ]
    pinned = {"source": "pytorch", "commit": "c" * 40, "file": "pins/triton.txt"}
    new["sources"] = {
        "pytorch": {"url": "https://x", "ref": "v2", "commit": "c" * 40},
        "triton": {"url": "https://x", "ref": None, "commit": "d" * 40, "pinned_by": pinned},
        "tool": {"archive": "https://user:secret@example.com/tool.tar.gz", "sha256": SHA},
    }
    new["build_requirements"] = {"cp312-linux-aarch64": {"triton": [f"cmake==3.31.10 --hash=sha256:{SHA}"]}}
    assert diff.moved(LOCK, new) == [
        "build_requirements cp312-linux-aarch64 triton cmake: none -> 3.31.10",
        f"sources pytorch: none -> {'c' * 40}",
        "sources tool: none -> https://example.com/tool.tar.gz",
        f"sources triton: none -> {'d' * 40} (pins/triton.txt of pytorch cccccccccccc)",
        "wheels cp312-linux-aarch64 filelock: 4.2.11 -> 4.3.0",
        f"wheels cp312-linux-aarch64 torch 2.13.0: sha256 {SHA} -> {OTHER}",
    ]
    assert diff.moved(LOCK, LOCK) == []
