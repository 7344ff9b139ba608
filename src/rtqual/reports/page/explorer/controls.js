/* SPDX-License-Identifier: MIT */
/* The explorer: what is shown, the controls that choose it, and the panels below them. */

const NAMES = { histogram: "Histogram", above: "Share above a value", percentiles: "Percentiles" };
const KEYS =
  "Drag across a plot to zoom into it, double-click to see all again. With a plot in focus: left and right arrow read " +
  "its values, Page Up, Page Down, Home and End go further, plus and minus zoom, Shift with an arrow moves along, " +
  "0 or Escape shows all.";
const CLOSEST = 4; // grains of the data: nothing is seen between them

function explorer(root) {
  const shown = DATA.places.findIndex((place) => place.loads.some((load) => load.limits.length));
  const chosen = { percentiles: new Map(), loads: new Set(), place: null };
  const state = {
    view: "histogram",
    range: [1, 10],
    candidates: new Set(DATA.candidates.keys()),
    zoomed: () => state.range[0] !== chosen.place.ends[0] || state.range[1] !== chosen.place.ends[1],
    percentiles: () => ladder(chosen.place).filter((name) => chosen.percentiles.get(name) ?? true),
  };
  let panels = [];
  const extent = element("output", { class: "extent" });
  const boxes = element("div", { class: "boxes" });
  const stage = element("div", { class: "panels" });
  const timing = element("ul", { class: "notes" });
  const thinning = element("p", { class: "detail" },
    `Of a group with more than ${number(DATA.most)} distinct values the ${number(Math.floor(DATA.most / 2))} largest are shown one by one; ` +
      "those below are merged with their neighbours, at the largest of them. No sample is left out.");

  function draw() {
    panels.forEach((panel) => {
      panel.root.hidden = !chosen.loads.has(panel.load);
      if (!panel.root.hidden) panel.draw();
    });
    const nothing = !chosen.loads.size || !chosen.place.loads.some((load) => load.groups.some((g) => state.candidates.has(g.candidate)));
    stage.classList.toggle("nothing", nothing);
    extent.textContent = `${span(...state.range, chosen.place.unit)}${state.zoomed() ? "" : " (all)"}`;
  }

  const scaled = { to: (x) => (chosen.place.logarithmic ? Math.log(x) : x), from: (x) => (chosen.place.logarithmic ? Math.exp(x) : x) };

  /* A stretch of the axis, kept within its ends and as wide as there is something to see. */
  function zoomTo([low, high]) {
    const [least, most] = chosen.place.ends;
    const finest = Math.min(CLOSEST * Math.min(...chosen.place.loads.map((load) => load.grain)), most - least);
    if (high - low < finest) [low, high] = [(low + high - finest) / 2, (low + high + finest) / 2];
    state.range = [Math.max(low, least), Math.min(high, most)];
    if (state.range[1] - state.range[0] < finest * 0.999) state.range = low < least ? [least, least + finest] : [most - finest, most];
    draw();
    announce(state.zoomed() ? `Shown: ${extent.textContent}` : "All is shown");
  }

  const commands = {
    zoomTo,
    /* The other loads are read at the same value. A percentile has its own value in each. */
    pointed(at, x) {
      if (state.view !== "percentiles") panels.filter((panel) => panel !== at && !panel.root.hidden).forEach((panel) => panel.follow(x));
    },
    reset: () => zoomTo(chosen.place.ends),
    zoom(factor, anchor) {
      const [low, high] = state.range.map(scaled.to);
      const at = anchor === null || !inRange(state, anchor) ? (low + high) / 2 : scaled.to(anchor);
      const next = [at - (at - low) * factor, at + (high - at) * factor].map(scaled.from);
      zoomTo(factor > 1 && next[0] <= chosen.place.ends[0] && next[1] >= chosen.place.ends[1] ? chosen.place.ends : next);
    },
    pan(by) {
      const [low, high] = state.range.map(scaled.to);
      const [least, most] = chosen.place.ends.map(scaled.to);
      const shift = Math.min(Math.max(by * (high - low), least - low), most - high);
      zoomTo([low + shift, high + shift].map(scaled.from));
    },
  };

  /* A group of checkboxes or radio buttons. */
  function choices(legend, type, options, change) {
    const inputs = options.map(({ label, sign = [], checked, value }) => {
      const input = element("input", { type, autocomplete: "off", ...(type === "radio" ? { name: "explorer-view" } : {}) });
      input.checked = checked;
      input.addEventListener("change", () => change(value, input.checked));
      return element("label", {}, input, ...sign, label);
    });
    return element("fieldset", {}, element("legend", {}, legend), ...inputs);
  }

  function toggle(set) {
    return (value, on) => {
      if (on) set.add(value);
      else set.delete(value);
      draw();
    };
  }

  function rebox() {
    const { place } = chosen;
    const measured = [...new Set(place.loads.flatMap((load) => load.groups.map((group) => group.candidate)))];
    const parts = [
      choices("View", "radio", Object.entries(NAMES).map(([value, label]) => ({ value, label, checked: state.view === value })), (value) => {
        state.view = value;
        percentileBoxes.hidden = value !== "percentiles";
        draw();
      }),
      choices("Candidates", "checkbox", measured.map((value) => {
        const { name, title } = DATA.candidates[value];
        return { value, label: title === name ? name : `${name} (${title})`, sign: [swatch(DATA.candidates[value])], checked: state.candidates.has(value) };
      }), toggle(state.candidates)),
      choices("Loads", "checkbox", place.loads.map((load) => ({ value: load, label: load.title, checked: chosen.loads.has(load) })), toggle(chosen.loads)),
    ];
    const percentileBoxes = choices("Percentiles", "checkbox", ladder(place).map((name) => ({ value: name, label: name, checked: chosen.percentiles.get(name) ?? true })), (name, on) => {
      chosen.percentiles.set(name, on);
      draw();
    });
    percentileBoxes.hidden = state.view !== "percentiles";
    boxes.replaceChildren(...parts, percentileBoxes);
  }

  function go(place) {
    panels.forEach((panel) => panel.plot?.destroy());
    chosen.place = place;
    chosen.loads = new Set(place.loads);
    state.range = place.ends;
    panels = place.loads.map((load) => new Panel(place, load, state, commands));
    stage.replaceChildren(...panels.map((panel) => panel.root));
    timing.replaceChildren(...place.timing.map(([mark, text]) => element("li", {}, element("sup", {}, mark), ` ${text}`)));
    thinning.hidden = !place.loads.some((load) => load.groups.some(({ merged }) => merged > 1));
    rebox();
    draw();
  }

  const select = element("select", { id: "explorer-place", autocomplete: "off" }, ...DATA.places.map((place, index) => element("option", { value: index }, place.title)));
  select.value = Math.max(shown, 0);
  select.addEventListener("change", () => go(DATA.places[select.value]));
  const button = (label, text, act) => {
    const made = element("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", act);
    return made;
  };
  const bar = element("div", { class: "bar", role: "group", "aria-label": "Zoom" },
    button("Zoom in", "+", () => commands.zoom(0.5, null)),
    button("Zoom out", "−", () => commands.zoom(2, null)),
    button("Move to smaller values", "←", () => commands.pan(-0.25)),
    button("Move to larger values", "→", () => commands.pan(0.25)),
    button("Show all", "All", commands.reset),
    extent,
  );
  const controls = element("form", { "aria-label": "What the plots show" }, element("p", {}, element("label", { for: "explorer-place" }, "Measured by "), select), boxes, bar);
  controls.addEventListener("submit", (event) => event.preventDefault());
  root.append(
    element("p", {}, "The samples of the plots that follow. Percentiles and intervals are those of the tables."),
    controls,
    stage,
    timing,
    thinning,
    element("p", { id: "explorer-keys", class: "detail" }, KEYS),
  );
  root.hidden = false;
  const link = element("li", { class: "explorer-link" }, element("a", { href: "#explorer" }, "Explore the samples"));
  document.querySelector(`nav a[href="#${root.parentElement.id}"]`)?.parentElement.after(link);
  go(DATA.places[select.value]);

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width || !root.clientWidth) return;
    width = root.clientWidth;
    draw();
  }).observe(root);
}

/* All percentiles that a place has, rising. */
function ladder(place) {
  const names = place.loads.flatMap((load) => load.groups.flatMap((group) => Object.keys(group.percentiles)));
  return [...new Set(names)].sort((a, b) => a.slice(1) - b.slice(1));
}

explorer(document.getElementById("explorer"));
