"use strict";
// The figures: columns and colours are put into what Python left open, then Plotly draws.
(() => {
  const { page, values, shown, number, beyond, plausible } = report;
  const root = document.documentElement;

  // ---- what hovering shows -------------------------------------------------------------------
  // Plotly reads tags in its texts, so what comes from the data is escaped.
  const literal = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const hover = (targetOf) => (i) => {
    const q = targetOf(i);
    return [
      `<b>${literal(page.rowName)} ${literal(shown("row", i))}</b>`,
      ...(page.time ? [`${literal(page.time)}: ${shown("time", i)}`] : []),
      `observed ${literal(page.targets[q])}: ${shown(`observed-${q}`, i)}`,
      `predicted: ${shown(`expected-${q}`, i)}`,
      ...(page.plausible ? [`plausible: ${plausible(q, i)}`] : []),
      `deviations: ${beyond(values(`deviations-${q}`)[i])}`,
      `weight: ${number(values("weight")[i], 3)}`,
      ...page.raw.map((raw, k) => `${literal(raw)}: ${literal(shown(`raw-${k}`, i))}`),
    ].join("<br>");
  };
  const hoverOf = (name) => {
    const which = name.replace("hover-", "");
    return hover(which === "worst" ? (i) => values("worst")[i] : () => Number(which));
  };

  // Ten thousand marks take half a second: the first figure begins with fewer, evenly chosen among
  // the trusted rows, which come first, and the strangest rows, which come last.
  const FIRST_MARKS = 2500;
  const everyRow = Array.from({ length: page.rows }, (_, i) => i);
  const fewRows = () => {
    const step = Math.ceil(page.rows / FIRST_MARKS);
    return everyRow.filter((i) => i % step === 0 || i >= page.rows - FIRST_MARKS / 2);
  };
  let rows = everyRow;
  const reference = (name) => {
    if (name.startsWith("hover-")) return rows.map(hoverOf(name));
    return rows === everyRow ? values(name) : rows.map((i) => values(name)[i]);
  };

  // ---- figures -----------------------------------------------------------------------------
  let target = 0;
  let palette = null;
  const colour = (name) => palette.getPropertyValue(name).trim();
  const resolved = (spec) => {
    if (Array.isArray(spec)) return spec.map(resolved);
    if (spec === null || typeof spec !== "object") return spec;
    if ("ref" in spec) return reference(spec.ref);
    if ("css" in spec) return colour(spec.css);
    return Object.fromEntries(Object.entries(spec).map(([key, value]) => [key, resolved(value)]));
  };
  const buttons = [["toImage", "zoom2d", "pan2d", "resetScale2d"]];
  const settingsOf = (place) => ({
    displaylogo: false,
    responsive: true,
    displayModeBar: place.dataset.figure.startsWith("input-") ? false : "hover",
    modeBarButtons: buttons,
  });
  // A finger that scrolls the page must not zoom the figure under it.
  const byFinger = window.matchMedia("(pointer: coarse)").matches;
  const draw = (place) => {
    palette = getComputedStyle(root);
    const choices = page.figures[place.dataset.figure];
    const figure = resolved(choices[Math.min(target, choices.length - 1)]);
    if (place.style.width) figure.layout.width = place.clientWidth;
    if (byFinger) figure.layout.dragmode = false;
    figure.layout.uirevision = target; // what the reader zoomed to stays, unless the target changes
    place.dataset.drawn = rows === everyRow ? "yes" : "partly";
    return Plotly.react(place, figure.data, figure.layout, settingsOf(place));
  };
  const places = [...document.querySelectorAll("[data-figure]")];
  const tellNotes = () => document.querySelectorAll("[data-note]").forEach((note) => {
    note.textContent = page.notes[note.dataset.note][target];
  });

  // ---- order: what is in sight first, the rest when the browser has time ----------------------
  const later = (work) => (window.requestIdleCallback ? requestIdleCallback(work, { timeout: 500 }) : setTimeout(work, 30));
  const pending = () => places.filter((place) => place.dataset.drawn !== "yes");
  const inSight = (place) => {
    const { top, bottom } = place.getBoundingClientRect();
    return top < window.innerHeight && bottom > 0;
  };
  const drawRest = () => {
    const [next] = pending();
    if (!next) { performance.mark("robustscn-complete"); return; }
    draw(next);
    later(drawRest);
  };
  const drawAll = () => {
    pending().filter(inSight).forEach(draw);
    later(drawRest);
  };
  report.redraw = () => {
    places.forEach((place) => { place.dataset.drawn = "no"; });
    drawAll();
  };

  // ---- begin ---------------------------------------------------------------------------------
  tellNotes();
  document.getElementById("target")?.addEventListener("change", (event) => {
    target = Number(event.target.value);
    tellNotes();
    report.redraw();
  });
  if (page.rows > FIRST_MARKS) rows = fewRows();
  drawAll();
  rows = everyRow;
  performance.mark("robustscn-interactive");

  // ---- paper: light, all figures, all rows in sight, at the width of the sheet -----------------
  const PAPER_WIDTH = 680;
  let screenTheme = null;
  window.addEventListener("beforeprint", () => {
    screenTheme = root.dataset.theme;
    root.dataset.theme = "light";
    for (const place of places) {
      const share = place.closest(".grid") ? 0.48 : 1;
      place.style.width = `${Math.round(PAPER_WIDTH * share)}px`;
      draw(place);
    }
  });
  window.addEventListener("afterprint", () => {
    places.forEach((place) => { place.style.width = ""; });
    report.setTheme(screenTheme);
  });
})();
