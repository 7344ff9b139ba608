/* SPDX-License-Identifier: MIT */
/* The three views of a load's groups. Each gives a panel what it draws, reads out and lists:
   data, series, y: for uPlot;  stops: where the keyboard stops, by rising place
   read(at): { x, heading, items } of a stop or a place under the mouse
   table(most): headings, at most so many rows, and how many there are
   paint(u): what uPlot does not draw itself */

const OPEN = { value: null, text: "-" };

function lineOf(group) {
  const { colour, dashes } = group.style;
  return { label: group.name, stroke: colour, width: 2, dash: dashes.map((length) => 2 * length), points: { show: false } };
}

function figure(value, text) {
  return { value, text };
}

function inRange(state, value) {
  const [low, high] = state.range;
  return value >= low && value <= high;
}

function histogram(place, load, groups, state) {
  const zoomed = state.zoomed();
  const edges = binEdges(load, state.range, place.logarithmic);
  const counts = groups.map((group) => binned(group, edges, !zoomed));
  const top = 2 * Math.max(1, ...counts.flat(), ...groups.map((group) => group.overflow));
  const stops = edges.slice(1).map((edge, bin) => ({ bin, x: (edges[bin] + edge) / 2 }));
  const filled = stops.filter(({ bin }) => counts.some((one) => one[bin]));
  const [low, high] = state.range;
  const [scale, unit] = step(place.logarithmic ? Math.sqrt(low * high) : high, place.unit);
  return {
    name: "Histogram",
    data: [edges, ...counts.map((one) => [...one.map((count) => Math.max(count, FOOT)), FOOT])],
    series: groups.map((group) => ({
      ...lineOf(group),
      fill: group.style.colour + (groups.length > 3 ? "10" : "26"),
      fillTo: FOOT,
      paths: uPlot.paths.stepped({ align: 1 }),
    })),
    y: { label: "Samples per bin", range: [FOOT * 1.2, top], logarithmic: true }, // the foot's line is out of sight
    height: 250,
    stops: filled,
    read(at) {
      const bin = at.bin ?? Math.min(Math.max(lastUpTo(edges, at.x), 0), stops.length - 1);
      return {
        x: stops[bin].x,
        heading: span(edges[bin], edges[bin + 1], place.unit),
        items: groups.map((group, index) => [group, `${number(counts[index][bin])} of ${number(group.total)}`]),
      };
    },
    table: (most) => ({
      headings: [`From (${unit})`, `To (${unit})`, ...groups.map((group) => `${group.name}, samples`)],
      of: filled.length,
      rows: filled.slice(0, most).map(({ bin }) => [
        ...[edges[bin], edges[bin + 1]].map((edge) => figure(edge, number(edge / scale))),
        ...counts.map((one) => figure(one[bin], number(one[bin]))),
      ]),
    }),
    paint: (u) => groups.forEach((group) => paintOverflow(u, group, group.overflow)),
  };
}

