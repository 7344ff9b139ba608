# SPDX-License-Identifier: MIT
"""Tailoring: the build of a kernel, what is kept of it, and what the report says. The trees here hold a few files and
build like a kernel's, in a second; tests/stage/test_tailor_full.py builds a real one."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.analysis.figure.model import Figure, Group, Interval, Summary
from rtqual.analysis.model import Evidence
from rtqual.base.errors import BadInput, RunFailed
from rtqual.campaign import folder as kept
from rtqual.campaign.run import Result
from rtqual.candidate.headers import of_built
from rtqual.instrument import NoParameters
from rtqual.instrument.exercise import DISK_B, EXERCISE
from rtqual.kernel import account
from rtqual.kernel.account import Account, Entry, MenuChange
from rtqual.kernel.configure.tree import Tree, open_tree
from rtqual.kernel.make.build import Watch, build, hash_of
from rtqual.mission import Mission, load_mission
from rtqual.record.schema import Timing
from rtqual.report.write import write_report
from rtqual.stage.tailor import tailored
from support.command import mission_text
from support.instrument_outputs import NOTHING, captured_text

CONFIG = "CONFIG_MODULES=y\nCONFIG_PREEMPT_RT=y\n"
MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 3
CC ?= gcc
olddefconfig:
	@true
bzImage:
	@mkdir -p $(O)/arch/x86/boot $(O)/include/config
	@echo '  CC      main.o'
	@$(CC) -Wno-date-time -c main.c -o $(O)/main.o
	@echo '  LD      vmlinux'
	@cp $(O)/main.o $(O)/arch/x86/boot/bzImage
	@echo "built by $(KBUILD_BUILD_USER) at $(KBUILD_BUILD_TIMESTAMP)" >> $(O)/arch/x86/boot/bzImage
	@echo '0000 T __x64_sys_read' > $(O)/System.map
	@echo 6.12.3 > $(O)/include/config/kernel.release
modules:
	@echo 0x00000000 printk vmlinux EXPORT_SYMBOL > $(O)/Module.symvers
modules_prepare:
	@touch $(O)/prepared
modules_install:
	@mkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.12.3
	@touch $(INSTALL_MOD_PATH)/lib/modules/6.12.3/modules.builtin
	@ln -sfn $(O) $(INSTALL_MOD_PATH)/lib/modules/6.12.3/build
"""


def small_tree(folder: Path, source: str = "int main(void) { return 0; }\n") -> Tree:
    (folder / "arch/x86").mkdir(parents=True, exist_ok=True)
    (folder / "arch/x86/Kconfig").write_text("config X86\n\tselect ARCH_SUPPORTS_RT\n")
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "main.c").write_text(source)
    return open_tree(folder)


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


# --- build ----------------------------------------------------------------------------------------------------------


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
from rtqual.kernel.make import build as module
from rtqual.kernel.configure.tree import open_tree

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
    monkeypatch.setattr("rtqual.kernel.make.build._OBJECTS_B", 2**60)
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


# --- what a campaign keeps ------------------------------------------------------------------------------------------

ACCOUNT = Account(
    candidate="tailored", baseline="debian", source="linux-source-6.12", version="6.12.3", release="6.12.3",
    architecture="amd64", start="minimal", compiler="gcc 12", sha256="c0ffee", files_compiled=1000, symbols_on=700,
    modules=("MAC80211_HWSIM",),
    entries=(
        Entry(id="bluetooth", menu="Networking support -> Bluetooth", group="networking", state="gone", text="off: BT"),
        Entry(id="leds", menu="Device drivers -> LED", group="leds", state="kept", text="LEDS is needed",
              held={"LEDS_CLASS": "MAC80211_LEDS selects it"}),
    ),
    changes=(MenuChange(menu="Device Drivers -> USB support", removed=3, added=41),),
    explanations=("USB was off: it depends on USB_SUPPORT; asked for USB_SUPPORT=y",),
)  # fmt: skip


def test_an_account_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "tailor.json"
    assert account.read(path) == ()
    account.write(path, [ACCOUNT])
    assert account.read(path) == (ACCOUNT,)
    account.write(path, [])
    assert not path.exists()


