// SPDX-License-Identifier: MIT
// What is drawn: heat maps on a canvas, trends and small ones as SVG. Text is always text, never markup.
"use strict";
const SVG = "http://www.w3.org/2000/svg";

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const STEPS = {
  ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
  B: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
};

function quantity(value, unit) {
  if (value === null || value === undefined) return "–";
  const [by, name] = (STEPS[unit] || []).find(([least]) => Math.abs(value) >= least) || [1, unit === "1" ? "" : unit];
  return `${String(Number((value / by).toPrecision(4)))} ${name}`.trim();
}

function percent(times) {
  const value = (times - 1) * 100;
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(Math.abs(value) < 10 ? 1 : 0)} %`;
}

const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

// 128 is the row's median; above it is worse. 0 was not measured.
function heatColour(octet, verdicts) {
  const dark = isDark();
  if (verdicts)
    return [
      dark ? [28, 32, 37] : [246, 247, 248], [46, 139, 87], [200, 50, 36], [214, 160, 40], [70, 130, 190], [140, 140, 150],
    ][octet];
  if (!octet || octet === 255) return dark ? [70, 76, 84] : [188, 194, 201];
  const far = Math.max(-1, Math.min(1, (octet - 128) / 40));
  const middle = dark ? [28, 32, 37] : [250, 250, 250];
  const end = far > 0 ? (dark ? [255, 120, 80] : [178, 24, 43]) : dark ? [90, 170, 250] : [33, 102, 172];
  return middle.map((from, n) => from + (end[n] - from) * Math.abs(far) ** 0.7);
}

function drawHeat(canvas, rows, columns, octetOf, verdicts) {
  canvas.width = Math.max(1, columns);
  canvas.height = Math.max(1, rows.length);
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  rows.forEach((row, y) => {
    for (let x = 0; x < columns; x++) {
      const octet = octetOf(row, x);
      let [red, green, blue] = heatColour(octet, verdicts);
      if (!octet && (x + y) % 2) [red, green, blue] = [red, green, blue].map((part) => part * 0.93);
      image.data.set([red, green, blue, 255], 4 * (y * canvas.width + x));
    }
  });
  context.putImageData(image, 0, 0);
  const most = innerWidth < 600 ? 360 : 520;
  canvas.style.height = `${Math.max(16, Math.min(most, rows.length * (rows.length < 60 ? 10 : 2)))}px`;
}

function swatch(octet, verdicts) {
  const drawing = shape("svg", { "aria-hidden": "true", viewBox: "0 0 22 12" });
  const colour = `rgb(${heatColour(octet, verdicts).map(Math.round).join()})`;
  drawing.append(shape("rect", { width: 22, height: 12, fill: colour, stroke: "currentColor", "stroke-opacity": 0.4 }));
  return drawing;
}

function spark(octets) {
  const drawing = shape("svg", { class: "spark", viewBox: "0 0 200 44", preserveAspectRatio: "none", "aria-hidden": "true" });
  const known = octets.map((octet, x) => [x, octet]).filter(([, octet]) => octet && octet !== 255);
  const place = ([x, octet]) =>
    `${(4 + (x * 192) / Math.max(1, octets.length - 1)).toFixed(1)},${Math.max(2, Math.min(42, 22 - (octet - 128) * 0.35)).toFixed(1)}`;
  drawing.append(shape("polyline", { class: "line", points: known.map(place).join(" "), "vector-effect": "non-scaling-stroke" }));
  if (known.length === 1) drawing.append(shape("circle", { cx: place(known[0]).split(",")[0], cy: 22, r: 2, class: "line" }));
  return drawing;
}

// A figure over a row's versions: value, 95 % interval, levels, where they changed, and odd ones.
function trend(figure, labels, title) {
  const wide = innerWidth >= 700 ? 900 : 420, high = 280, left = 70, right = 12, top = 12, bottom = 34;
  const drawing = shape("svg", { class: "trend", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": title });
  const ends = [...figure.value, ...figure.low, ...figure.high].filter((value) => value !== null);
  let least = Math.min(...ends), most = Math.max(...ends);
  const spare = (most - least) * 0.08 || Math.abs(most) * 0.1 || 1;
  least -= spare;
  most += spare;
  const x = (at) => left + ((at + 0.5) / labels.length) * (wide - left - right);
  const y = (value) => top + ((most - value) / (most - least)) * (high - top - bottom);
  const rough = (most - least) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
  for (let n = Math.ceil(least / step); n * step <= most; n++) {
    const value = n * step;
    drawing.append(shape("line", { class: "grid-line", x1: left, x2: wide - right, y1: y(value), y2: y(value) }));
    drawing.append(shape("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, quantity(value, figure.unit)));
  }
  const every = Math.max(1, Math.ceil(labels.length / (wide >= 700 ? 8 : 3)));
  labels.forEach((label, at) => {
    if (at % every) return;
    const shown = label.length > 14 ? `${label.slice(0, 13)}…` : label;
    drawing.append(shape("text", { x: x(at), y: high - 12, "text-anchor": "middle" }, shown));
  });
  figure.at.forEach((at, n) => {
    if (figure.low[n] === null && figure.high[n] === null) return;
    const [low, up] = [figure.low[n] ?? least, figure.high[n] ?? most];
    drawing.append(shape("line", { class: "band", x1: x(at), x2: x(at), y1: y(low), y2: y(up) }));
  });
  const line = figure.at.map((at, n) => `${x(at).toFixed(1)},${y(figure.value[n]).toFixed(1)}`).join(" ");
  drawing.append(shape("polyline", { class: "line", points: line }));
  const stands = figure.changes.filter((change) => change[3] !== "gone");
  stands.forEach(([at, before, after], n) => {
    const border = x(at - 0.5), from = n ? stands[n - 1][0] : (figure.since ?? 0);
    const until = n + 1 < stands.length ? stands[n + 1][0] : labels.length;
    drawing.append(shape("line", { class: "mark", x1: border, x2: border, y1: top, y2: high - bottom }));
    drawing.append(shape("polyline", { class: "level", points: `${x(from - 0.5)},${y(before)} ${border},${y(before)}` }));
    drawing.append(shape("polyline", { class: "level", points: `${border},${y(after)} ${x(until - 0.5)},${y(after)}` }));
  });
  figure.at.forEach((at, n) => {
    const dot = shape("circle", { class: "dot", cx: x(at), cy: y(figure.value[n]), r: 3 });
    const span = figure.low[n] === null && figure.high[n] === null
      ? "no interval" : `${quantity(figure.low[n], figure.unit)} to ${quantity(figure.high[n], figure.unit)}`;
    const least_ = figure.least.includes(at) ? "at least " : "";
    dot.append(shape("title", {}, `${labels[at]}: ${least_}${quantity(figure.value[n], figure.unit)} (${span})`));
    drawing.append(dot);
    if (figure.odd.includes(at)) drawing.append(shape("circle", { class: "odd", cx: x(at), cy: y(figure.value[n]), r: 7 }));
  });
  return drawing;
}
