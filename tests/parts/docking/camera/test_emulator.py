# SPDX-License-Identifier: MIT
"""The emulator's frames against the contract of docs/docking/emulator.md, computed a second time here."""

import os
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from support.software_camera import FRAME_BYTES, Floats, Truth, directions, ranges, words

RAYS = directions()


@dataclass(frozen=True)
class Written:
    """What `--write` left."""

    frames: bytes
    truth: Truth
    ranges: Floats  # (n, 240, 320), 0 where nothing is hit

    def seen(self, modulation_hz: float = 50e6) -> Floats:
        return ranges(self.frames, modulation_hz)


Write = Callable[..., Written]


@pytest.fixture(scope="module")
def write(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Write:
    def run(*arguments: str, program: str = "ds325-emulator") -> Written:
        path = tmp_path_factory.mktemp("frames") / "frames"
        subprocess.run([programs / program, "--write", path, "--truth-range", *arguments], check=True)
        truth = np.fromfile(path.with_suffix(".range"), dtype="<f4").reshape(-1, 240, 320).astype(float)
        return Written(path.read_bytes(), Truth.read(path.with_suffix(".truth")), truth)

    return run


def at(z: float, *rest: float) -> tuple[str, str]:
    """A target that stands still; roll, pitch, yaw in degrees after z."""
    return "--at", " ".join(map(str, (0, 0, 0, z, *(rest or (0, 0, 0)))))


WALL = ("--wall", "1", "--wall-albedo", "0.5", *at(900))


@pytest.mark.guest
def test_frames_are_the_same_bytes_every_time_and_the_seed_changes_them(write: Write) -> None:
    one, two, other = (write("--frames", "2", "--seed", seed) for seed in ("5", "5", "6"))
    assert one.frames == two.frames
    assert one.frames != other.frames
    assert len(one.frames) == 2 * FRAME_BYTES
    assert one.truth.crcs == [zlib.crc32(one.frames[n * FRAME_BYTES :][:FRAME_BYTES]) for n in range(2)]


def test_a_frame_does_not_depend_on_how_many_are_made(write: Write) -> None:
    assert write("--frames", "3").frames.startswith(write("--frames", "1").frames)


def test_the_checked_build_makes_the_same_scene(write: Write) -> None:
    """Another C library rounds its sines elsewhere, so a word may differ by one count here and there."""
    one, two = (
        np.stack(words(write("--frames", "1", program=p).frames)) for p in ("ds325-emulator", "ds325-emulator-asan")
    )
    assert np.abs(one.astype(int) - two).max() <= 1
    assert np.mean(one != two) < 1e-3


def test_true_ranges_are_those_of_the_plane_before_the_camera(write: Write) -> None:
    wall = write("--frames", "1", *WALL)
    assert np.allclose(wall.ranges[0], 1 / RAYS[:, :, 2], atol=1e-6)


def test_the_docking_face_is_where_the_truth_says(write: Write) -> None:
    """Every range on the face, turned into a point, lies on the pose's plane; the parts have their sizes."""
    turned = write("--frames", "1", "--at", "0 0.03 -0.02 0.5 20 10 -15")
    _, _, px, py, pz, qw, qx, qy, qz, _ = turned.truth.rows[0]
    x_axis, y_axis, z_axis = _matrix(qw, qx, qy, qz).T
    points = RAYS * turned.ranges[0][:, :, None] - (px, py, pz)
    x, y, z = points @ x_axis, points @ y_axis, points @ z_axis
    hit = turned.ranges[0] > 0
    outside = hit & (np.hypot(x, y) > 0.046)
    assert np.mean(np.abs(z[outside]) < 1e-6) > 0.9
    assert z[hit].min() == pytest.approx(-0.020, abs=1e-6)  # the port's rim
    rim = hit & (np.abs(z + 0.020) < 1e-6)
    assert 0.035 <= np.hypot(x, y)[rim].min() < 0.037
    assert 0.043 < np.hypot(x, y)[rim].max() <= 0.045
    keys = hit & (np.abs(z + 0.015) < 1e-6) & (np.hypot(x, y) > 0.046)
    first, second = keys & (x > 0), keys & (x < 0)
    for key, (left, right, top, bottom) in (
        (first, (0.060, 0.084, -0.047, -0.023)),
        (second, (-0.095, -0.055, 0.022, 0.038)),
    ):
        assert x[key].min() == pytest.approx(left, abs=0.003)
        assert x[key].max() == pytest.approx(right, abs=0.003)
        assert y[key].min() == pytest.approx(top, abs=0.003)
        assert y[key].max() == pytest.approx(bottom, abs=0.003)
    face = outside & (np.abs(z) < 1e-6)
    assert (x[face].min(), x[face].max()) == pytest.approx((-0.150, 0.150), abs=0.003)
    assert (y[face].min(), y[face].max()) == pytest.approx((-0.170, 0.170), abs=0.003)


def _matrix(w: float, x: float, y: float, z: float) -> Floats:
    """Of a unit quaternion, by turning the axes: v + 2 w (u x v) + 2 u x (u x v)."""
    u = np.array([x, y, z])
    return np.stack([v + 2 * w * np.cross(u, v) + 2 * np.cross(u, np.cross(u, v)) for v in np.eye(3)], axis=1)


def test_angles_turn_roll_then_pitch_then_yaw(write: Write) -> None:
    def turn(axis: int, degrees: float) -> Floats:
        half = np.radians(degrees) / 2
        return _matrix(np.cos(half), *(np.sin(half) * np.eye(3)[axis]))

    row = write("--frames", "1", *at(0.5, 30, 20, 10)).truth.rows[0]
    assert np.allclose(_matrix(*row[5:9]), turn(1, 10) @ turn(0, 20) @ turn(2, 30), atol=1e-9)


def test_the_target_moves_straight_and_turns_evenly_between_waypoints(write: Write) -> None:
    rows = write("--frames", "5", "--step", "1", "--at", "0 0 0 1 0 0 0", "--at", "4 0.4 -0.2 0.6 60 0 0").truth.rows
    assert np.allclose(rows[:, 1], np.arange(5))
    assert np.allclose(rows[:, 2:5], np.linspace([0, 0, 1], [0.4, -0.2, 0.6], 5))
    assert np.allclose(2 * np.degrees(np.arcsin(rows[:, 8])), np.linspace(0, 60, 5))


def test_without_noise_words_are_amplitude_and_phase(write: Write) -> None:
    wall = write("--frames", "1", "--noise-mm", "0", *WALL)
    r = wall.ranges[0]
    amplitude = 64 * 0.5 * RAYS[:, :, 2] / r**2
    phase = 4 * np.pi * 50e6 * r / 299_792_458
    i, q = words(wall.frames)
    assert np.array_equal(i[0], np.floor(amplitude * np.cos(phase) + 0.5))
    assert np.array_equal(q[0], np.floor(amplitude * np.sin(phase) + 0.5))


def test_noise_at_a_metre_is_that_of_the_data_sheet_and_grows_with_range(write: Write) -> None:
    """From albedo 0.5, straight on. Shot noise makes sigma grow about as R, read noise as R^2."""

    def sigma_mm(z: float) -> float:
        wall = write("--frames", "12", "--wall", str(z), "--wall-albedo", "0.5", *at(900))
        middle = np.s_[:, 110:130, 150:170]
        return float(np.std((wall.seen() - wall.ranges)[middle]) * 1000)

    assert sigma_mm(1.0) == pytest.approx(14, rel=0.04)  # 4,800 samples: the standard error is 1.0 %
    assert 0.40 < sigma_mm(0.5) / 14 < 0.52
    assert np.abs(np.diff([sigma_mm(0.3), 14 * 0.26])) < 1


def test_sun_adds_noise_and_saturates_what_is_bright(write: Write) -> None:
    def noise(sun: str) -> float:
        wall = write("--frames", "4", *WALL, "--sun", sun)
        return float(np.std((wall.seen() - wall.ranges)[:, 110:130, 150:170]))

    assert noise("300") > 2 * noise("0")
    assert np.abs(np.stack(words(write("--frames", "1", *WALL, "--sun", "4090").frames))).min() == 2047


def test_near_and_bright_saturates_and_far_wraps(write: Write) -> None:
    near = np.stack(words(write("--frames", "1", *at(0.11)).frames)).astype(int)
    assert np.abs(near).max() == 2047
    far = write("--frames", "1", "--noise-mm", "0", "--amplitude", "2000", "--wall", "3.5", *at(900))
    assert np.allclose(far.seen()[0, 118:122, 158:162], 3.5 - 2.99792458, atol=0.01)
    other = write(
        "--frames", "1", "--noise-mm", "0", "--amplitude", "2000", "--wall", "3.5", "--frequency", "2e7", *at(900)
    )
    assert np.allclose(other.seen(2e7)[0, 118:122, 158:162], 3.5, atol=0.01)


def test_offset_and_temperature_shift_what_is_read_but_not_the_truth(write: Write) -> None:
    drift = ("--drift-mm-per-k", "0.5", "--temperature", "45", "--warm-up-k", "10", "--warm-up-s", "1", "--step", "1")
    wall = write("--frames", "3", "--noise-mm", "0", "--amplitude", "2000", "--offset-mm", "-7", *drift, *WALL)
    warm = 45 + 10 * (1 - np.exp(-np.arange(3)))
    assert np.allclose(wall.truth.rows[:, 9], warm, atol=1e-6)
    shift_mm = 1000 * np.mean(wall.seen() - wall.ranges, axis=(1, 2))
    assert np.allclose(shift_mm, -7 + 0.5 * (warm - 25), atol=0.02)


def test_edges_give_flying_pixels_between_target_and_wall(write: Write) -> None:
    scene = write("--frames", "1", "--noise-mm", "0", "--wall", "1.2", *at(0.5))
    z = scene.seen()[0] * RAYS[:, :, 2]
    between = (z > 0.55) & (z < 1.1)
    assert 20 < between.sum() < 2000
    true_z = scene.ranges[0] * RAYS[:, :, 2]
    steps = np.abs(np.diff(true_z, axis=1)) > 0.3
    near_step = np.zeros_like(between)
    near_step[:, 1:] |= steps
    near_step[:, :-1] |= steps
    steps = np.abs(np.diff(true_z, axis=0)) > 0.3
    near_step[1:] |= steps
    near_step[:-1] |= steps
    assert not np.any(between & ~near_step)


def test_distortion_bends_the_rays_as_defined(write: Write) -> None:
    wall = write("--frames", "1", "--k1", "-0.2", "--k2", "0.05", *WALL)
    z = 1 / wall.ranges[0]  # cosine of the ray: the wall is at 1 m
    r = np.sqrt(1 / z**2 - 1)
    seen = r * (1 - 0.2 * r**2 + 0.05 * r**4)
    straight = np.sqrt(1 / RAYS[:, :, 2] ** 2 - 1)
    outer = straight > 0.1  # nearer to the axis, single precision says little of the cosine
    assert np.allclose(seen[outer], straight[outer], atol=1e-5)


def test_z16_is_the_depth_of_what_i_and_q_say(write: Write, programs: Path, tmp_path: Path) -> None:
    iq = write("--frames", "1", *at(0.12))
    path = tmp_path / "z"
    subprocess.run(
        [programs / "ds325-emulator", "--write", path, "--format", "z16", "--frames", "1", *at(0.12)], check=True
    )
    z16 = np.fromfile(path, dtype="<u2").reshape(240, 320)
    i, q = (w[0].astype(int) for w in words(iq.frames))
    saturated = (np.abs(i) >= 2047) | (np.abs(q) >= 2047)
    weak = (i**2 + q**2 < 100) & ~saturated
    depth = np.floor(1000 * iq.seen()[0] * RAYS[:, :, 2] + 0.5)
    assert np.all(z16[saturated] == 32002)
    assert saturated.sum() > 50
    assert np.all(z16[weak] == 0)
    rest = ~saturated & ~weak
    assert np.abs(z16[rest] - depth[rest]).max() <= 1
    assert np.mean(z16[rest] == depth[rest]) > 0.999


def test_a_scene_file_says_what_options_say(write: Write, tmp_path: Path) -> None:
    scene = tmp_path / "scene"
    scene.write_text("# near\nframes 2\nat 0 0 0 0.5 0 0 0\nat = 1 0 0 0.4 5 0 0\nseed 9\nwall 2\n")
    options = ("--frames", "2", "--at", "0 0 0 0.5 0 0 0", "--at", "1 0 0 0.4 5 0 0", "--seed", "9", "--wall", "2")
    assert write("--scene", str(scene)).frames == write(*options).frames


BAD = {
    "nothing to do": [],
    "two things to do": ["--attach", "--write", "x"],
    "unknown option": ["--write", "x", "--colour", "red"],
    "no value": ["--write", "x", "--frames"],
    "no dashes": ["frames"],
    "no number": ["--write", "x", "--noise-mm", "much"],
    "not finite": ["--write", "x", "--noise-mm", "nan"],
    "out of range": ["--write", "x", "--frames", "0"],
    "too large": ["--write", "x", "--seed", "99999999999999999999999"],
    "few numbers": ["--write", "x", "--at", "0 0 0 1"],
    "many numbers": ["--write", "x", "--at", "0 0 0 1 0 0 0 0"],
    "wrong order": ["--write", "x", "--at", "1 0 0 1 0 0 0", "--at", "1 0 0 1 0 0 0"],
    "no fault": ["--attach", "--fault", "explode@3"],
    "fault without frame": ["--attach", "--fault", "drop"],
    "fault with rest": ["--attach", "--fault", "drop@3:4x"],
    "no descriptors": ["--attach", "--descriptors", "odd"],
    "no scene": ["--write", "x", "--scene", "/nowhere"],
    "a scene without end": ["--write", "x", "--scene", "/dev/zero"],
    "a folder as scene": ["--write", "x", "--scene", "/"],
    "a pipe as scene": ["--write", "x", "--scene", "pipe"],
    "a huge scene": ["--write", "x", "--scene", "huge"],
    "a pipe as recording": ["--listen", "0", "--replay", "pipe"],
    "a device as recording": ["--listen", "0", "--replay", "/dev/zero"],
    "a device for commands": ["--listen", "0", "--frames", "1", "--control", "/dev/zero"],
    "a file for commands": ["--listen", "0", "--frames", "1", "--control", "huge"],
    "a folder for commands": ["--listen", "0", "--frames", "1", "--control", "/"],
    "no recording": ["--attach", "--replay", "/nowhere"],
    "a folder as recording": ["--attach", "--replay", "/"],
    "odd recording": ["--attach", "--replay", "/etc/passwd"],
    "no address": ["--listen", "localhost:3240"],
    "no port": ["--listen", "127.0.0.1:http"],
    "large port": ["--listen", "127.0.0.1:65536"],
    "not to be written": ["--write", "/nowhere/x"],
    "truth of a recording": ["--attach", "--replay", "x", "--truth", "y"],
    "ranges of a stream": ["--attach", "--truth-range"],
    "another machine's interrupts": ["--listen", "0", "--interrupts", "50"],
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_and_exit_2(programs: Path, tmp_path: Path, what: str) -> None:
    os.mkfifo(tmp_path / "pipe")  # nobody writes: whoever opens it waits
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(1 << 40)
    done = subprocess.run(
        [programs / "ds325-emulator-asan", *BAD[what]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert done.stderr.startswith("ds325-emulator: ")


@pytest.mark.parametrize("line", ["colour red", "at 1 2", "frames", "x" * 600])
def test_a_bad_scene_file_names_file_or_key(programs: Path, tmp_path: Path, line: str) -> None:
    scene = tmp_path / "scene"
    scene.write_text(f"# fine\n{line}\n")
    command = [programs / "ds325-emulator-asan", "--write", "x", "--scene", scene]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "line 2" in done.stderr or line.split(maxsplit=1)[0] in done.stderr
