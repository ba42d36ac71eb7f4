"use strict";
// Words, theme and table: all that works before the library of the figures is read.
const report = (() => {
  const page = JSON.parse(document.getElementById("payload").textContent);
  const root = document.documentElement;
  const FIRST_ROWS = 20;
  const report = { page, redraw: () => {} };

  // ---- columns: typed arrays out of base64 -------------------------------------------------
  const unpack = (packed) => {
    const text = atob(packed.i4 ?? packed.f4 ?? packed.f8);
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer;
    if (packed.kind === "text") {
      return { kind: "text", values: Array.from(new Int32Array(bytes), (code) => packed.levels[code]) };
    }
    const values = packed.f4 ? new Float32Array(bytes) : new Float64Array(bytes);
    // Of a column of dates all are written to the day, the minute or the second.
    const whole = (unit) => values.every((value) => Number.isNaN(value) || value % unit === 0);
    const length = packed.kind === "date" ? (whole(86400000) ? 10 : whole(60000) ? 16 : 19) : undefined;
    return { kind: packed.kind, values, length };
  };
  const columns = Object.fromEntries(Object.entries(page.columns).map(([name, packed]) => [name, unpack(packed)]));
  const values = (name) => columns[name].values;

  const shown = (name, i) => {
    const { kind, values } = columns[name];
    const value = values[i];
    if (kind === "text") return value;
    if (Number.isNaN(value)) return "–";
    if (kind === "date") return new Date(value).toISOString().slice(0, columns[name].length).replace("T", " ");
    return number(value, 6);
  };
  const number = (value, digits) => {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
    if (digits >= 6 && Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
    return String(Number(value.toPrecision(digits))).replace("-", "−");
  };

  // How far beyond a hundred deviations a row is says nothing more.
  const beyond = (value) => (Math.abs(value) > 100 ? (value > 0 ? ">100" : "<−100") : number(value, 3));

  // Between which values clean targets lie.
  const plausible = (q, i) => `${shown(`low-${q}`, i)} to ${shown(`high-${q}`, i)}`;

  // ---- theme -------------------------------------------------------------------------------
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => { try { return localStorage.getItem("robustscn-theme"); } catch { return null; } };
  const setTheme = (name) => {
    root.dataset.theme = name;
    button.textContent = name === "dark" ? "Light theme" : "Dark theme";
    button.setAttribute("aria-pressed", String(name === "dark"));
    report.redraw();
  };
  button.addEventListener("click", () => {
    const name = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("robustscn-theme", name); } catch { /* a file in a mail may not remember */ }
    setTheme(name);
  });
  system.addEventListener("change", () => { if (!remembered()) setTheme(system.matches ? "dark" : "light"); });

  // ---- the table of suspect rows -------------------------------------------------------------
  const worst = (name) => (i) => values(`${name}-${values("worst")[i]}`)[i];
  const numeric = (label, of, digits) => ({ label, of, text: (i) => number(of(i), digits), number: true });
  const stored = (label, name) => ({
    label, of: (i) => values(name)[i], text: (i) => shown(name, i), number: columns[name].kind !== "text",
  });
  // Not the difference of two rounded numbers, unless there is no scale to multiply by.
  const residual = (i) => {
    const scale = page.scales[values("worst")[i]];
    return scale > 0 ? worst("deviations")(i) * scale : worst("observed")(i) - worst("expected")(i);
  };
  const header = [
    stored(page.rowName, "row"),
    ...(page.time ? [stored(page.time, "time")] : []),
    ...(page.targets.length > 1
      ? [{ label: "target", of: (i) => page.targets[values("worst")[i]], text: (i) => page.targets[values("worst")[i]] }]
      : []),
    numeric("observed", worst("observed"), 6),
    numeric("expected", worst("expected"), 6),
    ...(page.plausible ? [{ label: "plausible", of: worst("low"), text: (i) => plausible(values("worst")[i], i), number: true }] : []),
    numeric("residual", residual, 4),
    { ...numeric("deviations", worst("deviations"), 3), text: (i) => beyond(worst("deviations")(i)) },
    numeric("weight", (i) => values("weight")[i], 2),
    ...page.raw.map((name, k) => stored(name, `raw-${k}`)),
  ];
  const lines = Array.from({ length: page.suspects }, (_, k) => {
    const i = page.rows - 1 - k;
    const texts = header.map((column) => column.text(i));
    return { i, texts, found: texts.join("\n").toLowerCase().replaceAll("−", "-") };
  });
  const table = { sorted: null, falling: false, all: false };
  const compare = (a, b) => {
    if (typeof a === "string") return a.localeCompare(b, undefined, { numeric: true });
    return Number.isNaN(a) - Number.isNaN(b) || a - b;
  };
  const cell = (text, isNumber) => {
    const td = document.createElement("td");
    td.textContent = text;
    if (isNumber) td.className = "number";
    return td;
  };
  const all = document.getElementById("all");
  const search = document.getElementById("search");
  const fillTable = () => {
    const wanted = search.value.trim().toLowerCase().replaceAll("−", "-");
    let rows = lines.filter((line) => line.found.includes(wanted));
    if (table.sorted !== null) {
      const { of } = header[table.sorted];
      const sign = table.falling ? -1 : 1;
      rows = [...rows].sort((a, b) => sign * compare(of(a.i), of(b.i)));
    }
    const visible = table.all ? rows : rows.slice(0, FIRST_ROWS);
    document.querySelector("tbody").replaceChildren(...visible.map((line) => {
      const tr = document.createElement("tr");
      tr.append(...line.texts.map((text, k) => cell(text, header[k].number)));
      return tr;
    }));
    document.querySelectorAll("th").forEach((th, k) => {
      th.setAttribute("aria-sort", table.sorted !== k ? "none" : table.falling ? "descending" : "ascending");
    });
    const more = page.allSuspects - page.suspects;
    document.getElementById("count").textContent =
      `${visible.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} ` +
      (wanted ? "matching rows shown" : "flagged rows shown") +
      (more > 0 ? `; ${more.toLocaleString("en")} less suspicious ones are not in this page` : "");
    all.hidden = rows.length <= FIRST_ROWS;
    all.textContent = table.all ? `Show the first ${FIRST_ROWS}` : `Show all ${rows.length.toLocaleString("en")}`;
  };
  const makeTable = () => {
    if (!lines.length) return;
    document.getElementById("suspects").hidden = false;
    document.querySelector("thead tr").append(...header.map((column, k) => {
      const th = document.createElement("th");
      const sort = document.createElement("button");
      th.scope = "col";
      if (column.number) th.className = "number";
      sort.type = "button";
      sort.textContent = column.label;
      sort.addEventListener("click", () => {
        table.falling = table.sorted === k && !table.falling;
        table.sorted = k;
        fillTable();
      });
      th.append(sort);
      return th;
    }));
    search.addEventListener("input", fillTable);
    all.addEventListener("click", () => { table.all = !table.all; fillTable(); });
    fillTable();
  };

  // ---- begin ---------------------------------------------------------------------------------
  setTheme(remembered() ?? (system.matches ? "dark" : "light"));
  makeTable();
  performance.mark("robustscn-table");
  return Object.assign(report, { values, shown, number, beyond, plausible, setTheme });
})();
