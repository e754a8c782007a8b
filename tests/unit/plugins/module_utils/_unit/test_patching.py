import json
import os
import shutil
import stat
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import patching

from tests.unit.git_server import git

KERNEL = "".join(f"line {number}\n" for number in range(1, 41))


class Sources:
    """A source tree, a copy from which patches are made, and the progress messages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = path / "source"
        self.copy = path / "copy"
        self.messages: list[str] = []

    def write(self, path: str, content: str | bytes, mode: int = 0o644) -> None:
        file = self.tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        file.chmod(mode)

    def diff(self, change: t.Callable[[Path], None], *options: str) -> str:
        """Return a change to the tree as a ``git diff`` patch."""
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.tree, self.copy, symlinks=True)
        git("init", "--quiet", cwd=self.copy)
        git("add", "--all", cwd=self.copy)
        git("commit", "--quiet", "--allow-empty", "--message=before", cwd=self.copy)
        change(self.copy)
        git("add", "--all", cwd=self.copy)
        patch = git("diff", "--cached", "--binary", "--full-index", *options, cwd=self.copy) + "\n"
        shutil.rmtree(self.copy)
        return patch

    def apply(self, *patches: str, edits: t.Sequence[dict[str, t.Any]] = ()) -> list[dict[str, t.Any]]:
        patch_list = [{"name": f"patch{number}", "content": content} for number, content in enumerate(patches, 1)]
        return patching.apply(str(self.tree), patch_list, edits, self.messages.append)

    def state(self) -> dict[str, tuple[bytes, int]]:
        state = {}
        for path in sorted(self.tree.rglob("*")):
            mode = path.lstat().st_mode
            content = os.readlink(path).encode() if path.is_symlink() else b"" if path.is_dir() else path.read_bytes()
            state[str(path.relative_to(self.tree))] = (content, mode)
        return state

    def apply_error(self, *patches: str, edits: t.Sequence[dict[str, t.Any]] = ()) -> SparkforgeError:
        before = self.state()
        with pytest.raises(SparkforgeError) as failure:
            self.apply(*patches, edits=edits)
        if len(patches) + bool(edits) == 1:
            assert self.state() == before, "a failure changes nothing"
        assert sorted(os.listdir(self.path)) in (["source"], ["outside", "source"]), "temporary files are removed"
        json.dumps(failure.value.as_result()).encode("ascii")
        str(failure.value).encode()
        return failure.value


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    sources = Sources(tmp_path)
    sources.write("src/kernel.cu", KERNEL)
    sources.write("setup.py", "from setuptools import setup\nsetup()\n")
    return sources


def replace(path: str, old: str, new: str) -> t.Callable[[Path], None]:
    def change(tree: Path) -> None:
        text = (tree / path).read_text()
        assert old in text
        (tree / path).write_text(text.replace(old, new))

    return change


# --- patches ---


def test_patch_of_diff_without_final_newline(sources: Sources) -> None:
    head = "--- a/setup.py\t2026-01-01\n+++ b/setup.py\t2026-01-02\n@@ -1,2 +1,3 @@\n"
    sources.apply(f"{head}+import os\n from setuptools import setup\n setup()")
    assert (sources.tree / "setup.py").read_text() == "import os\nfrom setuptools import setup\nsetup()\n"


def test_patch_with_stripped_empty_context_line(sources: Sources) -> None:
    sources.write("a.c", "int a;\n\nint b;\n")
    sources.apply(sources.diff(replace("a.c", "int a;", "int c;"), "--unified=1").rstrip())
    assert (sources.tree / "a.c").read_text() == "int c;\n\nint b;\n"


def test_patches_and_edits_build_on_each_other(sources: Sources) -> None:
    first = sources.diff(replace("src/kernel.cu", "line 20\n", "line A\n"))
    second = first.replace("-line 20\n+line A", "-line A\n+line B")
    edits = [
        {"path": "src/kernel.cu", "match": "line B", "replace": "line C"},
        {"path": "src/kernel.cu", "match": "line C", "replace": "line D", "name": "last"},
    ]
    steps = [step.get("patch") or step["edit"] for step in sources.apply(first, second, edits=edits)]
    assert steps == ["patch1", "patch2", "src/kernel.cu", "last"]
    assert "line 19\nline D\nline 21" in (sources.tree / "src/kernel.cu").read_text()


def test_patch_creates_deletes_renames_and_changes_modes(sources: Sources, umask: t.Callable[[int], int]) -> None:
    sources.write("old/only.txt", "gone\n")
    sources.write("tool.sh", "#!/bin/sh\n", 0o640)
    sources.write("name.txt", "".join(f"text {number}\n" for number in range(20)), 0o600)
    (sources.tree / "link").symlink_to("setup.py")

    def change(tree: Path) -> None:
        (tree / "new/deep").mkdir(parents=True)
        (tree / "new/deep/file.h").write_text("#pragma once\n")
        (tree / "new/run").write_text("#!/bin/sh\n")
        (tree / "new/run").chmod(0o755)
        (tree / "new/link").symlink_to("../setup.py")
        (tree / "old/only.txt").unlink()
        (tree / "tool.sh").chmod(0o755)
        (tree / "name.txt").rename(tree / "other name.txt")
        (tree / "link").unlink()
        (tree / "link").symlink_to("tool.sh")

    umask(0o077)
    steps = sources.apply(sources.diff(change, "--find-renames"))
    files = {"new/deep/file.h", "new/run", "new/link", "old/only.txt", "tool.sh", "other name.txt", "link"}
    assert {step["file"] for step in steps} == files
    state = {path: (content, stat.S_IMODE(mode)) for path, (content, mode) in sources.state().items()}
    assert "old" not in state, "the patch emptied this directory"
    assert state["new"][1] == state["new/deep"][1] == 0o755
    assert state["new/deep/file.h"] == (b"#pragma once\n", 0o644)
    assert state["new/run"][1] == 0o755
    assert state["new/link"][0] == b"../setup.py"
    assert state["tool.sh"][1] == 0o755
    assert state["other name.txt"][0].startswith(b"text 0\n")
    assert "name.txt" not in state
    assert state["link"][0] == b"tool.sh"


def test_failing_patch_names_hunk_and_shows_context(sources: Sources) -> None:
    patch = sources.diff(replace("src/kernel.cu", "line 30\n", "line thirty\n"))
    sources.write("src/kernel.cu", KERNEL.replace("line 31\n", "line XXXI\n"))
    error = sources.apply_error(patch)
    assert "patch patch1 does not" in error.cause and "hunk at line 27 of src/kernel.cu" in error.cause
    assert "\n".join(f"line {number}" for number in range(27, 34)) in error.details["output"]


def test_patch_already_applied(sources: Sources) -> None:
    patch = sources.diff(replace("src/kernel.cu", "line 20\n", "line twenty\n"))
    sources.apply(patch)
    error = sources.apply_error(patch)
    assert "patch patch1 does not" in error.cause and "already has" in error.cause
    assert "Remove the patch" in error.remedy


def test_patch_for_missing_file(sources: Sources) -> None:
    patch = sources.diff(replace("setup.py", "setup()", "setup(x=1)"))
    (sources.tree / "setup.py").unlink()
    error = sources.apply_error(patch)
    assert "patch patch1 does not" in error.cause and ": setup.py: No such file" in error.cause
    assert "-p1" in error.remedy


@pytest.mark.parametrize("text", ["", "not a diff\n", "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n-one\n+two\n"])
def test_invalid_patch(sources: Sources, text: t.Any) -> None:
    assert "patch1 is not a" in sources.apply_error(text).cause


@pytest.mark.parametrize("path", ["../outside", "src/../../outside", "/etc/outside", ".git/config", "src/.GIT/hooks/x"])
def test_patch_outside_the_tree_is_refused(sources: Sources, path: t.Any) -> None:
    new = f"--- /dev/null\n+++ b/{path}\n"
    for head in (new, f"diff --git a/{path} b/{path}\nnew file mode 100644\n{new}"):
        assert f"invalid path '{path}'" in sources.apply_error(f"{head}@@ -0,0 +1 @@\n+x\n").cause
    assert not (sources.path / "outside").exists()


def test_patch_and_edit_do_not_follow_symlink_outside(sources: Sources) -> None:
    (sources.path / "source/out").symlink_to("/tmp")
    new = "--- /dev/null\n+++ b/{}\n@@ -0,0 +1 @@\n+x\n"
    assert "beyond a symbolic link" in sources.apply_error(new.format("out/sparkforge-x")).cause
    (sources.path / "outside").write_text("x\n")
    error = sources.apply_error(edits=[{"path": "out/x", "match": "x", "replace": ""}])
    assert "outside the source: /tmp/x" in error.cause
    link = "diff --git a/{0} b/{0}\nnew file mode 120000\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+{1}\n"
    link += "\\ No newline at end of file\n"
    for name, target in (("a", ".."), ("b", "/etc"), ("c", "src")):
        error = sources.apply_error(link.format(name, target), new.format(f"{name}/x"))
        assert "beyond a symbolic link" in error.cause
    change = "diff --git a/a/outside b/a/outside\n--- a/a/outside\n+++ b/a/outside\n@@ -1 +1 @@\n-x\n+y\n"
    assert "beyond a symbolic link" in sources.apply_error(change).cause
    error = sources.apply_error(edits=[{"path": "a/outside", "match": "x", "replace": "y"}])
    assert f"outside the source: {sources.path}/outside" in error.cause
    assert (sources.path / "outside").read_text() == "x\n"


def test_edit_follows_symlink_inside_the_source(sources: Sources) -> None:
    (sources.path / "source/inner").symlink_to("src")
    (sources.path / "source/file.cu").symlink_to("src/kernel.cu")
    steps = sources.apply(
        edits=[
            {"path": "inner/kernel.cu", "match": "line 20\n", "replace": "line A\n"},
            {"path": "file.cu", "match": "line A\n", "replace": "line B\n"},
        ]
    )
    assert [step["file"] for step in steps] == ["src/kernel.cu", "src/kernel.cu"]
    assert (sources.tree / "file.cu").is_symlink()
    assert "line B\n" in (sources.tree / "src/kernel.cu").read_text()


def test_first_failing_patch_or_edit_is_named(sources: Sources) -> None:
    good = sources.diff(replace("src/kernel.cu", "line 20\n", "line twenty\n"))
    bad = sources.diff(replace("setup.py", "setup()", "setup(x=1)")).replace("-setup()", "-setup(y)")
    edit = {"path": "setup.py", "match": "setup()", "replace": "setup(z=1)"}
    error = sources.apply_error(good, bad, edits=[edit])
    assert "patch patch2 does not" in error.cause and "line 1 of setup.py" in error.cause
    assert "setup(y)" in error.details["output"]
    assert "z=1" not in (sources.tree / "setup.py").read_text()
    assert "finds none" in sources.apply_error(edits=[edit, {**edit, "match": "none"}]).cause


def test_outer_repository_and_user_settings_are_ignored(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    patch = sources.diff(replace("src/kernel.cu", "line 20\n", "line twenty\n"))
    git("init", "--quiet", cwd=sources.path)
    (sources.path / "setup.py").write_text("from setuptools import setup\nsetup()\n")
    (sources.path / ".gitattributes").write_text("* text eol=crlf\n")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "x")
    sources.apply(patch)
    assert b"line twenty\n" in (sources.tree / "src/kernel.cu").read_bytes()
    assert b"\r" not in (sources.tree / "src/kernel.cu").read_bytes()


def test_patch_in_a_git_checkout(sources: Sources) -> None:
    patch = sources.diff(replace("src/kernel.cu", "line 20\n", "line twenty\n"))
    git("init", "--quiet", cwd=sources.tree)
    git("init", "--quiet", cwd=sources.tree / "src")
    sources.write(".gitattributes", "* text eol=crlf\n")
    sources.apply(patch)
    assert b"\r" not in (sources.tree / "src/kernel.cu").read_bytes()
    assert "line twenty" in (sources.tree / "src/kernel.cu").read_text()


# --- edits ---


def test_edit_replaces_exact_text_and_keeps_the_mode(sources: Sources) -> None:
    sources.write("tool", b"a.b\r\n\xff a.b axb\r\n", 0o4711)
    steps = sources.apply(edits=[{"path": "./tool", "match": "a.b", "replace": r"\1", "count": 2}])
    assert steps == [{"edit": "./tool", "file": "tool", "matches": 2}]
    assert (sources.tree / "tool").read_bytes() == b"\\1\r\n\xff \\1 axb\r\n"
    assert stat.S_IMODE((sources.tree / "tool").stat().st_mode) == 0o4711
    assert sources.messages == ["edit ./tool: tool (2 replaced)"]


@pytest.mark.parametrize(
    ("edit", "cause"),
    [
        ({"match": "line 1", "count": 1}, "src/kernel.cu but finds 11, in line 1, 10, 11, 12,"),
        ({"match": "line 20\n", "count": 2}, "2 matches in src/kernel.cu but finds 1, in line 20."),
        ({"match": "nowhere"}, "'nowhere' in src/kernel.cu but finds none."),
        ({"match": "line 7\n  line 8\n"}, "is in line 7"),
        ({"match": ""}, "has no match"),
        ({"match": "line 20", "replace": None}, "has no replace"),
        ({"match": "line 20", "count": 0}, "requires 0 matches"),
        ({"match": "x", "path": "none.c"}, "none.c, which"),
        ({"match": "x", "path": "src"}, "src, which"),
        ({"match": "x", "path": "../outside"}, "outside the source"),
        ({"match": "x", "path": "/etc/passwd"}, "outside the source"),
        ({"match": "x", "path": "."}, "outside the source"),
        ({"match": "x", "path": ".git/config"}, "belongs to git"),
        ({"match": "x", "path": "src/.GIT/hooks/x"}, "belongs to git"),
        ({"match": "x", "path": "src/\0"}, "has no path"),
    ],
)
def test_invalid_or_unmatched_edit(sources: Sources, edit: t.Any, cause: t.Any) -> None:
    error = sources.apply_error(edits=[{"path": "src/kernel.cu", "replace": "", "name": "mine", **edit}])
    assert error.cause.startswith("The edit mine ")
    assert cause in error.cause


def test_windows_line_endings_are_named(sources: Sources) -> None:
    sources.write("dos.txt", "one\r\ntwo\r\n")
    error = sources.apply_error(edits=[{"path": "dos.txt", "match": "one\ntwo\n", "replace": ""}])
    assert "Windows line endings" in error.cause


# --- the fingerprint ---


def test_contents_digest_names_patches_and_edits() -> None:
    patches = [{"name": "guard", "content": "diff\n"}, {"name": "arch", "content": "other\n"}]
    edit = {"path": "setup.py", "match": "a", "replace": "b"}
    digest = patching.contents_digest(patches, [edit, {**edit, "match": "c"}])
    assert list(digest) == ["patch guard", "patch arch", "edit setup.py", "edit setup.py (2)", "order"]
    assert digest["order"] == "patch guard, patch arch, edit setup.py, edit setup.py (2)"
    assert all(len(digest[name]) == 64 for name in list(digest)[:-1])
    assert patching.contents_digest(patches[::-1], [])["order"] == "patch arch, patch guard"
    assert patching.contents_digest([], []) == {}
    default, once, twice = (patching.contents_digest([], [{**edit, **n}]) for n in ({}, {"count": 1}, {"count": 2}))
    assert default == once != twice
