/* SPDX-License-Identifier: MIT */
/* One load's plot: uPlot, its read-out and the table of what it shows. Candidates have the colours and dashes that
   they have in the report's other plots. */

const MOST_ROWS = 300;
const FONT = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function ink(name = "--ink") {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

class Panel {
  constructor(place, load, state, commands) {
    Object.assign(this, { place, load, state, commands, stop: null });
    this.title = element("h4", {}, `${place.instrument} ${load.title} ${load.mark}`.trim());
    this.summary = element("p", { class: "detail" });
    this.chart = element("div", {
      class: "chart",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "plot",
      "aria-describedby": "explorer-keys",
    });
    this.reading = element("p", { class: "reading", "aria-hidden": "true" });
    this.listed = element("details", {}, element("summary", {}, "Table of this plot", element("span", { class: "unseen" }, `: ${this.title.textContent}`)));
    this.listed.addEventListener("toggle", () => this.list());
    const notes = element("ul", { class: "notes" });
    this.notes = notes;
    this.timelines = element("p", { class: "timelines" });
    this.root = element("div", { class: "panel" }, this.title, this.summary, this.chart, this.reading, this.timelines, this.listed, notes);
    this.chart.addEventListener("keydown", (event) => this.key(event));
    this.chart.addEventListener("click", (event) => this.jump(this.explainedAt(event)));
  }

  /* Everything anew: other candidates, another view, another stretch of the axis. */
  draw() {
    const { place, load, state } = this;
    this.groups = load.groups.filter((group) => state.candidates.has(group.candidate));
    this.view = VIEWS[state.view](place, load, this.groups, state);
    this.stop = null;
    const counts = ofWhom(this.groups, ({ samples, runs }) => `n = ${number(samples)}, ${runs} ${runs === 1 ? "run" : "runs"}`);
    const limits = load.limits.map(({ name, value }) => `Limit: ${name} ${quantity(value, place.unit)}`);
    const broken = ofWhom(this.groups, (group) => group.broken);
    this.summary.textContent = [counts.join("; "), limits.join("; "), broken.join("; ")].filter(Boolean).join(". ");
    this.chart.setAttribute("aria-label", `${this.view.name}, ${this.title.textContent}. ${this.summary.textContent}`);
    const thinned = this.groups.filter(({ merged }) => merged > 1).map(({ name, distinct, merged }) => `${name} ${number(distinct)} (${merged} merged at a time)`);
    const remarks = thinned.length ? [`Distinct values, thinned: ${thinned.join(", ")}.`] : [];
    remarks.push(...ofWhom(this.groups, ({ binned }) => binned && "read from the tool's own bins"), ...load.notes);
    this.notes.replaceChildren(...remarks.map((text) => element("li", {}, text)));
    const links = this.groups.flatMap((group) => group.explained.map(([value, figure]) => element("a", { href: `#${figure}` }, `${group.name} ${exact(value, place.unit)}`)));
    this.timelines.replaceChildren(...(links.length ? ["Timelines of late samples, also by the discs on the axis: ", ...links.flatMap((link, index) => (index ? [", ", link] : [link]))] : []));
    this.plot?.destroy();
    this.plot = new uPlot(this.options(), this.view.data, this.chart);
    dragByTouch(this.plot.over);
    this.read(null);
    this.list();
  }

  get width() {
    return Math.max(200, this.root.clientWidth);
  }

  options() {
    const { view, place, state } = this;
    return {
      width: this.width,
      height: view.height,
      legend: { show: false },
      padding: [8, 20, 0, 0],
      scales: {
        x: { time: false, distr: place.logarithmic ? 3 : 1, range: () => state.range },
        y: { distr: view.y.logarithmic ? 3 : 1, range: () => view.y.range },
      },
      axes: [this.valueAxis(), this.uprightAxis()],
      series: [{}, ...view.series],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 6 },
        bind: { dblclick: () => () => this.commands.reset() },
      },
      hooks: {
        drawClear: [(u) => paintLimits(u, this.load.limits, { areas: true })],
        draw: [(u) => paintLimits(u, this.load.limits, { areas: false }), (u) => view.paint(u), (u) => paintExplained(u, this.groups)],
        setSelect: [(u) => this.selected(u)],
        setCursor: [(u) => this.hovered(u)],
      },
    };
  }

  /* The figure of the explained sample whose mark is under the mouse. */
  explainedAt({ clientX }) {
    const at = clientX - this.plot.over.getBoundingClientRect().left;
    const far = ([value]) => Math.abs(this.plot.valToPos(value, "x") - at);
    const [nearest] = this.groups.flatMap((group) => group.explained).sort((a, b) => far(a) - far(b));
    return nearest && far(nearest) < 8 ? nearest[1] : null;
  }

  jump(figure) {
    if (figure) location.hash = figure;
  }

  valueAxis() {
    const { place, load, state } = this;
    const [low, high] = state.range;
    const [scale, unit] = step(place.logarithmic ? Math.sqrt(low * high) : high, place.unit);
    const most = Math.max(3, Math.floor(this.width / 75));
    const { at, labels } = ticks(low, high, { most, scale, logarithmic: place.logarithmic });
    return { ...AXIS(), size: 26, label: `${place.quantity} (${unit || "1"}) ${load.mark}`.trim(), splits: () => at, values: () => labels };
  }

  uprightAxis() {
    const { label, range, names, logarithmic } = this.view.y;
    if (names) return { ...AXIS(), size: 62, splits: () => names.map((_, row) => row), values: () => names };
    const { at, labels } = logarithmic ? decades(...range, 6) : ticks(...range, { most: 6 });
    return { ...AXIS(), label, size: 42, splits: () => at, values: () => labels };
  }

  selected(u) {
    const { left, width } = u.select;
    if (width < 6) return;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.commands.zoomTo([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
  }

  hovered(u) {
    if (this.moving || u.cursor.left === null || u.cursor.left < 0) return;
    const at = { x: u.posToVal(u.cursor.left, "x"), y: u.posToVal(u.cursor.top, "y") };
    this.read(at);
    this.commands.pointed(this, at.x);
  }

  /* The cursor to a place that another panel reads. */
  follow(x) {
    this.point(x);
    this.read({ x });
  }

  point(x, y) {
    this.moving = true; // told from a movement of the mouse
    this.plot.setCursor({ left: this.plot.valToPos(x, "x"), top: y === undefined ? 0 : this.plot.valToPos(y, "y") });
    this.moving = false;
  }

  /* Says what lies at a stop or a place; null: nothing is asked for. Returns the sentence. */
  read(at) {
    if (!at) {
      const hint = "Point at the plot, or focus it and press the arrow keys, to read values.";
      this.reading.replaceChildren(this.view.stops.length ? hint : "Nothing lies on this stretch of the axis.");
      return "";
    }
    const { heading, items } = this.view.read(at);
    const said = items.flatMap(([group, text]) => [swatch(group), `${group.name}: ${text}  `]);
    this.reading.replaceChildren(element("b", {}, `${heading}  `), ...said);
    return `${heading}. ${items.map(([group, text]) => `${group.name}: ${text}`).join("; ")}`;
  }

  key(event) {
    const { stops } = this.view;
    const far = Math.max(1, Math.round(stops.length / 10));
    const moves = { ArrowRight: 1, ArrowLeft: -1, PageDown: far, PageUp: -far, End: Infinity, Home: -Infinity };
    const zooms = { "+": 0.5, "=": 0.5, "-": 2, _: 2 };
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.shiftKey && ["ArrowRight", "ArrowLeft"].includes(event.key)) this.commands.pan(event.key === "ArrowRight" ? 0.25 : -0.25);
    else if (event.key in moves) this.move(moves[event.key]);
    else if (event.key in zooms) this.commands.zoom(zooms[event.key], this.stop === null ? null : stops[this.stop].x);
    else if (event.key === "0" || (event.key === "Escape" && this.state.zoomed())) this.commands.reset();
    else return;
    event.preventDefault();
  }

  /* To another stop, so many further on. */
  move(by) {
    const { stops } = this.view;
    if (!stops.length) return announce(this.reading.textContent);
    const from = this.stop ?? (by > 0 ? -1 : stops.length);
    this.stop = Math.min(Math.max(from + by, 0), stops.length - 1);
    const at = stops[this.stop];
    const { x, y } = this.view.read(at);
    this.point(x, y);
    this.commands.pointed(this, x);
    return announce(this.read(at));
  }

  list() {
    this.listed.querySelector("div")?.remove();
    if (!this.listed.open) return;
    const { headings, rows, of } = this.view.table(MOST_ROWS);
    const table = tableOf(headings, rows, `${this.view.name}, ${this.title.textContent}`);
    const box = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Table: ${this.title.textContent}` }, table);
    if (of > rows.length) box.prepend(element("p", { class: "detail" }, `The first ${rows.length} of ${number(of)} rows; zoom in to see others.`));
    this.listed.append(box);
    sortable(table);
  }
}

/* What is said of groups, those of which the same holds together: ["rt, stock: n = 3,000"]. */
function ofWhom(groups, textOf) {
  const names = new Map();
  groups.forEach((group) => {
    const text = textOf(group);
    if (text) names.set(text, [...(names.get(text) ?? []), group.name]);
  });
  return [...names].map(([text, whose]) => `${whose.join(", ")}: ${text}`);
}

/* uPlot knows the mouse only; a finger that moves sideways becomes one. Up and down scrolls the page. */
function dragByTouch(over) {
  const became = { pointerdown: "mousedown", pointermove: "mousemove", pointerup: "mouseup", pointercancel: "mouseup" };
  let start = null;
  for (const [from, to] of Object.entries(became)) {
    over.addEventListener(from, (event) => {
      if (event.pointerType !== "touch") return;
      if (from === "pointerdown") start = event;
      const send = (type, at) => over.dispatchEvent(new MouseEvent(type, { clientX: at.clientX, clientY: at.clientY, movementX: 1, bubbles: true }));
      if (from === "pointercancel") send("mousemove", start); // nothing was chosen
      send(to, from === "pointercancel" ? start : event);
    });
  }
}

function AXIS() {
  const stroke = () => ink();
  return {
    stroke,
    font: FONT,
    labelFont: FONT,
    labelSize: 22,
    labelGap: 2,
    gap: 4,
    filter: (u, splits) => splits,
    grid: { stroke: () => ink("--rule"), width: 1 },
    ticks: { show: false },
    border: { show: true, stroke, width: 1 },
  };
}

/* A candidate's line, as it is drawn. */
function swatch(group) {
  const { colour, dashes } = group.style ?? group;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [key, value] of Object.entries({ viewBox: "0 0 26 8", class: "line", "aria-hidden": "true" })) svg.setAttribute(key, value);
  const drawn = { x1: 0, x2: 26, y1: 4, y2: 4, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dashes.map((d) => 2 * d).join(" ") };
  for (const [key, value] of Object.entries(drawn)) line.setAttribute(key, value);
  svg.append(line);
  return svg;
}

function tableOf(headings, rows, caption) {
  const head = element("tr", {}, ...headings.map((text) => element("th", { scope: "col", class: "number" }, text)));
  const body = rows.map((row) =>
    element("tr", {}, ...row.map(({ value, text, detail }, index) => {
      const cell = element(index ? "td" : "th", index ? { class: "number" } : { class: "number", scope: "row" }, text);
      if (value !== null) cell.dataset.value = value;
      if (detail) cell.append(element("span", { class: "detail" }, detail));
      return cell;
    })),
  );
  return element("table", {}, element("caption", { class: "unseen" }, caption), element("thead", {}, head), element("tbody", {}, ...body));
}
