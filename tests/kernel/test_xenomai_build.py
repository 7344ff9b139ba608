# SPDX-License-Identifier: MIT
"""`make xenomai` of source trees: what it asks for, keeps and builds anew; and, where the trees are, the whole."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rtqual.campaign import folder as kept
from rtqual.record.schema import Timing

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "scripts/xenomai-build"
CONFIG = ROOT / "probe/xenomai/kernel.config"
IMAGES = {"x86": "bzImage", "arm64": "Image.gz"}
CROSS = "aarch64-linux-gnu-"
# Each tree, and the file by which it is known.
TREES = {
    "KERNEL": "include/linux/dovetail.h",
    "XENOMAI": "scripts/prepare-kernel.sh",
    "EVL_KERNEL": "include/uapi/evl/control.h",
    "LIBEVL": "include/evl/evl.h",
}
needs_trees = pytest.mark.skipif(
    not all(os.environ.get(f"{name}_TREE") for name in TREES),
    reason="XENOMAI'S KERNELS ARE NOT BUILT: set " + ", ".join(f"{name}_TREE" for name in TREES) + " (docs/xenomai.md)",
)
# In place of make, gcc and what trees bring: each tells its work and leaves what is expected of it.
MAKE = f"""#!/bin/sh
for word; do case $word in O=*) at=${{word#O=}} ;; BUILD=*) at=${{word#BUILD=}} ;; LIBEVL=*) probe=evl ;;
	ARCH=*) arch=${{word#ARCH=}} ;; esac; done
case "$*" in
*allnoconfig*) grep -h =y {CONFIG} "$(dirname {CONFIG})/kernel-$arch.config" > "$at/.config" ;;
*Image*) echo built "$at" >> "$TOLD"; mkdir -p "$at/arch/$arch/boot" "$at/include/config"
	echo image > "$at/arch/$arch/boot/$word"; echo 5.10.0 > "$at/include/config/kernel.release" ;;
*" install") mkdir -p "$(cat prefix)/bin"; echo latency > "$(cat prefix)/bin/latency" ;;
*BUILD=*) mkdir -p "$at"; echo probe > "$at/rtqual-probe-${{probe:-xenomai-static}}" ;;
esac
"""
CONFIGURE = '#!/bin/sh\nfor word; do case $word in --prefix=*) echo "${word#--prefix=}" > prefix ;; esac; done\n'
GCC = (
    '#!/bin/sh\ncase "$*" in *" -o "*) while [ "$1" != -o ]; do shift; done; echo > "$2" ;; *-c*) echo > a.o ;; esac\n'
)
FILES = {
    "KERNEL": {f"arch/{arch}/Kconfig": "\tselect HAVE_STATIC_CALL_INLINE\n\tselect X\n" for arch in IMAGES},
    "XENOMAI": {
        "scripts/prepare-kernel.sh": "#!/bin/sh\n",
        "scripts/bootstrap": "#!/bin/sh\necho made > made\n",
        "configure": CONFIGURE,
    },
    "EVL_KERNEL": {
        **{f"arch/{arch}/Kconfig": "\tselect X\n" for arch in IMAGES},
        **{f"arch/{arch}/include/asm/dovetail.h": "#endif\n" for arch in IMAGES},
        **{f"arch/{arch}/include/uapi/asm/evl/fptest.h": "" for arch in IMAGES},
        "include/uapi/asm-generic/dovetail.h": "",
    },
    "LIBEVL": {
        "lib/syscall.c": "prctl((__nr) | __OOB_SYSCALL_BIT, a, 0)\n",
        "meson.build": " version : '0.47',\n",
        "benchmarks/latmus.c": "",
    },
}

YIELDS = """
[mission]
name = "yields"
title = "Tasks of Cobalt that yield"
purpose = "Interrupts hit yields."
duration = "1 h"
needs = ["realtime"]
[[candidate]]
name = "cobalt"
title = "Cobalt"
built = {{ core = "cobalt", kernel = "{kernel}", programs = "{programs}" }}
[load.hackbench]
pipes = true
[[scale.demo.plan]]
candidates = ["cobalt"]
instruments = ["probe-alchemy-primitives"]
loads = ["hackbench"]
runs = 2
parameters.probe-alchemy-primitives.iterations = 256
"""


def run(into: Path | str, trees: dict[str, str], **more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in (*TREES, "ARCH")} | trees | more
    return subprocess.run([BUILD, into], env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def trees(tmp_path: Path) -> dict[str, str]:
    for name, mark in TREES.items():
        for path, text in {mark: "", **FILES[name]}.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            if text.startswith("#!"):
                file.chmod(0o755)
    return {name: str(tmp_path / name) for name in TREES}


@pytest.fixture
def shims(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "shims"
    folder.mkdir()
    tools = {"gcc": GCC, "ar": "#!/bin/sh\n"}
    tools |= {f"{CROSS}{name}": text for name, text in tools.items()}
    for name, text in {"make": MAKE, "ccache": '#!/bin/sh\nexec "$@"\n', **tools}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "TOLD": str(tmp_path / "told"),
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("missing", TREES)
def test_a_missing_tree_is_named_in_one_line(tmp_path: Path, trees: dict[str, str], missing: str) -> None:
    for given in ({name: path for name, path in trees.items() if name != missing}, trees | {missing: "/nowhere"}):
        done = run(tmp_path / "into", given)
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"make xenomai: {missing}='{given.get(missing, '')}' is no tree of ")
        assert TREES[missing] in line and line.endswith("(docs/xenomai.md)")
    assert not (tmp_path / "into").exists()


def test_a_processor_that_is_not_known_is_refused(tmp_path: Path, trees: dict[str, str]) -> None:
    done = run(tmp_path / "into", trees, ARCH="mips")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "ARCH='mips' is no processor whose kernels are built here: give x86 or arm64" in done.stderr


def test_make_without_trees_says_so_before_anything_else() -> None:
    done = subprocess.run(
        ["make", "-s", "-C", ROOT, "xenomai", *(f"{name}=" for name in TREES)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith("make xenomai: KERNEL='' is no tree of Linux with Dovetail")


def test_a_blank_in_a_name_is_refused(tmp_path: Path, trees: dict[str, str]) -> None:
    place = tmp_path / "a b"
    shutil.move(trees["LIBEVL"], place)
    done = run(tmp_path / "into", trees | {"LIBEVL": str(place)})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "has a blank" in done.stderr


@pytest.mark.parametrize("arch", IMAGES)
def test_trees_are_only_read_and_what_was_built_is_used_again(
    tmp_path: Path, trees: dict[str, str], shims: dict[str, str], arch: str
) -> None:
    shims["ARCH"] = arch
    before = {name: contents(Path(path)) for name, path in trees.items()}
    for _ in range(2):
        done = run(tmp_path / "into", trees, **shims)
        assert (done.returncode, done.stderr) == (0, "")
    into = tmp_path / "into"
    assert {path.name for path in into.iterdir()} == {"cobalt", "evl", "programs"}
    for core in ("cobalt", "evl"):
        assert (into / core / "arch" / arch / "boot" / IMAGES[arch]).read_text() == "image\n"
        assert "CONFIG_DOVETAIL=y" in (into / core / ".config").read_text()
    assert {path.name for path in (into / "programs").iterdir() if path.exists()} == {
        "latency", "latmus", "rtqual-probe-xenomai", "rtqual-probe-evl",
    }  # fmt: skip
    told = Path(shims["TOLD"])
    assert len(told.read_text().splitlines()) == 2  # a kernel of each core, once
    assert {name: contents(Path(path)) for name, path in trees.items()} == before
    assert not list((tmp_path / "cache").rglob("*-at-work"))

    (Path(trees["LIBEVL"]) / "lib/syscall.c").write_text("changed\n")
    assert run(tmp_path / "into", trees, **shims).returncode == 0
    assert [Path(one).parent.name for one in told.read_text().splitlines()][2:] == [f"evl-{arch}-at-work"]


def test_what_links_of_a_tree_lead_to_is_only_read_too_and_built_anew_when_it_changes(
    tmp_path: Path, trees: dict[str, str], shims: dict[str, str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    for name, place in (("KERNEL", "include"), ("EVL_KERNEL", "arch/x86"), ("LIBEVL", "lib")):
        shutil.move(Path(trees[name]) / place, elsewhere / name)
        (Path(trees[name]) / place).symlink_to(elsewhere / name)
    (elsewhere / "KERNEL/config").mkdir()
    (elsewhere / "KERNEL/config/precious").write_text("kept")
    (elsewhere / "made").write_text("kept")
    (Path(trees["XENOMAI"]) / "made").symlink_to(elsewhere / "made")
    before = contents(elsewhere)
    assert run(tmp_path / "into", trees, **shims).returncode == 0
    assert contents(elsewhere) == before
    (elsewhere / "KERNEL/linux/dovetail.h").write_text("changed\n")
    assert run(tmp_path / "into", trees, **shims).returncode == 0
    told = Path(shims["TOLD"]).read_text().splitlines()
    assert [Path(one).parent.name for one in told] == ["cobalt-x86-at-work", "evl-x86-at-work", "cobalt-x86-at-work"]


def test_a_build_that_fails_is_told_and_not_kept(tmp_path: Path, trees: dict[str, str], shims: dict[str, str]) -> None:
    (Path(trees["XENOMAI"]) / "scripts/bootstrap").write_text("#!/bin/sh\necho no autoconf here\nexit 1\n")
    done = run(tmp_path / "into", trees, **shims)
    assert done.returncode == 3
    assert "no autoconf here" in done.stderr and done.stderr.splitlines()[-1].startswith("make xenomai: ")
    assert not (tmp_path / "into").exists() and not list((tmp_path / "cache").rglob("whole"))


def test_a_tree_without_a_needed_symbol_is_refused(
    tmp_path: Path, trees: dict[str, str], shims: dict[str, str]
) -> None:
    make = Path(shims["PATH"].partition(":")[0]) / "make"
    make.write_text(make.read_text().replace('> "$at/.config"', '| grep -v EVL_LATMUS > "$at/.config"'))
    done = run(tmp_path / "into", trees, **shims)
    assert done.returncode == 3
    assert "does not let CONFIG_EVL_LATMUS be set" in done.stderr


def test_evl_without_libevl_ends_with_one_clear_line(tmp_path: Path) -> None:
    done = subprocess.run(
        ["make", "-s", "-C", ROOT / "probe/evl", f"LIBEVL={tmp_path}", f"BUILD={tmp_path}/build"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"no libevl in LIBEVL='{tmp_path}': lib/libevl.a is to be there (docs/xenomai.md)" in line


@pytest.mark.manual
@needs_trees
@pytest.mark.parametrize(("arch", "scale"), [("x86", "demo"), ("arm64", "arm64")])
def test_both_cores_are_built_of_their_trees_and_give_the_same_samples_twice(arch: str, scale: str) -> None:
    trees = [f"{name}={os.environ[f'{name}_TREE']}" for name in TREES]
    subprocess.run(["make", "-C", ROOT, "xenomai", f"ARCH={arch}", *trees], check=True)
    result = kept.load(ROOT / f"out/dual-kernel-{scale}").result
    assert not result.failures
    measured = [one for one in result.records if one.inputs.instrument != "footprint"]
    assert {one.inputs.candidate for one in measured} == {
        name + ("-arm64" if arch == "arm64" else "") for name in ("cobalt", "evl", "debian-rt")
    }
    assert {one.manifest.timing for one in measured} == {Timing.INSTRUCTIONS}


@pytest.mark.manual
@needs_trees
def test_tasks_take_turns_by_yielding_where_interrupts_hit_their_yields(tmp_path: Path) -> None:
    """On Cobalt, and 250 times what the battery has once, since few interrupts fall between a yield's two steps."""
    run(tmp_path / "into", {name: os.environ[f"{name}_TREE"] for name in TREES})
    kernel = (tmp_path / "into/cobalt").resolve()
    for folder in ("probe", "common"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "meson.build", tmp_path)
    rows = tmp_path / "probe/battery/primitives.c"
    switches = "".join(f'\t{{ "switch {number}", primitive_context_switch }},\n' for number in range(250))
    all_but_first = re.compile(r'(?<=\t\{ "empty", primitive_empty \},\n).*(?=\t\{ 0 \},)', re.DOTALL)
    text, count = all_but_first.subn(lambda _: switches, rows.read_text())
    assert count == 1
    rows.write_text(text)
    settings = (f"BUILD={tmp_path}/built", f"XENO_CONFIG={kernel.parent}/installed/bin/xeno-config")
    subprocess.run(["make", "-s", "-C", tmp_path / "probe/xenomai", *settings, "static"], check=True)
    (tmp_path / "programs").mkdir()
    shutil.copy(tmp_path / "built/rtqual-probe-xenomai-static", tmp_path / "programs/rtqual-probe-xenomai")
    (tmp_path / "mission.toml").write_text(YIELDS.format(kernel=kernel, programs=tmp_path / "programs"))
    subprocess.run(
        [Path(sys.executable).with_name("rtqual"), "select", tmp_path / "mission.toml", "--out", tmp_path / "out"],
        check=False,
    )
    result = kept.load(tmp_path / "out").result
    assert not result.failures
    assert {one.manifest.timing for one in result.records} == {Timing.INSTRUCTIONS}
    for one in result.records:
        slept = [series.info.name for series in one.series if int(series.values[-1]) > 1_000_000]
        assert slept  # interrupts did hit, and what Cobalt made of it is among the samples