@given(st.one_of(st.binary(max_size=200), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
    lambda value: json.dumps({"kernels": value}).encode()
)))  # fmt: skip
def test_a_damaged_account_is_named(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("account") / "tailor.json"
    path.write_bytes(content)
    try:
        account.read(path)
    except BadInput as error:
        assert str(path) in str(error) and "\n" not in str(error)


def test_a_finished_campaign_keeps_its_accounts(tmp_path: Path) -> None:
    path = tmp_path / "mission.toml"
    path.write_text(mission_text("debian-rt"))
    mission = load_mission(path)
    (tmp_path / "out").mkdir()
    kept.keep(tmp_path / "out", path.read_bytes(), "demo", Result((), {}, {"debian-rt": CONFIG}, (ACCOUNT,)))
    again = kept.load(tmp_path / "out")
    assert again.result.accounts == (ACCOUNT,) and again.mission.sha256 == mission.sha256
    kept.keep(tmp_path / "out", path.read_bytes(), "demo", Result((), {}, {}))
    assert kept.load(tmp_path / "out").result.accounts == ()


# --- the report -----------------------------------------------------------------------------------------------------


def measured(goals: dict[str, str]) -> tuple[Mission, Evidence]:
    plan = {"instruments": ["footprint"], "runs": 1}
    mission = Mission.model_validate(
        {
            "mission": {"name": "docking", "title": "Docking", "purpose": "Docks.", "duration": 10**9},
            "candidate": [
                {"name": "debian", "title": "Debian", "package": "linux-image-rt-amd64"},
                {"name": "tailored", "title": "Tailored", "tailor": {"goals": goals}},
            ],
            "scale": {"tailor": {"plan": [plan]}},
        }
    )
    summaries = []
    for name, factor in (("debian", 4.0), ("tailored", 1.0)):
        sizes = {"image_size": Figure(2_500_000 * factor, "B", 1, 1, None, "1 run"),
                 "ram_used": Figure(20e6 * factor, "B", 1, 1, None, "1 run")}  # fmt: skip
        summaries.append(Summary(Group("footprint", "none", "virtual", 1, name), Timing.UNTESTED, 1, 0, sizes, None))
        latency = {"max": Figure(14_000 * factor, "ns", 3000, 10, Interval(1, 2, "order statistics"))}
        summaries.append(
            Summary(Group("cyclictest", "none", "virtual", 1, name), Timing.UNTESTED, 10, 3000, latency, None)
        )
    return mission, Evidence(tuple(summaries), (), (), scale="tailor")


def test_the_report_says_what_tailoring_gained(tmp_path: Path) -> None:
    mission, evidence = measured({"image_size": "3 MB", "ram_used": "10 %", "boot_to_user_space": "33 %"})
    write_report(tmp_path, mission, evidence, [], {}, ("md",), None, [ACCOUNT])
    text = (tmp_path / "report.md").read_text().replace("\u00a0", " ")
    rows = {line.split("|")[1].strip(" ᵃᵇᶜ"): line for line in text.splitlines() if line.startswith("| ")}
    assert "at most 3 MB: met" in rows["image size"] and " 0.25 |" in rows["image size"]
    assert "at most 10 % of before: missed" in rows["ram used"]
    assert "at most 33 % of before: not measured" in rows["boot to user space"]
    assert "14 µs" in rows["max"] and "not compared" in rows["max"]
    assert "off: BT" in rows["Networking support → Bluetooth"]
    assert "MAC80211_LEDS selects it" in rows["Device drivers → LED"]
    assert "1 gone, 1 kept" in text and " 41 |" in rows["Device Drivers → USB support"]


# --- missions -------------------------------------------------------------------------------------------------------


def test_docking_compares_the_tailored_kernel_with_the_same_version() -> None:
    mission = load_mission(Path(__file__).parents[2] / "missions/docking.toml")
    candidate, *_ = tailored(mission, "tailor")
    assert candidate.tailor and candidate.board == "virtual"
    before = next(c for c in mission.candidates if c.name == mission.baseline(candidate))
    assert before.package == "linux-image-6.12-rt-amd64" and candidate.tailor.source == "linux-source-6.12"
    assert tailored(mission, "demo") == []
    plans = [plan for plan in mission.scale("tailor").plan if candidate in mission.candidates_of(plan)]
    assert {"cyclictest", "footprint"} <= {one for plan in plans for one in plan.instruments}
    for plan in plans:
        assert before in mission.candidates_of(plan) or plan.instruments == ("exercise",)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('package = "linux-image-amd64"\n[candidate.tailor]', "cannot stand beside [candidate.tailor]"),
        ('preempt = "full"\n[candidate.tailor]', "cannot stand beside [candidate.tailor]"),
        ("this-machine = true\n[candidate.tailor]", "cannot stand beside this-machine = true"),
        ('[candidate.tailor]\nbaseline = "other"', "no other candidate with a kernel is 'other'"),
        ('[candidate.tailor]\nforbid = ["CONFIG BT"]', "is not a kernel symbol"),
        ('[candidate.tailor]\narchitecture = "sparc"', "amd64"),
        ('[candidate.tailor]\ngoals.image_size = "small"', "is not a margin"),
    ],
)
def test_a_wrong_tailored_candidate_is_told_by_its_line(tmp_path: Path, written: str, said: str) -> None:
    path = tmp_path / "mission.toml"
    path.write_text(
        '[mission]\nname = "m"\ntitle = "t"\npurpose = "p"\nduration = "1 h"\n'
        f'[[candidate]]\nname = "x"\ntitle = "X"\n{written}\n'
        '[[scale.demo.plan]]\ninstruments = ["footprint"]\nruns = 1\n'
    )
    with pytest.raises(BadInput) as caught:
        load_mission(path)
    assert said in str(caught.value) and "\n" not in str(caught.value)


# --- the exercise ---------------------------------------------------------------------------------------------------

WORKED = captured_text("exercise")


def test_the_exercise_says_how_much_worked() -> None:
    measurement = EXERCISE.read(NoParameters(), replace(NOTHING, stdout=WORKED), cpus=1)
    assert {name: scalar.value for name, scalar in measurement.scalars.items()} == {
        "usb_disk_compared": DISK_B, "usb_camera_frames": 60, "camera_frames": 10, "radios_up": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (replace(NOTHING, stdout=WORKED.replace("radios_up: 2", "radios_up: 1")), "radios_up is 1, at least 2 was due"),
        (replace(NOTHING, stdout=WORKED.replace("camera_frames: 10\n", "")), "says nothing of camera_frames"),
        (replace(NOTHING, exit_code=1, stderr="no camera appeared\n"), "'no camera appeared'"),
    ],
)
def test_what_does_not_work_is_named(changed: object, said: str) -> None:
    with pytest.raises(RunFailed, match=said):
        EXERCISE.read(NoParameters(), changed, cpus=1)  # type: ignore[arg-type]  # of a parameter list
