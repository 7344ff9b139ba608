# SPDX-License-Identifier: MIT
"""The build of a kernel. The trees here build like a kernel's, in a second; test_tailor_full.py builds a
real one."""

import subprocess
import sys
from pathlib import Path

import pytest

from rtqual.base.cache import locked
from rtqual.base.errors import RunFailed
from rtqual.parts.tailor.built_headers import of_built
from rtqual.parts.tailor.make.build import Watch, build, hash_of
from support.small_kernel import CONFIG, small_tree


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/rtqual"


class Steps(Watch):
    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def step(self, done: int, about: int, left_s: float) -> None:
        assert left_s >= 0
        self.seen.append((done, about))


def test_modules_are_built_against_what_the_kernel_exports(tmp_path: Path, cache: Path) -> None:
    tree = small_tree(tmp_path / "tree")
    without = build(tree, CONFIG.replace("CONFIG_MODULES=y\n", ""))
    for _ in range(2):  # and nothing half made is taken for made
        with pytest.raises(RunFailed, match=r"the kernel 6\.12\.3 loads no modules"):
            of_built(tree, without).make(tmp_path)
    made = build(tree, CONFIG)
    command = of_built(tree, made).make(tmp_path)
    (place,) = (Path(word.removeprefix("O=")) for word in command if word.startswith("O="))
    assert (place / "Module.symvers").read_bytes() == made.exported.read_bytes()
    assert (place / "prepared").exists() and (place / ".config").read_text() == made.config
    flown = (made.image, made.folder / "built", made.folder / "boot/config-6.12.3")
    assert made.installed_size_b == sum(path.stat().st_size for path in flown)


def test_what_a_killed_build_left_goes_with_the_next_and_what_is_being_built_stays(tmp_path: Path, cache: Path) -> None:
    kernels = cache / "kernels"
    for name in ("dead.objects", "dead.new", "alive.objects"):
        (kernels / name).mkdir(parents=True)
        (kernels / name / "vmlinux.o").write_text("")
    (kernels / "stranger.objects").symlink_to(tmp_path)
    with locked(kernels / "alive"):
        made = build(small_tree(tmp_path / "tree"), CONFIG)
    left = {path.name for path in kernels.iterdir() if path.suffix != ".lock"}
    assert left == {made.folder.name, "alive.objects", "stranger.objects"}
    assert (tmp_path / "tree").is_dir()


def test_a_kernel_is_built_once_and_laid_out_as_debians(tmp_path: Path, cache: Path) -> None:
    tree, steps = small_tree(tmp_path / "tree"), Steps()
    made = build(tree, CONFIG, watch=steps)
    assert made.folder.parent == cache / "kernels"
    assert (made.release, made.version, made.image.name) == ("6.12.3", "6.12.3", "vmlinuz-6.12.3")
    assert made.config == CONFIG and made.modules is not None
    assert not (made.modules / "build").is_symlink(), "a link to where it was built"
    assert [done for done, _ in steps.seen] == [1, 2] and all(about > done for done, about in steps.seen)
    left_out = (made.system_map, made.exported)
    sizes = [path.stat().st_size for path in made.folder.rglob("*") if path.is_file() and path not in left_out]
    assert made.installed_size_b == sum(sizes) > made.image.stat().st_size
    again = Steps()
    assert build(tree, CONFIG, watch=again) == made and again.seen == []
    assert [path.name for path in made.folder.parent.iterdir() if path.suffix != ".lock"] == [made.folder.name]


