# SPDX-License-Identifier: MIT
"""A pose that is called ok is right, or its covariance says how wrong: what stands behind the target, tilt, sun, half
turns, drift. pose_grid.py draws the flights; the tests' seeds are not those that the estimator was tuned on."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).parents[4] / "docking/bench"
sys.path.insert(0, str(BENCH))

from pose_flights import (  # noqa: E402
    CROSSINGS,
    DEGREES,
    DISTANCE2,
    FRAME,
    MM,
    OK,
    STATUS,
    UNOBSERVED,
    WORST,
    Flight,
    attitude,
    flight,
)
from pose_grid import SEARCH, Grid, fly, honesty, should  # noqa: E402
from pose_strange import strange  # noqa: E402

RZ = 32
FRAMES = 14


def at(range_m: float, roll: float = 12, pitch: float = 6, yaw: float = -8) -> Flight:
    """A target that stands still."""
    place = np.concatenate([[0.03 * range_m, -0.02 * range_m, range_m], attitude(roll, pitch, yaw)])
    return Flight("test", FRAMES, 7, place, place)


def honest(grid: Grid) -> None:
    """Found, and every ok frame within six deviations, of all together."""
    ok = grid.rows[grid.rows[:, STATUS] == OK]
    assert len(ok) >= len(grid.flights) * (FRAMES - SEARCH - 4)
    assert np.sqrt(ok[:, DISTANCE2].max()) <= 6


@pytest.mark.guest
def test_a_wall_behind_the_target_is_not_taken_for_it() -> None:
    grid = fly([replace(at(0.5), wall_m=wall) for wall in (0.66, 0.8, 1.0)])
    honest(grid)
    assert grid.rows[grid.rows[:, STATUS] == OK, MM].max() < 1.5


@pytest.mark.guest
def test_a_side_seen_edge_on_before_a_bright_wall_does_not_move_the_edge() -> None:
    """Half a pixel of a side, dark before the wall, looked like 0.6 pixels more of the target, and the pose that
    follows hides the side: 5 to 7 mm off, beyond 8 deviations in both."""
    honest(fly([flight(701, 529, 20), flight(501, 58, 20)]))


@pytest.mark.guest
def test_a_face_that_goes_on_beyond_its_edge_is_another_one() -> None:
    """The body a quarter of a turn off fitted all that was compared: 50 mm and 88 degrees off, and `ok`."""
    rows = fly([flight(2, 26, 20)]).rows
    found = rows[rows[:, STATUS] != 0]
    assert len(found[found[:, STATUS] == OK]) >= 2
    assert found[:, MM].max() < 5
    assert np.sqrt(found[:, DISTANCE2].max()) <= 6


@pytest.mark.guest
def test_what_edges_share_is_in_the_offset_learnt_from_them() -> None:
    """Averaged over frames as if it was noise, the offset was held known, and the pose with it: beyond 6 deviations."""
    honest(fly([flight(2001, 1131, 20)]))


@pytest.mark.guest
@pytest.mark.parametrize(("seed", "number", "frames"), [(6201, 87, 20), (20261125, 859, 32)])
def test_light_beyond_the_edge_without_a_range_is_an_unknown_of_the_frame(seed: int, number: int, frames: int) -> None:
    """A wall 1.3 m behind takes from the target's light. Taken for light that adds, it made the target smaller, and the
    pose 10 mm off, beyond 8 deviations. Of pixels that have no range it takes twice as much, and they turn an edge."""
    honest(fly([flight(seed, number, frames)]))


@pytest.mark.guest
def test_what_edges_say_of_the_offset_again_and_again_is_said_once() -> None:
    """They share an error, so their mean is held against what was known before: beyond 8 deviations without."""
    rows = fly([flight(5001, 11, 30)]).rows
    ok = rows[rows[:, STATUS] == OK]
    assert len(ok) >= 1
    assert np.sqrt(ok[:, DISTANCE2].max()) <= 6


@pytest.mark.guest
@pytest.mark.parametrize("number", [721, 383])
def test_an_edge_that_hardly_a_line_crosses_says_nothing(number: int) -> None:
    """Before a wall as bright as the target one chance crossing held the pose 21 mm off, known to 1 mm: beyond 30
    deviations; in clutter and sun beyond 8."""
    rows = fly([flight(7404, number, 60)]).rows
    ok = rows[rows[:, STATUS] == OK]
    assert (rows[:, STATUS] != 0).sum() >= 15
    assert np.sqrt(ok[:, DISTANCE2].max(initial=0)) <= 5


@pytest.mark.guest
@pytest.mark.parametrize("number", [14, 182])
def test_a_bare_face_does_not_tell_which_way_round(number: int) -> None:
    """Turned over, it has no keys on the side that is seen, and where they were looked for none are: that was taken for
    proof, with the place 100 mm off and thought known to 2 mm but for a turn about z. Cut by the picture, its side was.
    """
    rows = fly([strange("rear", 4242, number, 60)]).rows
    told = rows[rows[:, STATUS] != 0]
    assert (told[:, DEGREES] > 170).sum() > 5 and told[:, WORST].max() <= 4


def still(kind: str, frames: int, seed: int, place: tuple[float, ...], albedo: float, *more: object) -> Flight:
    ends = [np.array(one, float) for one in (place, *more)]
    return Flight(kind, frames, seed, ends[0], ends[-1], albedo=albedo)


STRANGE = {
    "found by one frame, which was off": flight(9917, 458, 60),
    "a corner of one edge, where another one should leave the picture": flight(3391, 174, 60),
    "tumbling at first sight": strange("tumbling", 4243, 132, 60),
    "tumbling between boxes in the sun": strange("all at once", 4243, 155, 60),
    "keys cut by the picture, and none of the outline in it": strange("dark", 4242, 124, 60),
    "the rear, cut by the picture, at the distance of the keys' tops": still(
        "rear", 24, 1273476735,
        (0.257773134, -0.188329231, 0.486591562, 0.120409072, 0.99185985, 0.0413993649, -0.00133620238), 0.566695907,
    ),
    "dark and close by, without an outline": still(
        "dark", 40, 755140674,
        (0.00496400469, 0.000197423602, 0.11208766, 0.929216875, -0.000828567097, 0.0973622832, 0.356477066),
        0.0916415081,
        (0.0158106716, 0.000953060505, 0.121003757, 0.929216875, -0.000828567097, 0.0973622832, 0.356477066),
    ),
    "tumbling": still(
        "tumble", 90, 1397093681, (0.05682, -0.05351, 0.67488, 0.33683, 0.16059, -0.00106, 0.92777), 0.412,
        (0.05682, -0.05351, 0.67488, 0.04398, 0.87012, 0.28062, 0.40276),
    ),
    "plates where the keys of a half turn would be": replace(
        still("plates", 90, 231201731, (0.01035, 0.00608, 0.38125, 1, 0, 0, 0), 0.637),
        clutter=(
            (-0.0736, 0.0291, 0.3662, -0.0496, 0.0531, 0.3822), (0.0654, -0.0319, 0.3662, 0.1054, -0.0159, 0.3822)
        ),
    ),
}  # fmt: skip


@pytest.mark.guest
@pytest.mark.parametrize("scene", STRANGE)
def test_nothing_false_is_told_of_a_strange_scene(scene: str) -> None:
    """Each was `ok` or thought known while half a turn or beyond six deviations off, some for a whole flight."""
    rows = fly([STRANGE[scene]]).rows
    ok = rows[rows[:, STATUS] == OK]
    assert (rows[:, STATUS] != 0).sum() > 3  # it is seen
    assert np.sqrt(ok[:, DISTANCE2].max(initial=0)) <= 5.5


@pytest.mark.guest
def test_pixels_whose_face_is_not_known_do_not_count() -> None:
    """In the sun no edge counts, and the place sideways becomes known to centimetres only. What lies beside a face was
    then taken for it: 26 mm off, thought known to 3 mm, beyond 26 deviations in 30 frames."""
    rows = fly([flight(7909, 592, 60)]).rows
    told = rows[rows[:, STATUS] != 0]
    assert len(told) > 20 and np.sqrt(told[:, DISTANCE2].max()) <= 4


@pytest.mark.guest
def test_ring_and_keys_must_be_where_the_pose_has_them() -> None:
    """Cut by the picture, the body a quarter of a turn off fitted all edges, and half a turn more looked worse."""
    rows = fly([flight(7110, 906, 40)]).rows
    ok = rows[rows[:, STATUS] == OK]
    assert len(ok) > 20 and np.sqrt(ok[:, DISTANCE2].max()) <= 6


@pytest.mark.guest
def test_an_edge_that_rises_by_one_in_two_is_cut_alike_too() -> None:
    """By less than one along a row: 5.8 deviations without, 3.5 with."""
    rows = fly([flight(5001, 50, 22)]).rows
    ok = rows[rows[:, STATUS] == OK]
    assert len(ok) > 10
    assert np.sqrt(ok[:, DISTANCE2].max()) <= 5


@pytest.mark.guest
def test_the_covariance_holds_when_tilted_and_in_the_sun() -> None:
    honest(fly([at(0.5, pitch=30), at(0.5, pitch=30.4), at(0.4, pitch=30, yaw=40), replace(at(0.5), sun=500)]))


@pytest.mark.guest
def test_edges_that_the_sun_makes_too_noisy_do_not_count() -> None:
    """Of some 34 crossings a frame these are 22."""
    rows = fly([replace(at(0.567, -88.1, 48.78, -16), sun=675, albedo=0.568, wall_m=0.917)]).rows
    found = rows[rows[:, STATUS] != 0]
    assert len(found) > 4
    assert 0 < found[:, CROSSINGS].mean() < 20


@pytest.mark.guest
@pytest.mark.parametrize(("range_m", "albedo"), [(1.1, 0.5), (1.5, 0.7)])
def test_half_a_turn_is_unobserved_until_the_keys_decide(range_m: float, albedo: float) -> None:
    """And the expected orientation, which is half a turn off, does not decide."""
    grid = fly([replace(at(range_m, roll=178), albedo=albedo, frames=40)])
    undecided = grid.rows[grid.rows[:, STATUS] == 1]
    assert all(int(bits) & RZ for bits in undecided[:, UNOBSERVED])
    ok = grid.rows[grid.rows[:, STATUS] == OK]
    assert len(ok) > 5
    assert ok[:, WORST].max() < 6


@pytest.mark.guest
def test_drift_that_nobody_told_is_found_by_the_size_of_the_target() -> None:
    honest(fly([replace(at(0.6), offset_mm=mm) for mm in (-3.0, 3.0)]))


@pytest.mark.full
def test_the_grid_without_amplitudes() -> None:
    """What a client of Z16 and of the driver's ring has: fewer frames are `ok`, and those are what they say."""
    rows = fly([flight(77, number, 18) for number in range(72)], 2, lit=False).rows
    found = honesty(rows[rows[:, FRAME] >= SEARCH])
    print(found)
    assert found.inside >= 0.93
    assert found.beyond[1] <= 0.01 * found.ok
    assert found.ok >= 0.6 * found.frames


@pytest.mark.full
def test_the_grid() -> None:
    """144 flights, 30 s: the goals, as far as so few frames tell (docs/docking/pose.md has the whole grid)."""
    flights = [flight(77, number, 18) for number in range(144)]
    grid = fly(flights, 2)
    all_of_them = honesty(grid.rows)
    easy = [number for number, one in enumerate(flights) if should(one)]
    rows = grid.of(easy)
    good = honesty(rows[rows[:, FRAME] >= SEARCH])
    print(all_of_them, good)
    assert 0.93 <= all_of_them.inside <= 0.99
    assert all_of_them.beyond[1] <= 0.005 * all_of_them.ok
    assert all_of_them.beyond[3] <= 0.001 * all_of_them.ok
    assert good.ok >= 0.95 * good.frames
