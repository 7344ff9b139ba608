/* SPDX-License-Identifier: MIT */
/* Figures as the rest of the report writes them (text.py), and round values for axes (canvas.py). */

const DATA = JSON.parse(document.getElementById("explorer-data").textContent);

/* The divisor and the name of the unit that suits a value. */
function step(value, unit) {
  const steps = DATA.steps[unit] ?? [[1, unit === "1" ? "" : unit]];
  return steps.find(([scale]) => Math.abs(value) >= scale) ?? steps.at(-1);
}

const FORMATS = Array.from({ length: 16 }, (_, digits) => new Intl.NumberFormat("en-US", { maximumFractionDigits: digits }));

function fixed(value, digits) {
  return FORMATS[Math.min(15, Math.max(0, digits))].format(value);
}

/* Four significant digits, thousands apart. */
function number(value) {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  return magnitude < -4 ? value.toPrecision(3) : fixed(value, 3 - magnitude);
}

/* Several values in the unit that suits the first: [[texts], unit]. */
function inOneUnit(values, unit) {
  const [scale, name] = step(values[0], unit);
  return [values.map((value) => number(value / scale)), name];
}

function quantity(value, unit) {
  const [[text], name] = inOneUnit([value], unit);
  return `${text}\u00a0${name}`.trim();
}

/* Whole numbers of the base unit, with every digit. */
function exact(value, unit) {
  const [scale, name] = step(value, unit);
  return `${fixed(value / scale, Math.ceil(Math.log10(scale)))}\u00a0${name}`.trim();
}

function span(low, high, unit) {
  if (high > 100 * low) return `${quantity(low, unit)} to ${quantity(high, unit)}`;
  const [scale, name] = step(high, unit);
  const digits = Math.max(1, 2 - Math.floor(Math.log10((high - low) / scale))); // the ends of a short stretch differ
  return `${fixed(low / scale, digits)} to ${fixed(high / scale, digits)}\u00a0${name}`.trim();
}

function share(part, whole) {
  return `${number((100 * part) / whole)}\u00a0%`;
}

/* Round values from low to high, at most so many: { at, labels }. */
function ticks(low, high, { most, scale = 1, logarithmic = false }) {
  const [from, to] = [low / scale, high / scale];
  if (logarithmic) {
    const at = logarithmicTicks(from, to, most);
    if (at.length > 2) return { at: at.map((tick) => tick * scale), labels: at.map(number) };
  }
  const least = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const size = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9));
  const at = [];
  for (let n = Math.ceil(from / size - 1e-9); n * size <= to * (1 + 1e-12); n++) at.push(n * size);
  const digits = 1 - Math.floor(Math.log10(size));
  return { at: at.map((tick) => tick * scale), labels: at.map((tick) => fixed(tick, digits)) };
}

function logarithmicTicks(from, to, most) {
  let at = [];
  for (const mantissas of [[1, 2, 5], [1, 3], [1]]) {
    at = [];
    for (let e = Math.floor(Math.log10(from)); e <= Math.ceil(Math.log10(to)); e++) {
      at.push(...mantissas.map((mantissa) => Number(`${mantissa}e${e}`)).filter((tick) => tick >= from && tick <= to));
    }
    if (at.length <= most) break;
  }
  const every = Math.ceil(at.length / most) || 1;
  return at.filter((_, index) => index % every === 0);
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/* Powers of ten, at most so many, the largest always among them. */
function decades(low, high, most) {
  const exponents = [];
  for (let e = Math.floor(Math.log10(high) + 1e-9); e >= Math.log10(low) - 1e-9; e--) exponents.push(e);
  const every = Math.ceil(exponents.length / most) || 1;
  const chosen = exponents.filter((_, index) => index % every === 0).reverse();
  const power = (e) => (e >= 0 && e <= 2 ? String(10 ** e) : "10" + [...String(e)].map((c) => RAISED[c]).join(""));
  return { at: chosen.map((e) => 10 ** e), labels: chosen.map(power) };
}