def test_equal_inputs_give_equal_files_wherever_they_are_built(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(small_tree(tmp_path / "here"), CONFIG)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("USER", "somebody")
    second = build(small_tree(tmp_path / "there"), CONFIG, ccache=False)
    assert first.folder.name == second.folder.name and first.folder != second.folder
    assert first.sha256 == second.sha256 == hash_of_files(second.folder, tmp_path)
    assert b"built by rtqual at Thu Jan  1 00:00:00 UTC 1970" in second.image.read_bytes()


def hash_of_files(folder: Path, scratch: Path) -> str:
    """The hash of a built kernel without the file that states it."""
    copy = scratch / "copy"
    for path in (path for path in folder.rglob("*") if path.is_file() and path.name != "built"):
        place = copy / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
    return hash_of(copy)


@pytest.mark.parametrize("change", ["source", "config"])
def test_other_inputs_are_another_kernel(tmp_path: Path, cache: Path, change: str) -> None:
    first = build(small_tree(tmp_path / "tree"), CONFIG)
    source = "int main(void) { return 1; }\n" if change == "source" else "int main(void) { return 0; }\n"
    config = CONFIG + "CONFIG_USB=y\n" if change == "config" else CONFIG
    second = build(small_tree(tmp_path / "tree", source), config)
    assert first.folder != second.folder and first.folder.exists() and first.sha256 != second.sha256


def test_a_build_that_breaks_names_its_error_and_leaves_what_was_there(tmp_path: Path, cache: Path) -> None:
    good = build(small_tree(tmp_path / "tree"), CONFIG)
    with pytest.raises(RunFailed, match=r"Linux 6\.12\.3 does not build: .*main\.c:1:.*error:") as caught:
        build(small_tree(tmp_path / "tree", "int main(void) { return 0 }\n"), CONFIG)
    log = Path(str(caught.value).rsplit("all of it: ", 1)[1])
    assert "main.c" in log.read_text() and "\n" not in str(caught.value)
    assert hash_of(good.folder) and good.image.exists()
    left = {path.suffix for path in good.folder.parent.iterdir() if path != good.folder}
    assert left <= {".lock", ".log"}
    assert build(small_tree(tmp_path / "tree"), CONFIG) == good


FULL_DISK = """\
import sys
from pathlib import Path
from rtqual.base.errors import RunFailed
from rtqual.parts.tailor.make import build as module
from rtqual.parts.tailor.configure.tree import open_tree

module._OBJECTS_B = 0  # there is to be room when it starts
tree, config = open_tree(Path(sys.argv[1])), "CONFIG_MODULES=y\\nCONFIG_PREEMPT_RT=y\\n"
good = module.build(tree, config)
makefile = tree.path / "Makefile"
before = makefile.read_text()
makefile.write_text(before.replace("@echo '  LD", "@head -c 64M /dev/zero > $(O)/vmlinux; echo '  LD"))
try:
    module.build(tree, config + "CONFIG_USB=y\\n")
except RunFailed as error:
    print(error)
makefile.write_text(before)
again = module.build(tree, config)
left = sorted(path.suffix for path in good.folder.parent.iterdir() if path != good.folder)
print(again == good, left)
"""


def test_a_disk_that_fills_up_in_the_middle_is_named_and_leaves_what_was_there(tmp_path: Path) -> None:
    """The cache is on a real file system of 4 MiB, which only this process's children see."""
    tree, small = small_tree(tmp_path / "tree"), tmp_path / "cache"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=4m none {small} && XDG_CACHE_HOME={small} exec {sys.executable} - {tree.path}"
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this kernel lets only root mount a small file system: sysctl kernel.unprivileged_userns_clone=1")
    done = subprocess.run([*alone, mount], input=FULL_DISK, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said, rest = done.stdout.splitlines()
    assert "the disk is full: make room or set XDG_CACHE_HOME" in said
    assert rest.startswith("True ") and ".objects" not in rest and ".new" not in rest


def test_too_small_a_disk_is_told_before_anything_is_built(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rtqual.parts.tailor.make.build._OBJECTS_B", 2**60)
    with pytest.raises(RunFailed, match=r"MiB free of the .* MiB that building it takes"):
        build(small_tree(tmp_path / "tree"), CONFIG)


def test_a_missing_compiler_or_program_is_named_with_its_package(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = small_tree(tmp_path / "tree")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunFailed, match="the compiler gcc for amd64 is missing: `apt-get install gcc`"):
        build(tree, CONFIG)
    (tmp_path / "gcc").write_text("#!/bin/sh\n")
    (tmp_path / "gcc").chmod(0o755)
    with pytest.raises(RunFailed, match="make is missing, which a kernel is built with: `apt-get install make`"):
        build(tree, CONFIG)
