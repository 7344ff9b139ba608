// SPDX-License-Identifier: MIT
// The site: what the hash says is shown, so each view has a permanent link. Data come by script elements, as a page from
// a disk can load nothing else; names in them are a stranger's and become text alone.
"use strict";
(() => {
  const held = new Map(), waiting = new Map();
  window.rtq = (key, value) => {
    held.set(key, value);
    (waiting.get(key) || []).forEach(([done]) => done(value));
    waiting.delete(key);
  };
  const load = (key, file) => {
    if (held.has(key)) return Promise.resolve(held.get(key));
    return new Promise((done, failed) => {
      const others = waiting.get(key);
      waiting.set(key, [...(others || []), [done, failed]]);
      if (others) return;
      const script = element("script", { src: `data/${file}.js` });
      script.onerror = () => {
        waiting.delete(key);
        failed(new Error(`data/${file}.js is missing: write the site again`));
      };
      document.head.append(script);
    });
  };

  const get = (id) => document.getElementById(id);
  const OUTCOMES = ["none", "met", "not met", "undecided", "indicative", "no requirement"];
  const SIGNS = ["", "✓ met", "✗ not met", "? undecided", "~ indicative", "– no requirement"];
  const KINDS = ["none", "met", "failed", "open", "none", "none"];
  const SHOWN_VERSIONS = 6, AT_ONCE = 50, SMALL = 12, WEEK_MS = 7 * 86400e3;
  let index, verdicts, changes, table = [], more = AT_ONCE, asked = 0;

  const state = () => new URLSearchParams(location.hash.slice(1));
  const address = (parts) => `#${new URLSearchParams(Object.entries(parts).filter(([, value]) => value))}`;
  function put(parts) {
    const next = state();
    for (const [name, value] of Object.entries(parts)) value ? next.set(name, value) : next.delete(name);
    history.replaceState(null, "", `#${next}`);
    show();
  }
  const figureOf = () => {
    const wanted = index.figures.findIndex(([name]) => name === state().get("figure"));
    return Math.max(0, wanted);
  };
  const heatOf = (n) => load(`heat ${n}`, index.figures[n][1]).then((heat) => {
    heat.octets ??= Uint8Array.from(atob(heat.data), (letter) => letter.charCodeAt(0));
    return heat;
  });
  const title = (row) => `${index.systems[row[1]][0]}, ${index.systems[row[1]][1]}`;
  const whole = (row) => `${title(row)}: ${index.cells[row[2]]}`;
  const linkOf = (row, figure) => address({ row: row[0], figure: index.figures[figure][0] });
  const cellOf = (node, of = "td", kind = "") => element(of, { className: kind }, node);
  const unitOf = (heat, n) => heat.units[heat.unit[n]];

  function tableOf(label, heads, rows) {
    table = [heads, ...rows.map((row) => row.map((cell) => (cell instanceof Node ? cell.textContent : cell[0])))];
    const body = rows.map((row) => element("tr", {}, ...row.map((cell, n) => {
      const [text, kind] = cell instanceof Node ? [cell, ""] : cell;
      const made = cellOf(text, n ? "td" : "th", kind || "");
      if (!n) made.scope = "row";
      return made;
    })));
    const kinds = rows.length ? rows[0].map((cell) => (cell instanceof Node ? "" : cell[1] || "")) : [];
    const classOf = (n) => (kinds[n] || "").split(" ").filter((kind) => kind === "n" || kind === "far").join(" ");
    const head = element("tr", {}, ...heads.map((text, n) => element("th", { scope: "col", className: classOf(n) }, text)));
    const made = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
    const wide = element("div", { className: "wide", tabIndex: 0 }, made);
    wide.setAttribute("role", "region");
    wide.setAttribute("aria-label", label);
    return wide;
  }

  // Rows that the search and the cell leave, in the order that is asked for.
  function chosen(heat) {
    const words = (state().get("q") || "").toLowerCase().split(/\s+/).filter(Boolean), cell = state().get("cell");
    const columns = index.versions.length;
    const rows = index.rows.map((row, n) => [row, n]).filter(([row, n]) => {
      const text = whole(row).toLowerCase();
      return heat.middle[n] !== null && (!cell || index.cells[row[2]] === cell) && words.every((word) => text.includes(word));
    });
    const now = ([, n]) => newest(heat, n, columns)[1];
    const order = state().get("order") || "worst";
    if (order === "worst") rows.sort((a, b) => now(b) - now(a));
    if (order === "level") rows.sort((a, b) => heat.middle[b[1]] - heat.middle[a[1]]);
    if (order === "name") rows.sort((a, b) => whole(a[0]).localeCompare(whole(b[0]), "en", { numeric: true }));
    return rows;
  }
  function newest(heat, n, columns = index.versions.length) {
    for (let x = columns - 1; x >= 0; x--) {
      const octet = heat.octets[n * columns + x];
      if (octet) return [x, octet];
    }
    return [0, 0];
  }

  async function overview(main) {
    const n = figureOf(), [name] = index.figures[n], heat = await heatOf(n), columns = index.versions.length;
    const rows = chosen(heat), byVerdict = state().get("heat") === "verdicts";
    const last = index.rows.map((row) => row[3]).sort().at(-1) || "";
    const since = Number.isNaN(Date.parse(last)) ? "" : new Date(Date.parse(last) - WEEK_MS).toISOString().slice(0, 10);
    const late = rows.filter(([row]) => row[3] >= since)
      .sort((a, b) => newest(heat, b[1])[1] - newest(heat, a[1])[1]).slice(0, SMALL);
    main.append(element("h2", {}, since ? `Worst in the week to ${last}: ${name}` : `Worst: ${name}`));
    main.append(element("p", { className: "note" }, "The newest figure beside the median of all versions of the same series. One campaign is no change: see the trend."));
    const small = late.map(([row, at]) => {
      const [, octet] = newest(heat, at), line = heat.octets.slice(at * columns, (at + 1) * columns);
      const far = octet && octet !== 255 ? percent(Math.exp(((octet - 128) / 100) * (heat.way[at] || 1))) : "";
      const kind = octet > 131 && octet !== 255 ? "worse" : octet < 125 ? "better" : "";
      const link = element("a", { href: linkOf(row, n) }, element("strong", {}, title(row)), element("br"),
        `${quantity(heat.middle[at], unitOf(heat, at))} `, element("span", { className: kind }, far),
        element("br"), index.cells[row[2]], spark([...line]));
      return element("li", {}, link);
    });
    main.append(small.length ? element("ul", { className: "grid" }, ...small) : element("p", {}, "Nothing fits the search."));

    main.append(element("h2", {}, "Every series, every version"));
    const kinds = [["figure", `${name}, beside each series' median`], ["verdicts", "verdicts"]];
    const pick = element("select", { id: "heat-of" }, ...kinds.map(([value, text]) => new Option(text, value, false, (value === "verdicts") === byVerdict)));
    pick.onchange = () => put({ heat: pick.value === "verdicts" ? "verdicts" : "" });
    main.append(element("p", {}, element("label", {}, "Colour: ", pick)));
    const canvas = element("canvas", { className: "heat" });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Heat map: a row is a series, a column a version. The tables below have the same in figures.");
    const octetOf = byVerdict ? ([row], x) => Number(verdicts[row[1]][x]) : ([, at], x) => heat.octets[at * columns + x];
    drawHeat(canvas, rows, columns, octetOf, byVerdict);
    canvas.onclick = (event) => {
      const box = canvas.getBoundingClientRect();
      const row = rows[Math.floor(((event.clientY - box.top) / box.height) * rows.length)];
      if (row) location.hash = linkOf(row[0], n);
    };
    canvas.onmousemove = (event) => {
      const box = canvas.getBoundingClientRect();
      const row = rows[Math.floor(((event.clientY - box.top) / box.height) * rows.length)];
      const version = index.versions[Math.floor(((event.clientX - box.left) / box.width) * columns)];
      canvas.title = row && version ? `${whole(row[0])}; ${version[0]}` : "";
    };
    main.append(canvas);
    const ends = [0, columns >> 1, columns - 1].map((at) => element("span", {}, index.versions[at][0]));
    main.append(element("div", { className: "axis" }, ...(columns > 2 ? ends : ends.slice(columns > 1 ? 1 : 2))));
    const steps = byVerdict ? OUTCOMES.map((text, octet) => [octet, text])
      : [...[-40, -20, -10, 0, 10, 20, 40].map((by) => [128 + by, by ? `${by > 0 ? "worse by" : "better by"} ${Math.abs(by)} %` : "median"]), [0, "not measured"]];
    main.append(element("ul", { className: "legend" }, ...steps.map(([octet, text]) => element("li", {}, swatch(octet, byVerdict), text))));

    main.append(element("h2", {}, "Changes"));
    main.append(changesOf(n, new Set(rows.map(([, at]) => at))));

    main.append(element("h2", {}, "Verdicts and newest figures"));
    const first = Math.max(0, columns - SHOWN_VERSIONS), shown = index.versions.slice(first);
    const lines = rows.slice(0, more).map(([row, at]) => {
      const [x, octet] = newest(heat, at), system = index.systems[row[1]];
      const far = octet && octet !== 255 ? percent(Math.exp(((octet - 128) / 100) * (heat.way[at] || 1))) : "";
      return [
        element("a", { href: address({ board: system[2] }) }, system[0]), [system[1]],
        element("a", { href: linkOf(row, n) }, index.cells[row[2]]),
        [quantity(heat.middle[at], unitOf(heat, at)), "n far"], [`${far} in ${index.versions[x][0]}`, octet > 131 && octet !== 255 ? "worse" : ""],
        ...shown.map((_, by) => {
          const outcome = Number(verdicts[row[1]][first + by]);
          return [SIGNS[outcome], KINDS[outcome]];
        }),
      ];
    });
    const heads = ["board", "candidate", "measured", `${name}, median`, "newest", ...shown.map(([label]) => label)];
    const matrix = tableOf("Verdicts by version", heads, lines);
    [...matrix.querySelectorAll("thead th")].slice(5).forEach((head, by) => {
      head.replaceChildren(element("a", { href: address({ version: shown[by][2], figure: name }) }, shown[by][0]));
    });
    main.append(matrix);
    if (rows.length > more) {
      const button = element("button", { type: "button" }, `${rows.length - more} more`);
      button.onclick = () => { more *= 4; show(); };
      main.append(element("p", {}, button));
    }
    return `${rows.length} of ${index.rows.length} series`;
  }

  function changesOf(figure, among) {
    const box = element("div"), [name] = index.figures[figure];
    const fits = ([, row, of]) => of === figure && among.has(row);
    const wide = changes.together.filter(([, of]) => of === figure);
    for (const [version, , candidate, cell, times, boards] of wide)
      box.append(element("p", {}, `${index.versions[version][0]} moved ${name} of ${candidate} (${cell}) on ${boards} boards together: ${percent(times)} in the median.`));
    const found = changes.changes.filter(fits).slice(0, AT_ONCE);
    const lines = found.map(([version, at, , before, after, fresh, unit, way]) => {
      const row = index.rows[at], kind = way === 0 ? "" : (after > before) === (way > 0) ? "worse" : "better";
      return [
        element("a", { href: address({ version: index.versions[version][2], figure: name }) }, index.versions[version][0]),
        element("a", { href: linkOf(row, figure) }, title(row)), [index.cells[row[2]], "far"],
        [quantity(before, unit), "n far"], [quantity(after, unit), "n far"],
        [before > 0 ? `${percent(after / before)}${kind ? ` ${kind}` : ""}` : "", `n ${kind}`], [fresh ? "new" : "stands"],
      ];
    });
    if (lines.length) box.append(tableOf("Changes", ["version", "series", "measured", "from", "to", "change", "state"], lines));
    else box.append(element("p", {}, `No level of ${name} changed.`));
    const drifting = changes.drifts.filter(([row, of]) => of === figure && among.has(row));
    if (drifting.length) {
      const list = drifting.slice(0, AT_ONCE).map(([at, , before, after, unit]) =>
        element("li", {}, element("a", { href: linkOf(index.rows[at], figure) }, whole(index.rows[at])), `: from ${quantity(before, unit)} to ${quantity(after, unit)}`));
      box.append(element("details", {}, element("summary", {}, `${drifting.length} drift, in no step`), element("ul", {}, ...list)));
    }
    box.append(element("p", { className: "note" }, `A mark is new until ${changes.confirmed} further versions have shown it. All series share 5 % of false marks.`));
    return box;
  }

  const labelsOf = (row) => row.versions.map((id) => (index.versions.find((version) => version[2] === id) || ["?"])[0]);

  function told(row, figure, name) {
    const labels = labelsOf(row), box = element("div"), last = figure.at.length - 1;
    box.append(trend(figure, labels, `${name} of ${row.candidate}, ${row.cell}, over ${labels.length} versions; the table has the same`));
    const marks = figure.changes.map(([at, before, after, mark]) =>
      `${labels[at]}: ${quantity(before, figure.unit)} became ${quantity(after, figure.unit)}${before > 0 ? ` (${percent(after / before)})` : ""}, ${mark === "new" ? "new" : "stands"}`);
    const lines = [...marks];
    if (figure.drift) lines.push(`It drifts, in no step: from ${quantity(figure.drift[0], figure.unit)} to ${quantity(figure.drift[1], figure.unit)}.`);
    if (figure.odd.length) lines.push(`Odd, alone: ${figure.odd.map((at) => labels[at]).join(", ")}.`);
    if (figure.why) lines.push(`Changes: ${figure.why}.`);
    else if (!marks.length && !figure.drift) lines.push("No level changed.");
    if (figure.low[last] === null && figure.noInterval) lines.push(`Newest version: no interval, ${figure.noInterval}.`);
    box.append(element("ul", {}, ...lines.map((text) => element("li", {}, text))));
    return box;
  }

  async function board(main, key, wanted) {
    const found = await load(`board ${key}`, `board-${key}`);
    const rows = Object.entries(found.rows).filter(([id]) => !wanted || id === wanted);
    if (!rows.length) throw new Error("no such series on this board");
    main.append(element("h2", {}, found.title));
    if (wanted) main.append(element("p", {}, element("a", { href: address({ board: key }) }, "All of this board")));
    const csv = [["candidate", "measured", "figure", "version", "began", "value", "low", "high", "unit", "runs", "campaign"]];
    for (const [id, row] of rows) {
      const labels = labelsOf(row), [outcome, headline, reason] = row.verdict;
      main.append(element("h3", {}, `${row.candidate}: ${row.cell}`));
      const kind = KINDS[Math.max(0, OUTCOMES.indexOf(outcome))];
      main.append(element("p", {}, "Verdict in ", labels.at(-1), ": ", element("strong", { className: kind }, outcome || "none"), reason ? ` (${reason})` : "", row.kernel ? `; kernel ${row.kernel}` : ""));
      if (headline) main.append(element("p", { className: "note" }, headline));
      for (const text of row.problems) main.append(element("p", { className: "failed" }, `Decides nothing: ${text}`));
      const names = Object.keys(row.figures), asks = state().get("figure");
      const shown = wanted ? (names.includes(asks) ? [asks, ...names.filter((name) => name !== asks)] : names) : names.slice(0, 2);
      for (const name of shown) {
        main.append(element(wanted ? "h3" : "h4", {}, wanted ? name : element("a", { href: address({ row: id, figure: name }) }, name)));
        main.append(told(row, row.figures[name], name));
      }
      for (const name of names) {
        const figure = row.figures[name];
        figure.at.forEach((at, n) => csv.push([row.candidate, row.cell, name, labels[at], row.began[at], figure.value[n], figure.low[n] ?? "", figure.high[n] ?? "", figure.unit, figure.runs[n], found.campaigns[row.campaign[at]][0]]));
      }
      main.append(element("details", { open: Boolean(wanted) }, element("summary", {}, "Versions, reports, commands"), runsOf(found, row, labels)));
    }
    table = csv;
    if (found.facts.length) {
      const facts = found.facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
      main.append(element("h3", {}, `Facts of the board, ${found.since.slice(0, 10)}`), element("dl", { className: "facts" }, ...facts));
    }
    return `${rows.length} series of ${found.title}`;
  }

  // A reader pastes the command: a stranger's name is one word of it.
  const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

  function runsOf(found, row, labels) {
    const names = Object.keys(row.figures);
    const lines = labels.map((label, at) => {
      const [campaign, , report] = found.campaigns[row.campaign[at]];
      const values = names.map((name) => {
        const figure = row.figures[name], n = figure.at.indexOf(at);
        return [n < 0 ? "–" : quantity(figure.value[n], figure.unit), "n"];
      });
      return [
        element("a", { href: address({ version: row.versions[at], figure: names[0] }) }, label), [row.began[at]], ...values,
        report ? element("a", { href: report }, `report of ${campaign}`) : [campaign],
        element("code", {}, `rtqual explain ${shellWord(`${campaign}:${row.candidate}`)}`),
      ];
    }).reverse();
    const kept = table;
    const made = tableOf(`Versions of ${row.candidate}`, ["version", "measured on", ...names, "report", "why was it late"], lines);
    table = kept;
    return made;
  }

  async function version(main, key) {
    const place = index.versions.findIndex(([, , id]) => id === key);
    if (place < 0) throw new Error("no such version");
    const n = figureOf(), [name] = index.figures[n];
    const found = await load(`version ${key}`, `version-${key}`), heat = await heatOf(n);
    const rows = chosen(heat).filter(([row]) => found[row[0]]);
    main.append(element("h2", {}, `Version ${index.versions[place][0]}`));
    main.append(element("p", { className: "note" }, `First measured ${index.versions[place][1] || "at an unknown time"}; ${name} on each board.`));
    const lines = rows.map(([row, at]) => {
      const [value, low, high, kernel] = found[row[0]][name] || [null, null, null, ""], outcome = Number(verdicts[row[1]][place]);
      const unit = unitOf(heat, at), octet = heat.octets[at * index.versions.length + place];
      const times = value !== null && heat.middle[at] > 0 ? value / heat.middle[at] : null;
      return [
        element("a", { href: address({ board: index.systems[row[1]][2] }) }, index.systems[row[1]][0]), [index.systems[row[1]][1]],
        element("a", { href: linkOf(row, n) }, index.cells[row[2]]), [quantity(value, unit), "n"],
        [low === null && high === null ? "none" : `${quantity(low, unit)} to ${quantity(high, unit)}`, "n"],
        [times === null ? "" : percent(times), octet > 131 && octet !== 255 ? "n worse" : "n"], [kernel || ""],
        [SIGNS[outcome], KINDS[outcome]],
      ];
    });
    main.append(tableOf("All boards of this version", ["board", "candidate", "measured", name, "95 % interval", "beside its median", "kernel", "verdict"], lines));
    return `${rows.length} series of version ${index.versions[place][0]}`;
  }

  async function show() {
    const mine = ++asked, at = state(), main = element("main", { id: "main" });
    for (const [id, name] of [["search", "q"], ["cell", "cell"], ["order", "order"]]) {
      const wanted = at.get(name) || (id === "order" ? "worst" : "");
      if (get(id).value !== wanted) get(id).value = wanted;
    }
    get("figure").value = index.figures[figureOf()][0];
    let text;
    try {
      const row = at.get("row") && index.rows.find(([id]) => id === at.get("row"));
      if (at.get("row") && !row) throw new Error("no such series: it may have another name now");
      const key = row ? index.systems[row[1]][2] : at.get("board");
      if (at.get("version")) text = await version(main, at.get("version"));
      else if (key) {
        if (!index.systems.some((system) => system[2] === key)) throw new Error("no such board: it may have another name now");
        text = await board(main, key, row && row[0]);
      } else text = await overview(main);
    } catch (error) {
      table = [];
      main.append(element("p", { className: "failed" }, `Cannot be shown: ${error.message}`));
      text = "nothing";
    }
    if (mine !== asked) return;
    get("main").replaceWith(main);
    get("status").textContent = `Shown: ${text}.`;
    document.title = main.querySelector("h2") && (at.get("row") || at.get("board") || at.get("version"))
      ? `${main.querySelector("h2").textContent} - Lab` : "Lab";
  }

  // A sheet takes a cell that begins with one of these for a formula.
  const quoted = (cell) => {
    const text = String(cell ?? ""), safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const asCsv = () => table.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";

  async function begin() {
    [index, verdicts, changes] = await Promise.all(["index", "verdicts", "changes"].map((name) => load(name, name)));
    get("figure").append(...index.figures.map(([name]) => new Option(name, name)));
    get("cell").append(new Option("everything", ""), ...index.cells.map((name) => new Option(name, name)));
    get("figure").onchange = (event) => put({ figure: event.target.value });
    get("cell").onchange = (event) => put({ cell: event.target.value });
    get("order").onchange = (event) => put({ order: event.target.value });
    get("search").oninput = (event) => put({ q: event.target.value });
    get("controls").onsubmit = (event) => event.preventDefault();
    get("csv").onclick = () => {
      const url = URL.createObjectURL(new Blob([asCsv()], { type: "text/csv" }));
      element("a", { href: url, download: "lab.csv" }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    };
    get("controls").hidden = false;
    if (index.leftOut) get("told").append(` ${index.leftOut} further figures are not shown.`);
    addEventListener("hashchange", () => { show().then(() => scrollTo(0, 0)); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
    let wide = innerWidth >= 700;
    addEventListener("resize", () => { if (wide !== innerWidth >= 700) { wide = !wide; show(); } });
    window.rtqCsv = asCsv;
    await show();
  }
  begin().catch((error) => { get("status").textContent = `Cannot be shown: ${error.message}`; });
})();
