"use strict";
// The page draws what the program says (`state`), and asks again while something is under way.
(() => {
  const $ = (id) => document.getElementById(id);
  const EVERY = 400; // milliseconds between two questions
  const FIRST_ROWS = 25;
  const MOST_TICKS = 500;
  const FILES = {
    "outliers.csv": "the flagged rows",
    "episodes.csv": "stretches that went wrong",
    "report.html": "the page to show to others",
    "model.skops": "the model, to predict with",
  };
  let state = {};
  let suspects = { columns: [], rows: [], answers: {} };
  let allRows = false;
  let timer = null;

  const el = (tag, props = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), props);
    made.append(...children);
    return made;
  };
  const count = (number) => number.toLocaleString("en");
  const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
  const digits = (value) => String(Number(value.toPrecision(4)));
  const say = (text) => { if ($("said").textContent !== text) $("said").textContent = text; };
  const complain = (text) => {
    $("fault").textContent = text;
    $("fault").hidden = !text;
    if (text) $("fault").scrollIntoView({ block: "nearest" });
  };

  // ---- the program ---------------------------------------------------------------------------
  const ask = async (path, options = {}) => {
    let answer;
    try {
      answer = await fetch(path, options);
    } catch {
      throw new Error("The program does not answer. Has it been ended? Start 'robustscn app' again.");
    }
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    let words = text;
    try { words = JSON.parse(text).error; } catch { /* plain text */ }
    throw new Error(words);
  };
  const ordered = async (work) => { // a button was pressed: show what came of it
    complain("");
    try {
      draw(await work());
      return true;
    } catch (fault) {
      complain(fault.message);
      return false;
    }
  };
  const order = (what, asked = {}) => ordered(() => ask(`do/${what}`, { method: "POST", body: JSON.stringify(asked) }));
  const refresh = async () => {
    try {
      draw(await ask("state"));
    } catch (fault) {
      complain(fault.message);
    }
  };

  // ---- drawing -------------------------------------------------------------------------------
  const drawn = {};
  const changed = (name, value) => {
    const now = JSON.stringify(value);
    const is = drawn[name] !== now;
    drawn[name] = now;
    return is;
  };
  const draw = (now) => {
    const before = state;
    if (now.number < before.number) return; // overtaken on its way
    state = now;
    const fitting = Boolean(now.fit?.stage);
    if (changed("table", now.table)) drawTable();
    if (changed("look", now.look)) drawLook(before);
    if (changed("fit", now.fit)) drawFit(before);
    if (changed("result", now.result)) drawResult(before);
    drawCounts();
    for (const id of ["fit", "refit", "rest-wrong", "forget"]) $(id).disabled = fitting;
    clearTimeout(timer);
    if (fitting || now.look?.running) timer = setTimeout(refresh, EVERY);
  };
  const arrive = (id) => { // bring a step that has just appeared to whoever reads or listens
    $(id).scrollIntoView({ block: "start" });
    $(id).focus({ preventScroll: true });
  };

  const drawTable = () => {
    $("table-there").hidden = $("reading").hidden = !state.table;
    $("drop").classList.toggle("there", Boolean(state.table));
    if (!state.table) return;
    $("table-name").textContent = state.table.name;
    $("table-size").textContent = state.table.size;
    for (const field of $("reading-form").elements) {
      const given = state.table.reading[field.name];
      if (field.name) field.value = Array.isArray(given) ? given.join(", ") : given ?? "";
    }
  };

  const drawLook = (before) => {
    const look = state.look;
    $("looking").hidden = !look?.running;
    $("step-choose").hidden = !look || look.running || Boolean(look.error);
    if (!look) return;
    if (look.running) return say("Looking at the columns");
    if (look.error) {
      $("reading").open = true;
      return complain(look.error);
    }
    $("shape").textContent = `${plural(look.rows, "row")} of ${plural(look.columns.length, "column")}.`;
    drawFindings(look);
    drawColumns(look);
    if (before.look?.running) {
      say(`The table has ${$("shape").textContent}`);
      arrive("h-choose");
    }
  };
  const listed = (items) => {
    const list = el("ul", { className: "found" });
    list.append(...items.map((each) => el("li", {}, each)));
    return list;
  };
  // Where the command line would be told of a mark for nothing, there is a button.
  const finding = ({ column, words, where }) => {
    const [text, mark] = words.split(/ \(--na (.*) reads it so\)/);
    const line = el("span", { textContent: `${column} ${text} ${where && `(${where})`}` });
    if (!mark) return line;
    const button = el("button", { type: "button", textContent: `Read ${mark} as nothing` });
    button.addEventListener("click", () => {
      const na = [...(state.table.reading.na ?? []), mark];
      order("look", { ...state.table.reading, na });
    });
    line.append(button);
    return line;
  };
  const drawFindings = (look) => {
    const found = look.findings.map(finding);
    $("findings").replaceChildren();
    if (found.length) $("findings").append(el("h3", { textContent: "Odd about the columns" }), listed(found.slice(0, 12)));
    else $("findings").append(el("p", { className: "note", textContent: "Nothing is odd about the columns." }));
    const more = [...found.slice(12), ...look.notes];
    if (more.length) {
      $("findings").append(el("details", {}, el("summary", { textContent: `${count(more.length)} more ${more.length === 1 ? "note" : "notes"}` }), listed(more)));
    }
  };
  const option = (name) => el("option", { value: name, textContent: name });
  const drawColumns = (look) => {
    const numbers = look.columns.filter((each) => each.kind === "number");
    const others = look.columns.filter((each) => each.kind !== "number");
    const target = $("c-target");
    target.replaceChildren(...numbers.map((each) => option(each.name)));
    if (others.length) {
      target.append(el("optgroup", { label: "no plain numbers" }, ...others.map((each) => option(each.name))));
    }
    const chosen = state.result?.choice;
    target.value = chosen?.target ?? look.guess ?? look.columns[0].name;
    for (const select of document.querySelectorAll("[data-columns]")) {
      select.replaceChildren(el("option", { value: "", textContent: select.dataset.columns }), ...look.columns.map((each) => option(each.name)));
      select.value = chosen?.[select.name] ?? (select.name === "reviewed" && !chosen ? look.reviewed ?? "" : "");
    }
    const ticks = look.columns.slice(0, MOST_TICKS).map((each) => {
      const box = el("input", { type: "checkbox", value: each.name, checked: !chosen?.drop?.includes(each.name) });
      const why = each.why || (each.kind === "number" ? "" : each.kind);
      return el("label", {}, box, ` ${each.name} `, el("span", { className: "note", textContent: why }));
    });
    $("ticks").replaceChildren(...ticks);
    if (look.columns.length > MOST_TICKS) {
      $("ticks").append(el("p", { className: "note", textContent: `All of the other ${count(look.columns.length - MOST_TICKS)} are used.` }));
    }
    drawGuess();
  };
  const drawGuess = () => {
    const target = $("c-target").value;
    $("guessed").textContent = target === state.look?.guess && !state.result ? "A guess: is this what should follow from the others?" : "";
    for (const box of $("ticks").querySelectorAll("input")) box.parentElement.hidden = box.value === target;
  };

  const drawFit = (before) => {
    const fit = state.fit;
    const running = Boolean(fit?.stage);
    $("step-fit").hidden = !fit;
    $("under-way").hidden = !running;
    if (!fit) return;
    const words = stageWords(fit);
    $("stage").textContent = words;
    if (running || before.fit?.stage) say(words);
    if (running) {
      const share = fit.stage === "gathering" ? 1 : fit.progress?.share;
      if (share === undefined) $("bar").removeAttribute("value");
      else $("bar").value = share;
      if (!before.fit?.stage && before.table) arrive("h-fit");
    } else if (fit.error && !fit.cancelled) complain(fit.error);
  };
  const stageWords = ({ stage, progress, cancelled, error }) => {
    if (!stage) return cancelled ? "Cancelled; nothing is left of it." : error ? "It could not be learned." : "Done.";
    if (cancelled) return "Ending …";
    if (stage === "gathering" || progress?.share === 1) return "Writing the results …";
    if (!progress) return "Reading the table …";
    const what = progress.fit === "hold-out" ? "Checking on rows kept back: round" : "Round";
    return `${what} ${progress.round} of ${progress.rounds}`;
  };

  // What went wrong together is answered together, rows that were not flagged included.
  const episode = (sentence, number) => {
    const buttons = el("span", { className: "whole" });
    for (const [word, label] of [["wrong", "All wrong"], ["fine", "All fine"], ["unsure", "Unsure"]]) {
      const button = el("button", { type: "button", textContent: label });
      button.setAttribute("aria-label", `${label}: ${sentence}`);
      button.addEventListener("click", () => answerEpisode(number, word));
      buttons.append(button);
    }
    return el("span", {}, `${sentence} `, buttons);
  };
  const answerEpisode = async (number, word) => {
    if (!(await order("answer-episode", { episode: number, word }))) return;
    try {
      suspects = await ask("suspects");
    } catch (fault) {
      return complain(fault.message);
    }
    drawSuspects();
    say($("count").textContent);
  };

  const drawResult = async (before) => {
    const result = state.result;
    for (const id of ["step-result", "step-again", "step-keep", "step-report"]) $(id).hidden = !result;
    if (!result) {
      $("report").removeAttribute("src");
      return;
    }
    drawTiles(result);
    $("episodes").replaceChildren();
    if (result.episodes.length) {
      $("episodes").append(el("h3", { textContent: "Episodes" }), listed(result.episodes.slice(0, 12).map(episode)));
    }
    $("command").textContent = result.command;
    $("lines").replaceChildren(...result.lines.flatMap(([name, text]) => [el("dt", { textContent: name }), el("dd", { textContent: text })]));
    $("lines").append(...result.notes.flatMap((text) => [el("dt", { textContent: "note" }), el("dd", { textContent: text })]));
    const links = Object.keys(FILES).filter((name) => name in result.files).map((name) => link(`files/${name}`, name, `${FILES[name]}, ${result.files[name]}`));
    links.push(link("files/reviewed", "the table", "with your answers as a column"));
    $("files").replaceChildren(...links);
    $("report").src = `report?fit=${result.number}`;
    allRows = false;
    try {
      suspects = await ask("suspects");
    } catch (fault) {
      return complain(fault.message);
    }
    drawSuspects();
    if (before.fit?.stage) {
      say(`Done: ${count(result.flagged)} of ${count(result.rows)} rows were flagged`);
      arrive("h-result");
    }
  };
  const link = (href, name, words) =>
    el("li", {}, el("a", { href, download: "" }, el("strong", { textContent: name }), el("span", { className: "note", textContent: words })));
  const drawTiles = (result) => {
    const tiles = [
      ["Rows learned from", count(result.rows), result.with_answers ? "with your answers" : `in ${result.seconds.toFixed(1)} s`],
      ["Flagged rows", count(result.flagged), `${(100 * result.share).toFixed(1)} % of them`],
    ];
    if (result.error !== null) {
      const error = typeof result.error === "number" ? digits(result.error) : Object.values(result.error).map(digits).join(", ");
      tiles.push(["Half of the rows are predicted to within", error, result.error_of]);
    }
    $("tiles").replaceChildren(...tiles.map(([name, value, note]) =>
      el("div", { className: "tile" }, el("dt", { textContent: name }), el("dd", { textContent: value }), el("dd", { className: "small", textContent: note }))));
  };

  // ---- suspects and answers --------------------------------------------------------------------
  const drawSuspects = () => {
    const { columns, rows, more } = suspects;
    $("review").hidden = !rows.length;
    $("about-suspects").textContent = rows.length
      ? "The most suspicious first. Which of them are really wrong? What you do not know stays unsure." +
        (more ? ` The list goes on in outliers.csv, with ${count(more)} more.` : "")
      : "There is none.";
    const [first, ...others] = columns.map((each) => el("th", { scope: "col", textContent: each.label, className: each.number ? "number" : "" }));
    if (first) $("head").replaceChildren(first, el("th", { scope: "col", textContent: "your answer" }), ...others);
    $("rows").replaceChildren(...(allRows ? rows : rows.slice(0, FIRST_ROWS)).map(suspectRow));
    $("all").hidden = rows.length <= FIRST_ROWS;
    $("all").textContent = allRows ? `Show the first ${FIRST_ROWS}` : `Show all ${count(rows.length)}`;
    drawCounts();
  };
  const suspectRow = ({ at, texts }) => {
    const cells = texts.map((text, k) => el("td", { textContent: text, className: suspects.columns[k].number ? "number" : "" }));
    const row = el("tr", { className: suspects.answers[at] ?? "" });
    const label = `${suspects.columns[0].label} ${texts[0]}`;
    row.append(cells[0], el("td", {}, at === null ? "its name is not unique" : answerOf(at, label, row)), ...cells.slice(1));
    return row;
  };
  const answerOf = (at, label, row) => {
    const group = el("div", { className: "answer" });
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-label", `Is ${label} wrong?`);
    for (const word of ["wrong", "fine", "unsure"]) {
      const input = el("input", { type: "radio", name: `answer-${at}`, value: word, checked: (suspects.answers[at] ?? "unsure") === word });
      input.addEventListener("change", () => {
        mark({ [at]: word });
        row.className = suspects.answers[at] ?? "";
      });
      group.append(el("label", { className: word }, input, el("span", { textContent: word })));
    }
    return group;
  };
  const mark = (given) => {
    for (const [at, word] of Object.entries(given)) {
      if (word === "unsure") delete suspects.answers[at];
      else suspects.answers[at] = word;
    }
    return order("answer", given);
  };
  const drawCounts = () => {
    const { wrong = 0, fine = 0 } = state.answers ?? {};
    const open = suspects.rows.filter(({ at }) => at !== null && !(at in suspects.answers)).length;
    const words = `${count(wrong)} wrong, ${count(fine)} fine, ${count(open)} not marked`;
    if ($("count").textContent !== words) $("count").textContent = words;
  };

  // ---- what the user does ------------------------------------------------------------------------
  const take = (file) => {
    if (!file) return;
    if (file.size > state.limit) return complain(`${file.name} is larger than this page takes: keep the rows and columns that matter.`);
    say(`Taking ${file.name}`);
    ordered(() => ask(`table?name=${encodeURIComponent(file.name)}`, { method: "PUT", body: file }));
  };
  $("file").addEventListener("change", () => { take($("file").files[0]); $("file").value = ""; });
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      $("drop").classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
  $("reading-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value.trim()));
    if (asked.na) asked.na = asked.na.split(",").map((each) => each.trim());
    order("look", asked);
  });
  $("c-target").addEventListener("change", drawGuess);
  $("choice").addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value));
    const target = $("c-target").value;
    asked.drop = [...$("ticks").querySelectorAll("input:not(:checked)")].map((box) => box.value).filter((name) => name !== target);
    order("fit", asked);
  });
  $("cancel").addEventListener("click", () => { $("stage").textContent = "Ending …"; order("cancel"); });
  $("refit").addEventListener("click", () => order("refit"));
  $("all").addEventListener("click", () => { allRows = !allRows; drawSuspects(); });
  $("rest-wrong").addEventListener("click", async () => {
    const rest = suspects.rows.filter(({ at }) => at !== null && !(at in suspects.answers));
    if (rest.length) await mark(Object.fromEntries(rest.map(({ at }) => [at, "wrong"])));
    drawSuspects();
  });
  $("forget").addEventListener("click", async () => {
    if (await order("forget")) suspects.answers = {};
    drawSuspects();
  });
  $("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText($("command").textContent);
    $("copy").textContent = "Copied";
    setTimeout(() => { $("copy").textContent = "Copy"; }, 2000);
  });
  $("end").addEventListener("click", async () => {
    if (!window.confirm("End the program? What is not downloaded will be gone.")) return;
    clearTimeout(timer);
    try { await ask("end", { method: "POST" }); } catch { /* it is gone already */ }
    document.querySelector("main").replaceChildren(el("h1", { textContent: "Ended" }), el("p", { textContent: "You can close this page." }));
  });
  refresh();
})();
