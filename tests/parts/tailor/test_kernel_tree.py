# SPDX-License-Identifier: MIT
"""A kernel's source tree: what is none, what cannot be real-time, patches, and make's failures in one line."""

import shutil
from pathlib import Path

import pytest

from rtqual.base.architecture import ARM64, ARMHF
from rtqual.base.errors import BadInput, RunFailed
from rtqual.parts.tailor.configure.tree import open_tree, patched
from support.kernel_trees import write_tree

PATCH = """\
--- a/sched.c
+++ b/sched.c
@@ -1,3 +1,4 @@
 first
-second
+real-time
+third
 last
"""


def test_a_kernels_tree_is_read(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", "")
    assert (tree.version, tree.number, tree.arch, tree.folder) == ("6.12.5", (6, 12), "x86_64", "x86")
    assert tree.cross_compile == ""
    (tree.path / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\nEXTRAVERSION = -52\n")
    assert (open_tree(tree.path).version, open_tree(tree.path).number) == ("6.1-52", (6, 1))


def test_what_is_not_a_kernels_tree_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no kernel source there"):
        open_tree(tmp_path / "nothing")
    (tmp_path / "Makefile").write_text("all:\n")
    with pytest.raises(BadInput, match="its Makefile states no VERSION"):
        open_tree(tmp_path)
    for fields in (
        "PATCHLEVEL = 12\nSUBLEVEL = 5",
        "VERSION = 6\nPATCHLEVEL = 12\nEXTRAVERSION = x",
        "VERSION = ٦\nPATCHLEVEL = 1",
    ):
        (tmp_path / "Makefile").write_text(fields)
        with pytest.raises(BadInput, match="its Makefile states no VERSION"):
            open_tree(tmp_path)
    with pytest.raises(BadInput, match="no kernel is tailored for armhf; it can be for amd64, arm64"):
        open_tree(tmp_path, ARMHF)


def test_a_tree_without_real_time_support(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", "")
    with pytest.raises(BadInput, match="has no arch/arm64/Kconfig"):
        open_tree(tree.path, ARM64)
    (tree.path / "arch/x86/Kconfig").write_text("config X86\n\tdef_bool y\n")
    with pytest.raises(BadInput, match=r"Linux 6\.12\.5 has no real-time support for amd64"):
        open_tree(tree.path)


def test_a_failure_of_make_is_one_line(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", "")
    with pytest.raises(RunFailed, match=r"make broken in .* failed: kernel/sched\.c:3:1: error: expected identifier$"):
        tree.make(tmp_path / "out", "broken")
    assert not (tree.path / "out").exists()


def test_a_compiler_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = write_tree(tmp_path / "tree", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunFailed, match=r"the compiler gcc for amd64 is missing: `apt-get install gcc`"):
        tree.make(tmp_path / "out", "olddefconfig")


def test_the_environment_is_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCFLAGS", "-O0")
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    environment = write_tree(tmp_path / "tree", "").environment({"KBUILD_BUILD_USER": "rtqual"})
    assert set(environment) <= {"PATH", "HOME", "TMPDIR", "LC_ALL", "TZ", "KBUILD_BUILD_USER"}


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_patches_are_applied_to_a_copy(tmp_path: Path, own_cache: Path) -> None:
    tree = write_tree(tmp_path / "tree", "")
    (tree.path / "sched.c").write_text("first\nsecond\nlast\n")
    (tmp_path / "rt.patch").write_text(PATCH)
    made = patched(tree.path, [tmp_path / "rt.patch"])
    assert (made.path / "sched.c").read_text() == "first\nreal-time\nthird\nlast\n"
    assert (tree.path / "sched.c").read_text() == "first\nsecond\nlast\n"
    assert patched(tree.path, [tmp_path / "rt.patch"]).path == made.path
    assert patched(tree.path, []).path == tree.path


def test_a_patch_that_does_not_apply(tmp_path: Path, own_cache: Path) -> None:
    tree = write_tree(tmp_path / "tree", "")
    (tree.path / "sched.c").write_text("another\nkernel\naltogether\n")
    (tmp_path / "rt.patch").write_text(PATCH)
    with pytest.raises(BadInput, match=r"rt\.patch does not apply to Linux 6\.12\.5 in sched\.c: Hunk #1 FAILED"):
        patched(tree.path, [tmp_path / "rt.patch"])
    assert not list(own_cache.glob("rtqual/kernel-trees/patched-*[!k]"))
    shutil.rmtree(tree.path)
    with pytest.raises(BadInput, match="no kernel source there"):
        patched(tree.path, [tmp_path / "rt.patch"])
    (tmp_path / "rt.patch").unlink()
    with pytest.raises(BadInput, match="this patch cannot be read"):
        patched(write_tree(tmp_path / "tree", "").path, [tmp_path / "rt.patch"])
