# SPDX-License-Identifier: MIT
"""`rtqual lidar`: what is read of a stream, the approach, and the whole stage with its report in real guests."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.folder import Result
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import load_mission
from rtqual.protocols.record.schema import Timing, samples_digest
from rtqual.protocols.record.store import read as read_record
from rtqual_docking import approach
from rtqual_docking.approach import APPROACH, Approach, Sight
from rtqual_docking.stage import lidar
from rtqual_docking.stream_output import cpu_ns, stream_of
from support.camera_faults import assert_costs_through_the_driver, assert_costs_through_uvcvideo
from support.flight_programs import packed
from support.instrument_outputs import captured_text, outcome_of, read, read_text
from support.software_camera import ranges

MISSIONS = Path(__file__).parents[3] / "docking/missions"


def test_every_frame_is_a_sample_and_the_emulators_time_stands_apart() -> None:
    found = read_text("lidar-mmap-simd", captured_text("lidar-mmap-simd"))
    assert [series.info.name for series in found.series] == ["range", "program CPU of a frame"]
    assert [series.total for series in found.series] == [12, 12]
    value = {name: scalar.value for name, scalar in found.scalars.items()}
    parts = value["cpu_program"] + value["cpu_kernel"] + value["cpu_usb"]
    assert value["cpu_per_frame"] == pytest.approx(parts)
    assert 0 < value["cpu_emulator"] < parts
    assert value["frames_checked"] == 12
    assert value["frames_lost"] == 0


def test_the_driver_copies_nothing_and_decodes_in_the_kernel() -> None:
    driver, mmap = (read_text(name, captured_text(name)).scalars for name in ("lidar-driver", "lidar-mmap-simd"))
    assert (driver["raw_copies"].value, mmap["raw_copies"].value) == (0, 1)
    assert driver["cpu_program"].value < 0.2 * mmap["cpu_program"].value


def test_the_drivers_ranges_count_from_where_the_others_do() -> None:
    """The last transfer ends long after the camera handed the frame over, for decoding began before."""
    found = {series.info.name: series for series in read_text("lidar-driver", captured_text("lidar-driver")).series}
    assert [found[name].total for name in ("range", "last transfer to range", "pose")] == [60, 60, 120]
    assert found["range"].values.min() > 10 * found["last transfer to range"].values.max()
    assert found["range"].values.max() < found["pose"].values.min() < 16e6


def test_a_frame_that_ends_before_the_camera_sent_it_is_refused() -> None:
    text = captured_text("lidar-driver")
    lines = text.split("== log\n")[1].split("== beside")[0].splitlines()
    late = text.replace(lines[30], re.sub(r"\d+$", "9" * 18, lines[30]))
    with pytest.raises(RunFailed, match="log does not have the 60 frames that the ring had"):
        read_text("lidar-driver", late)
    with pytest.raises(RunFailed, match="log does not have the 60 frames"):
        read_text("lidar-driver", text.replace("\n".join(lines), ""))


@pytest.mark.parametrize("name", ["lidar-dmabuf", "lidar-driver"])
def test_a_task_beside_the_stream_has_its_wake_ups(name: str) -> None:
    found = read_text(name, captured_text(name))
    task = next(series for series in found.series if series.info.name == "wake-up")
    assert 2_000 < task.total < 2_100  # 120 frames at 60/s, at 1 kHz
    assert 1_000 < task.values.min() < task.values.max() < 100_000
    assert found.problems == ()


def test_a_task_that_was_not_above_the_stream_forbids_a_verdict() -> None:
    text = captured_text("lidar-dmabuf").replace("scheduling priority: 90", "scheduling priority: 20")
    assert any("1 measuring threads seen at fifo 90" in problem for problem in read_text("lidar-dmabuf", text).problems)


def test_a_stream_whose_poses_are_not_reported_is_no_result() -> None:
    text = re.sub(r"^pose_latency_ns=.*\n", "", captured_text("lidar-dmabuf"), flags=re.MULTILINE)
    with pytest.raises(RunFailed, match="told of 0 poses of 120"):
        read_text("lidar-dmabuf", text)


def test_the_baseline_says_how_wrong_its_invented_times_are() -> None:
    scalars = read_text("lidar-baseline", captured_text("lidar-baseline")).scalars
    assert scalars["range_copies"].value == 1
    assert scalars["time_stamp_error"].unit == "ns"


def test_frames_that_are_not_those_sent_forbid_a_verdict() -> None:
    text = captured_text("lidar-mmap-simd").replace("check_good=12\ncheck_wrong=0", "check_good=11\ncheck_wrong=1")
    assert read_text("lidar-mmap-simd", text).problems == ("11 of 12 frames are those that were sent",)


def test_fewer_frames_than_asked_are_no_result() -> None:
    with pytest.raises(RunFailed, match="took 12 of 600 frames: all frames"):
        read("lidar-mmap-simd", outcome_of("lidar-mmap-simd", captured_text("lidar-mmap-simd")), frames=600)


@pytest.mark.parametrize("name", ["frames", "elapsed_ns", "page_faults", "memory_kib", "latency_ns"])
def test_what_is_missing_or_no_number_is_named(name: str) -> None:
    text = captured_text("lidar-mmap-simd").split("== stream\n")[1].split("== before")[0]
    with pytest.raises(RunFailed, match=rf"{name}|12 frames, but 0 latencies"):
        stream_of(re.sub(rf"^{name}=.*\n", "", text, flags=re.MULTILINE), "the stream")
    with pytest.raises(RunFailed, match=name):
        stream_of(re.sub(rf"^{name}=.*$", f"{name}=many", text, flags=re.MULTILINE), "the stream")


def test_run_time_is_given_to_its_owner_and_other_programs_are_left_out() -> None:
    before = "1 100 init\n7 10 kworker/0:0-events\n8 20 vhci_rx\n9 30 ds325-emulator\n12 5 hackbench\n"
    after = "1 900 init\n7 15 kworker/0:0\n8 27 vhci_rx\n9 41 ds325-emulator\n12 9 hackbench\n20 3 ds325-2-1:1.0\n"
    assert cpu_ns(before, after) == {"kernel": 8, "usb": 7, "emulator": 11}


@pytest.mark.parametrize(
    ("name", "holds"),
    [("lidar-faults", assert_costs_through_uvcvideo), ("lidar-faults-driver", assert_costs_through_the_driver)],
)
def test_each_fault_has_its_outcome(name: str, holds: Callable[[Mapping[str, float]], None]) -> None:
    holds({what: scalar.value for what, scalar in read_text(name, captured_text(name)).scalars.items()})


# --- the approach -------------------------------------------------------------------------------------------------


@pytest.mark.guest
def test_two_approaches_are_the_same_and_meet_the_goals() -> None:
    """Range within 2 mm RMS from 0.15 to 1 m; pose within 5 mm and 1 degree for 95 % of the frames inside 0.5 m."""
    flown = approach.fly()
    assert flown == approach.fly()
    near, far = approach.within(flown.sights, 0.15, 0.5), approach.within(flown.sights, 0.15, 1.0)
    assert len(near) > 50
    assert np.sqrt(np.mean([s.range_error_mm**2 for s in far])) <= 2
    assert np.quantile([s.position_error_mm for s in near], 0.95) <= 5
    assert np.quantile([s.rotation_error_deg for s in near], 0.95) <= 1


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_pictures_ranges_are_the_words(seed: int) -> None:
    words = np.random.default_rng(seed).integers(-2046, 2047, (2, 240, 320)).astype(np.int16)
    raw = packed(*words)
    found, valid = approach.ranges_mm(raw).reshape(240, 320), np.hypot(*words.astype(float)) >= 10
    assert np.array_equal(found[~valid], np.zeros((~valid).sum()))
    assert np.abs(found - 1000 * ranges(raw)[0])[valid].max() <= 0.5001


def approach_in(folder: Path) -> Approach | None:
    return kept.before(folder, APPROACH)


@pytest.mark.parametrize("text", ["", "{}", '{"sights": [], "pictured": 0, "picture": [1]}'])
def test_a_damaged_approach_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / APPROACH.file).write_text(text)
    with pytest.raises(BadInput, match=r"approach\.json: damaged"):
        approach_in(tmp_path)


def test_an_approach_is_read_as_it_was_written(tmp_path: Path) -> None:
    flown = Approach(sights=(Sight(distance_m=1.0, status="not found"),), pictured=0, picture=(7,) * 76_800)
    kept.keep(tmp_path, b"", "lidar", Result((), {}, {}, {APPROACH.file: flown}))
    assert approach_in(tmp_path) == flown


def test_a_scale_without_a_camera_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="streams from no camera: name one of lidar-baseline"):
        lidar(Campaign(load_mission(MISSIONS / "docking.toml"), "demo", tmp_path / "out"), Watcher())


def test_a_folder_where_another_works_keeps_its_approach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approach, "fly", lambda: pytest.fail("it flew all the same"))
    campaign = Campaign(load_mission(MISSIONS / "docking.toml"), "lidar-smoke", tmp_path)
    with kept.alone(tmp_path), pytest.raises(RunFailed, match="another rtqual works there"):
        lidar(campaign, Watcher())


# --- the whole stage: about 5 minutes on a quiet machine of two cores ---------------------------------------------


@pytest.mark.full
def test_the_ladder_on_stock_and_real_time_kernels_repeats_to_the_last_sample(tmp_path: Path) -> None:
    selection = lidar(Campaign(load_mission(MISSIONS / "docking.toml"), "lidar-smoke", tmp_path), Watcher())
    assert selection.failures == {}
    records = [read_record(path) for path in (tmp_path / "records").iterdir()]
    assert {record.manifest.timing for record in records} == {Timing.INSTRUCTIONS}
    assert len({record.manifest.hash for record in records}) == len(records) / 2  # each ran twice
    assert all(record.manifest.problems == [] for record in records)
    assert all(samples_digest(record.series, record.manifest.scalars) for record in records)
    text = (tmp_path / "report.md").read_text()
    for said in ("LIDAR", "From frames to ranges: debian-rt", "From frames to ranges: debian, ", "A depth frame"):
        assert said in text
