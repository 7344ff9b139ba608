# SPDX-License-Identifier: MIT
"""The picture of pose_grid.py: squared distances of single frames against those that a true covariance has."""

from pathlib import Path

import matplotlib
import numpy as np
import numpy.typing as npt
from pose_flights import DISTANCE2, FLIGHT, OK, STATUS, Flight
from scipy.stats import chi2

matplotlib.use("Agg")
from matplotlib import pyplot as plt


def draw(flights: list[Flight], rows: npt.NDArray[np.float64], path: Path) -> None:
    """Left: the share of `ok` frames beyond a distance. Right: `ok`, `degenerate` and `not found` by range."""
    plt.rcParams["svg.hashsalt"] = "rtqual"
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    ok = rows[rows[:, STATUS] == OK]
    for kind in dict.fromkeys(one.kind for one in flights):
        chosen = [n for n, one in enumerate(flights) if one.kind == kind]
        far = np.sort(np.sqrt(ok[np.isin(ok[:, FLIGHT], chosen), DISTANCE2]))
        left.plot(far, 1 - np.arange(len(far)) / max(1, len(far)), lw=1, label=kind)
    x = np.linspace(0, 7, 200)
    left.plot(x, chi2.sf(x**2, 6), "k--", lw=1.5, label="true covariance")
    left.set(yscale="log", xlim=(0, 7), ylim=(1e-5, 1), xlabel="distance, deviations", ylabel="share beyond")
    left.legend(fontsize=6, ncol=2)
    ranges = np.array([one.range_m for one in flights])[rows[:, FLIGHT].astype(int)]
    edges = np.linspace(0.1, 2, 20)
    total = np.histogram(ranges, edges)[0]
    below = np.zeros(len(total))
    for status, name, colour in ((2, "ok", "#4c8"), (1, "degenerate", "#fc6"), (0, "not found", "#bbb")):
        share = np.histogram(ranges[rows[:, STATUS] == status], edges)[0] / np.maximum(1, total)
        right.bar(edges[:-1], share, np.diff(edges), bottom=below, align="edge", color=colour, label=name)
        below += share
    right.set(xlabel="range, m", ylabel="share of frames", ylim=(0, 1))
    right.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
