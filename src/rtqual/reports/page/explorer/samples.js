/* SPDX-License-Identifier: MIT */
/* Histograms and shares above a value, from the values and counts of a group; as plots.py makes them. */

const FOOT = 0.5; // of an axis that counts samples: one sample still has a height

for (const place of DATA.places) {
  for (const load of place.loads) {
    for (const group of load.groups) {
      let value = 0;
      group.values = group.gaps.map((gap) => (value += gap));
      group.total = group.counts.reduce((sum, count) => sum + count, group.overflow);
      group.style = DATA.candidates[group.candidate];
      group.name = group.style.name;
    }
  }
}

/* Bin edges over the whole axis or a part of it, no finer than the data's own grain. */
function binEdges(load, [low, high], logarithmic) {
  const even = [];
  for (let i = 0; i <= load.bins; i++) {
    const part = i / load.bins;
    even.push(logarithmic ? low * (high / low) ** part : low + (high - low) * part);
  }
  const { grain } = load;
  const rough = grain > 1 || (high - low) / load.bins < 10 * grain;
  const edges = rough ? [...new Set(even.map((edge) => Math.round(edge / grain)))].map((n) => n * grain + grain / 2) : even;
  edges.push(Math.max(edges.at(-1) + grain, high));
  edges.unshift(edges[0] - grain);
  return [...new Set(edges.map((edge) => Math.max(edge, low * 0.5)))];
}

/* Samples in each bin. `clipped`: what lies outside is counted in the first or the last one. */
function binned(group, edges, clipped) {
  const counts = new Array(edges.length - 1).fill(0);
  let bin = 0;
  group.values.forEach((value, index) => {
    const outside = value < edges[0] || value >= edges.at(-1);
    if (outside && !clipped) return;
    while (bin < counts.length - 1 && value >= edges[bin + 1]) bin++;
    counts[bin] += group.counts[index];
  });
  return counts;
}

/* How many samples lie above each of some rising values. */
function above(group, values) {
  let left = group.total;
  let next = 0;
  return values.map((value) => {
    while (next < group.values.length && group.values[next] <= value) left -= group.counts[next++];
    return left;
  });
}

/* How many samples of a group lie on a stretch of the axis. */
function within(group, [low, high]) {
  return group.values.reduce((sum, value, index) => sum + (value >= low && value <= high ? group.counts[index] : 0), 0);
}

/* The index of the last of some rising values that is at most this one; -1 where all are larger. */
function lastUpTo(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