function shareAbove(place, load, groups, state) {
  const measured = new Set(groups.flatMap((group) => group.values));
  const ends = groups.filter((group) => group.overflow && group.overflow_from).map((group) => group.overflow_from);
  const values = [...new Set([...measured, ...ends])].sort((a, b) => a - b);
  const left = groups.map((group) => above(group, values));
  const most = Math.max(2, ...groups.map((group) => group.total));
  const drawn = groups.map((group, index) => {
    const end = group.overflow ? (group.overflow_from ?? Infinity) : group.values.at(-1);
    // Nothing lies above the largest sample: its step ends at the plot's foot.
    return values.map((value, i) => (value > end ? null : Math.max(left[index][i], FOOT) / group.total));
  });
  const xs = place.logarithmic ? values.map((value) => Math.max(value, place.ends[0])) : values;
  const shown = values.map((value, index) => ({ index, x: xs[index] })).filter(({ x, index }) => measured.has(values[index]) && inRange(state, x));
  const said = (group, count) => `${number(count)} of ${number(group.total)} (${share(count, group.total)})`;
  return {
    name: "Share of samples above a value",
    data: [[place.ends[0], ...xs], ...drawn.map((one) => [1, ...one])],
    series: groups.map((group) => ({ ...lineOf(group), paths: uPlot.paths.stepped({ align: 1 }) })),
    y: { label: "Share of samples above", range: [FOOT / most, 1.4], logarithmic: true },
    height: 270,
    stops: shown,
    read(at) {
      const index = at.index ?? lastUpTo(xs, at.x);
      const value = index < 0 ? state.range[0] : values[index];
      const counts = groups.map((group, i) => (index < 0 ? group.total : left[i][index]));
      return {
        x: at.x,
        heading: `above ${at.index === undefined ? quantity(at.x, place.unit) : exact(value, place.unit)}`,
        items: groups.map((group, i) => [group, said(group, counts[i])]),
      };
    },
    table: (most) => ({
      of: shown.length,
      headings: ["Value", ...groups.flatMap((group) => [`${group.name}, samples above`, `${group.name}, share above`])],
      rows: shown.slice(0, most).map(({ index }) => [
        figure(values[index], exact(values[index], place.unit)),
        ...groups.flatMap((group, i) => {
          const count = left[i][index];
          return [figure(count, number(count)), figure(count / group.total, number(count / group.total))];
        }),
      ]),
    }),
    paint: (u) => groups.forEach((group) => paintOverflow(u, group, group.overflow / group.total)),
  };
}

function percentiles(place, load, groups, state) {
  const names = state.percentiles().filter((name) => groups.some((group) => group.percentiles[name]));
  const points = names.flatMap((name, row) =>
    groups.flatMap((group, index) => {
      const one = group.percentiles[name];
      if (!one) return [];
      const y = names.length - 1 - row - (0.7 * (index - (groups.length - 1) / 2)) / groups.length;
      return [{ ...one, name, group, y, x: one.value }];
    }),
  );
  const text = ({ value, at_least }) => (at_least ? "≥\u00a0" : "") + quantity(value, place.unit);
  const interval = (one) => one.interval && intervalText(one, place.unit);
  const said = (one) => {
    const between = interval(one) ? ` [${interval(one)}], 95 % interval, ${one.how}` : `, no interval: ${one.how}`;
    return `${text(one)}${between}; n = ${number(one.n)}`;
  };
  return {
    name: "Percentiles with 95 % intervals",
    data: [state.range, [null, null]],
    series: [{ label: "", points: { show: false }, paths: () => null }],
    y: { label: "", range: [-0.5, names.length - 0.5], names: [...names].reverse() },
    height: 70 + names.length * Math.max(26, 13 * groups.length),
    stops: points.filter(({ x }) => inRange(state, x)),
    read(at) {
      const one = at.name ? at : nearest(points, at, names.length, state, place.logarithmic);
      if (!one) return { x: at.x, heading: "nothing to read here", items: [] };
      return { x: one.x, y: one.y, heading: one.name, items: [[one.group, said(one)]] };
    },
    table: () => ({
      of: names.length,
      headings: ["Percentile", ...groups.map((group) => group.name)],
      rows: names.map((name) => [
        figure(Number(name.slice(1)), name),
        ...groups.map((group) => {
          const one = group.percentiles[name];
          return one ? { ...figure(one.value, text(one)), detail: interval(one) ?? `no interval: ${one.how}` } : OPEN;
        }),
      ]),
    }),
    paint: (u) => points.forEach((one) => paintPercentile(u, one)),
  };
}

function intervalText({ value, interval: [low, high] }, unit) {
  const [scale, name] = step(value, unit);
  return `${low === null ? "-∞" : number(low / scale)} to ${high === null ? "∞" : number(high / scale)}\u00a0${name}`;
}

/* The point nearest to a place, both axes taken as equally long. */
function nearest(points, at, rows, state, logarithmic) {
  const scaled = (x) => (logarithmic ? Math.log(Math.max(x, 1e-300)) : x);
  const length = scaled(state.range[1]) - scaled(state.range[0]);
  const distance = (one) => Math.hypot((scaled(one.x) - scaled(at.x)) / length, (one.y - at.y) / rows);
  return points.reduce((best, one) => (best && distance(best) <= distance(one) ? best : one), null);
}

const VIEWS = { histogram, above: shareAbove, percentiles };
