// The practice page: it shows what symattn, in worker.js, draws and marks, and keeps what was typed in this browser.
const at = (id) => document.getElementById(id);
const page = await fetch("page.json").then((response) => {
  if (!response.ok) throw new Error(`page.json: ${response.status}`);
  return response.json();
}).catch((error) => {
  at("unopened").append(`(${error.message})`);
  throw error;
});
at("unopened").remove();
const COURSE = page.course;
window.practice = page; // with figures, for whoever measures

// ---------------------------------------------------------------- what is kept

const KEY = "symattn-practice";
const MOST = 40; // sheets whose answers are kept

function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

// A learning platform keeps what it is told; a browser keeps the rest.
const platform = page.scorm ? (await import("./scorm.js")).connected(COURSE) : null;
const progress = { best: {}, sheets: {}, ...stored(), ...platform?.resumed() };

function keep() {
  const names = Object.keys(progress.sheets);
  for (const name of names.slice(0, Math.max(0, names.length - MOST))) delete progress.sheets[name];
  try {
    localStorage.setItem(KEY, JSON.stringify(progress));
  } catch { /* private windows keep nothing */ }
  if (platform && !platform.keep(progress, nameOf)) tell(say("cut"));
}

const better = (best) => {
  for (const [recipe, percent] of Object.entries(best ?? {})) {
    if (Number.isFinite(percent)) progress.best[recipe] = Math.max(progress.best[recipe] ?? 0, Math.min(100, percent));
  }
};

// What another tab of this browser keeps stays, whatever is written here; on the same sheet, box by box.
window.addEventListener("storage", ({ key }) => {
  if (key !== KEY) return;
  const { best, sheets } = stored();
  const here = sheet?.recipe === undefined ? "" : nameOf(sheet.recipe, sheet.seed);
  const own = progress.sheets[here];
  progress.sheets = { ...progress.sheets, ...sheets, ...(own && { [here]: own }) };
  if (here && sheets?.[here]) join(here, sheets[here], own);
  better(best);
  choices();
});

// What another tab wrote where nothing was written here since; else what stands here stays, and undo has the other.
function join(name, theirs, shared = []) {
  if (theirs.length !== fields().length) return;
  fields().forEach((field, k) => {
    if (theirs[k] === (shared[k] ?? valueOf(field))) return;
    if (valueOf(field) !== (shared[k] ?? "")) changes[sheet.name].push([[k, theirs[k]]]);
    else {
      fill(field, theirs[k]);
      if (before) before[k] = theirs[k];
    }
  });
  progress.sheets[name] = values();
  offerUndo();
}

// ---------------------------------------------------------------- languages

const known = Object.keys(page.words);
const preferred = [progress.language, ...navigator.languages.map((l) => l.slice(0, 2))];
let language = preferred.find((l) => known.includes(l)) ?? "en";
const recipeOf = (topic, level) => topic.recipe + (level ? ` --level ${level}` : "");
const nameOf = (recipe, seed) => `${recipe} --seed ${seed}`;
const say = (name, values = {}) =>
  page.words[language][name].replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all);
const inLanguage = (texts) => texts[language] ?? texts.en;

function translate() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  document.title = at("title").textContent = inLanguage(COURSE.title);
}

// ---------------------------------------------------------------- Python

const worker = new Worker(page.scorm ? "worker.js?packed" : "worker.js", { type: "module" });
const waiting = new Map();
let asked = 0;

worker.onmessage = ({ data }) => {
  if (data.failed) return broken(data.failed);
  if (data.ready) return undefined;
  const { resolve, reject } = waiting.get(data.id);
  waiting.delete(data.id);
  const answer = JSON.parse(data.answer);
  page.milliseconds = data.milliseconds;
  return answer.error ? reject(new Error(answer.error)) : resolve(answer);
};
worker.onerror = () => broken("worker.js");

// Without symattn there is no sheet, whatever the address says: which file is missing, and whom to tell.
function broken(why) {
  const [, file] = /(\S+): \d+$/.exec(why) ?? [];
  const text = file ? say("lost_file", { file }) : `${say("failed")} (${why})`;
  page.broken = Object.assign(new Error(text), { broken: true });
  for (const { reject } of waiting.values()) reject(page.broken);
  waiting.clear();
  tell(text);
}

function ask(verb, values) {
  return new Promise((resolve, reject) => {
    if (page.broken) return void reject(page.broken);
    waiting.set((asked += 1), { resolve, reject });
    worker.postMessage({ id: asked, request: JSON.stringify({ verb, ...values }) });
  });
}

function tell(text = "") {
  at("status").textContent = text;
}

// ---------------------------------------------------------------- the address

const percent = (total, of) => Math.floor((100 * total) / Math.max(1, of));
const fresh = () => Math.floor(Math.random() * 1e6);

function stated() {
  const hash = new URLSearchParams(location.hash.slice(1));
  if (known.includes(hash.get("language"))) language = hash.get("language");
  const { recipe, seed, language: _, ...others } = Object.fromEntries(hash);
  if (Object.keys(others).length || !/^\d{1,15}$/.test(seed ?? "0") || (recipe ?? seed) === "" || (seed && !recipe)) {
    return { recipe: location.hash.slice(1), seed: 0 }; // mistyped or cut off: Python says so
  }
  if (recipe) return { recipe, seed: seed === undefined ? fresh() : +seed };
  return progress.last ?? { recipe: recipeOf(COURSE.topics[0], COURSE.topics[0].levels[0]), seed: fresh() };
}

function found(recipe) {
  for (const topic of COURSE.topics) {
    for (const level of topic.levels.length ? topic.levels : [""]) {
      if (recipeOf(topic, level) === recipe) return { topic, level };
    }
  }
  const topic = COURSE.topics.find((one) => one.recipe === recipe) ?? null;
  return { topic, level: "standard" }; // what a recipe has that names no level
}

// ---------------------------------------------------------------- the sheet

let sheet = null; // what Python said of it, with its recipe and seed; an exercise has none
let above = null; // the sheet that an exercise was made from, with all that stands on it
let chosen = null; // the box in which somebody wrote last
const changes = {}; // what was typed on each sheet since the page was opened, for undo
let hinted = "";
let before = null; // what stood in every field when somebody went to the last of them

const fields = () => [...at("sheet").querySelectorAll("input, textarea")];
const valueOf = (field) => (/checkbox|radio/.test(field.type) ? (field.checked ? "x" : "") : field.value);
const values = () => fields().map(valueOf);

function fill(field, value) {
  if (/checkbox|radio/.test(field.type)) field.checked = value === "x";
  else field.value = value;
}

// The sheet as it would be saved: what was typed stands in it.
function written() {
  const copy = at("sheet").cloneNode(true);
  const typed = values();
  copy.querySelectorAll("input, textarea").forEach((field, k) => {
    if (/checkbox|radio/.test(field.type)) field.toggleAttribute("checked", typed[k] === "x");
    else if (field.tagName === "TEXTAREA") field.textContent = typed[k];
    else field.setAttribute("value", typed[k]);
  });
  copy.querySelectorAll(".tools, .said, .sign, .reading, svg").forEach((element) => element.remove());
  return copy.innerHTML;
}

// A sheet that somebody asks for; the browser's own button goes back to the one before.
const turnTo = (wanted) => draw(wanted, "pushState");

const draw = ({ recipe, seed }, step = "replaceState") => during(async () => {
  const drawn = await ask("draw", { recipe, seed, language }).catch(lost);
  if (!drawn) return;
  show({ ...drawn, recipe, seed });
  above = null;
  progress.last = { recipe, seed };
  keep();
  history[step](null, "", `#${new URLSearchParams({ recipe, seed })}`);
  restore(progress.sheets[nameOf(recipe, seed)]);
  choices();
}, say(page.milliseconds === undefined ? "loading" : "drawing"));

function show(drawn) {
  begin(drawn);
  at("sheet").innerHTML = drawn.html;
  for (const name of ["sheet", "tools"]) at(name).hidden = false;
  for (const name of ["result", "lost"]) at(name).hidden = true;
  parts().forEach(furnish);
  gather();
}

// What is given, again: a phone keeps it in view while boxes are filled in.
function gather() {
  const given = [];
  let block = at("sheet").querySelector(".part")?.previousElementSibling;
  for (; block && !block.matches("h1, h2, h3, h4, .head"); block = block.previousElementSibling) given.unshift(block);
  at("given").replaceChildren(...given.map((one) => one.cloneNode(true)));
  at("given").hidden = true;
  at("givens").hidden = !given.some((one) => one.querySelector("math"));
  at("givens").setAttribute("aria-expanded", "false");
}

// An address that leads to no sheet: what to do, and for whoever made it, why.
function lost(error) {
  if (error.broken) throw error;
  const { message } = error;
  at("why").textContent = message;
  at("lost").hidden = false;
  for (const name of ["sheet", "tools", "result", "given"]) at(name).hidden = true;
}

function begin(drawn) {
  sheet = drawn;
  page.sheet = drawn.name;
  changes[sheet.name] ??= [];
  chosen = null;
  hinted = "";
  before = null;
  offerUndo();
  const exercise = drawn.recipe === undefined;
  at("back").hidden = !exercise;
  for (const name of ["link", "save"]) at(name).hidden = exercise; // it has no address
}

// Each part, from its heading to the next, becomes a section with its own buttons.
function parts() {
  const headings = [...at("sheet").querySelectorAll("[data-part]")];
  return headings.map((heading) => {
    const section = document.createElement("section");
    section.className = "part";
    section.dataset.number = heading.dataset.part;
    heading.before(section);
    let next = heading;
    while (next && (next === heading || !(next.matches("[data-part]") || next.querySelector("[data-part]")))) {
      const after = next.nextSibling;
      section.append(next);
      next = after;
      while (next && next.nodeType !== Node.ELEMENT_NODE) next = next.nextSibling;
    }
    heading.id = `part-${heading.dataset.part}`;
    return section;
  });
}

function furnish(section) {
  const number = section.dataset.number;
  const tools = document.createElement("div");
  tools.className = "tools";
  const buttons = [["check_line", checkLine], ["hint", hint], ["again", exercise]];
  for (const [name, action] of buttons) {
    if (name !== "check_line" && !sheet.parts[number - 1]?.hints) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.say = name;
    button.textContent = say(name);
    button.setAttribute("aria-describedby", `part-${number}`);
    button.hidden = name === "again";
    button.onclick = () => action(section);
    tools.append(button);
  }
  const said = document.createElement("div");
  said.className = "said";
  said.setAttribute("role", "status");
  section.append(tools, said);
  for (const field of section.querySelectorAll("input, textarea")) {
    field.dataset.part = number;
    const place = field.closest("td[data-row]");
    if (place) Object.assign(field.dataset, { row: place.dataset.row, column: place.dataset.column });
    field.dataset.label = field.getAttribute("aria-label") ?? "";
    if (field.type === "text") Object.assign(field, { autocomplete: "off", spellcheck: false, inputMode: "text" });
    else if (field.tagName === "TEXTAREA") field.placeholder = say("working");
  }
}

function restore(typed) {
  if (typed?.length === fields().length) fields().forEach((field, k) => fill(field, typed[k]));
}

// One thing after the other, each told where it fails; buttons keep the focus.
let turn = Promise.resolve();

function during(work, text = "") {
  turn = turn.then(async () => {
    tell(text);
    at("sheet").setAttribute("aria-busy", "true");
    try {
      await work();
      if (text) tell();
    } catch (error) {
      tell(error.message);
    }
    at("sheet").removeAttribute("aria-busy");
  });
  return turn;
}

// ---------------------------------------------------------------- what was typed

at("sheet").addEventListener("focusin", ({ target }) => {
  if (!target.matches("input, textarea")) return;
  before = values();
  if (target.dataset.row && target.type === "text") chosen = target;
  echo(target);
});
at("sheet").addEventListener("input", ({ target }) => {
  unsign(target);
  offerUndo();
  echo(target);
  if (sheet.recipe === undefined) return;
  const name = nameOf(sheet.recipe, sheet.seed);
  const theirs = stored().sheets?.[name]; // a tab that slept has not heard of it
  if (theirs) join(name, theirs, progress.sheets[name]);
  delete progress.sheets[name]; // to the end, as the latest
  progress.sheets[name] = values();
  keep();
});
at("sheet").addEventListener("change", remember);

// Fields that are no longer as they were when the last of them was gone to, with what stood there: choosing an answer
// changes two.
function changed() {
  const now = values();
  return (before ?? []).flatMap((value, k) => (value === now[k] ? [] : [[k, value]]));
}

function remember() {
  const last = changed();
  if (last.length) changes[sheet.name].push(last);
  before = values();
}

function offerUndo() {
  at("undo").disabled = changes[sheet.name].length === 0 && changed().length === 0;
}

function undo() {
  if (changed().length) remember();
  const last = changes[sheet.name].pop();
  if (!last) return;
  for (const [k, value] of last) fill(fields()[k], value);
  before = values();
  for (const [k] of last) fields()[k].dispatchEvent(new Event("input", { bubbles: true }));
  fields()[last[0][0]].focus();
}

// Below the boxes stands how the one that has the focus is read, where that does not go without saying.
const PLAIN = /^\s*[-−+]?\d*\s*$/;
const PAUSE = 400; // milliseconds after which nobody is in the middle of a number
let pause = 0;

function echo(field) {
  clearTimeout(pause);
  const boxes = field.dataset.row && field.type === "text" ? field.closest(".wide") : null;
  const there = at("sheet").querySelector(".reading");
  if (there && there.parentElement !== boxes) there.remove();
  if (!boxes) return;
  const place = boxes.querySelector(".reading") ?? document.createElement("p");
  place.className = "reading";
  place.setAttribute("aria-live", "polite");
  if (PLAIN.test(field.value)) return void place.replaceChildren();
  boxes.append(place);
  pause = setTimeout(async () => {
    const { html, says } = await ask("reading", {
      sheet: sheet.sheet, page: written(), part: +field.dataset.part, row: +field.dataset.row, column: +field.dataset.column,
    }).catch(() => ({ html: "", says: "" }));
    if (document.activeElement !== field) return;
    place.innerHTML = html;
    if (html) place.prepend(`${say("read_as")} `);
    else place.textContent = says;
  }, PAUSE);
}

// Arrows and Enter go from box to box, as in a spreadsheet.
at("sheet").addEventListener("keydown", (event) => {
  const field = event.target;
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.shiftKey) {
    event.preventDefault();
    undo();
    return;
  }
  if (!field.dataset.row || event.ctrlKey || event.metaKey || event.altKey) return;
  const atStart = field.type !== "text" || (field.selectionStart === 0 && field.selectionEnd === 0);
  const atEnd = field.type !== "text" || field.selectionStart === field.value.length;
  const all = field.type === "text" && field.selectionStart === 0 && field.selectionEnd === field.value.length;
  const ways = {
    ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: (atStart || all) && [0, -1], ArrowRight: (atEnd || all) && [0, 1],
    Enter: [event.shiftKey ? -1 : 1, 0],
  };
  const way = ways[event.key];
  if (!way) return;
  event.preventDefault();
  const next = neighbour(field, way, event.key === "Enter");
  next?.focus();
  if (next?.type === "text") next.select();
});

function neighbour(field, [down, right], wraps) {
  const boxes = [...field.closest("table").querySelectorAll("input[data-row]")];
  const box = (row, column) => boxes.find((b) => +b.dataset.row === row && +b.dataset.column === column);
  const rows = Math.max(...boxes.map((b) => +b.dataset.row));
  const columns = Math.max(...boxes.map((b) => +b.dataset.column));
  let [row, column] = [+field.dataset.row + down, +field.dataset.column + right];
  for (; row >= 1 && row <= rows && column >= 1 && column <= columns; row += down, column += right) {
    if (box(row, column)) return box(row, column); // what is printed is passed over
  }
  if (!wraps) return null;
  const order = boxes.toSorted((a, b) => a.dataset.column - b.dataset.column || a.dataset.row - b.dataset.row);
  const here = order.indexOf(field) + down;
  if (order[here]) return order[here];
  const every = fields().filter((f) => f.dataset.row);
  const edge = down > 0 ? every.indexOf(boxes.at(-1)) + 1 : every.indexOf(boxes[0]) - 1;
  return every[edge] ?? null;
}

// ---------------------------------------------------------------- marking

function unsign(field) {
  const place = field.closest("td[data-row]");
  place?.removeAttribute("data-state");
  place?.removeAttribute("data-sign");
  field.removeAttribute("aria-invalid");
  if (field.dataset.label) field.setAttribute("aria-label", field.dataset.label);
  field.closest(".part")?.querySelector(".tools > .sign")?.remove();
}

function sign(marked, section) {
  const number = section.dataset.number;
  const verdicts = marked.entries.filter((entry) => String(entry.part) === number);
  section.querySelectorAll("input, textarea").forEach(unsign);
  const loose = [];
  for (const entry of verdicts) {
    const place = section.querySelector(`td[data-row="${entry.row}"][data-column="${entry.column}"]`);
    const field = place?.querySelector("input");
    if (!field) {
      loose.push(entry);
    } else if (entry.state !== "missing") {
      place.dataset.state = entry.state;
      place.dataset.sign = entry.sign;
      field.setAttribute("aria-label", `${field.dataset.label}: ${entry.says}`);
      if (entry.state === "wrong" || entry.state === "unreadable") field.setAttribute("aria-invalid", "true");
    }
  }
  const worst = ["unreadable", "wrong", "follows", "implied", "correct"].map((s) => loose.find((e) => e.state === s));
  const shown = worst.find(Boolean);
  if (shown) {
    const mark = document.createElement("span");
    mark.className = "sign";
    mark.dataset.state = shown.state;
    mark.textContent = `${shown.sign} ${shown.says}`;
    section.querySelector(".tools").append(mark);
  }
  const failed = marked.events.some((event) => String(event.part) === number);
  const again = section.querySelector('[data-say="again"]');
  if (again) again.hidden = !failed;
}

function said(section, html) {
  const place = section.querySelector(".said");
  place.innerHTML = html;
  return place;
}

function checkLine(section) {
  return during(async () => {
    const marked = await ask("check", { sheet: sheet.sheet, page: written(), part: +section.dataset.number });
    sign(marked, section);
    said(section, marked.html);
  });
}

function checkAll() {
  return during(async () => {
    const marked = await ask("mark", { sheet: sheet.sheet, page: written() });
    for (const section of at("sheet").querySelectorAll(".part")) {
      sign(marked, section);
      said(section, "");
    }
    at("report").innerHTML = marked.html;
    const done = percent(marked.total, marked.of);
    at("score").textContent = say("score", { total: marked.total, of: marked.of });
    at("result").hidden = false;
    if (sheet.recipe !== undefined) scored(done);
    at("result").focus({ preventScroll: true });
    at("result").scrollIntoView();
    page.marked = marked;
  });
}

function scored(done) {
  progress.best[sheet.recipe] = Math.max(progress.best[sheet.recipe] ?? 0, done);
  keep();
  const { topic } = found(sheet.recipe);
  at("next").hidden = !topic || done < COURSE.pass || topic === COURSE.topics.at(-1);
  choices();
}

function hint(section) {
  return during(async () => {
    const first = section.querySelector('input[type="text"][data-row]');
    const box = section.contains(chosen) ? chosen : first;
    if (!box) return void said(section, say("choose_box"));
    const { part, row, column } = box.dataset;
    const place = `${sheet.sheet} ${part} ${row} ${column}`;
    const level = hinted.startsWith(`${place}:`) ? +hinted.split(":")[1] + 1 : 1;
    const told = await ask("hint", { sheet: sheet.sheet, page: written(), part: +part, row: +row, column: +column, level });
    hinted = `${place}:${told.level}`;
    const onward = document.activeElement?.dataset.say === "more";
    const title = document.createElement("p");
    const strong = document.createElement("strong");
    strong.textContent = `${say("hint_for", { row, column })} (${told.level}/${told.of})`;
    title.append(strong);
    const body = said(section, told.html);
    body.prepend(title);
    if (told.level < told.of) {
      const more = document.createElement("button");
      more.type = "button";
      more.dataset.say = "more";
      more.textContent = say("more");
      more.onclick = () => {
        chosen = box;
        hint(section);
      };
      body.append(more);
      if (onward) more.focus();
    } else if (onward) {
      section.querySelector('[data-say="hint"]').focus();
    }
    page.hint = told;
  });
}

function exercise(section) {
  return during(async () => {
    const drawn = await ask("exercise", { sheet: sheet.sheet, page: written(), part: +section.dataset.number });
    if (!drawn.html) return void said(section, say("no_exercise"));
    if (!above) {
      const said = ["sheet", "report"].map((id) => [id, [...at(id).childNodes]]);
      above = { sheet, language, said, score: at("score").textContent, marked: !at("result").hidden, section };
      history.pushState("exercise", "");
    }
    show(drawn);
    at("sheet").querySelector("input")?.focus({ preventScroll: true });
    at("sheet").scrollIntoView();
  });
}

// As it was left, with ticks and hints; in another language it is drawn anew.
function back() {
  const whole = above;
  if (!whole) return;
  above = null;
  if (whole.language !== language) return void draw(whole.sheet);
  begin(whole.sheet);
  for (const [id, nodes] of whole.said) at(id).replaceChildren(...nodes);
  at("score").textContent = whole.score;
  at("result").hidden = !whole.marked;
  whole.section.querySelector('[data-say="again"]').focus();
}

// ---------------------------------------------------------------- choices

const current = () => (above?.sheet ?? sheet ?? stated()).recipe;

function choices() {
  const { topic, level } = found(current());
  const buttons = () => [...at("topics").querySelectorAll("button")];
  const focused = buttons().indexOf(document.activeElement);
  at("topics").replaceChildren(...COURSE.topics.map((one) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    const best = Math.max(...[...one.levels, ""].map((l) => progress.best[recipeOf(one, l)] ?? -1));
    button.append(inLanguage(one.title));
    if (best >= 0) {
      const mark = document.createElement("span");
      mark.className = "best";
      mark.textContent = best >= COURSE.pass ? `✓ ${best} %` : `${best} %`;
      mark.title = say("best", { percent: best });
      button.append(mark);
    }
    if (one === topic) button.setAttribute("aria-current", "true");
    button.onclick = () => turnTo({ recipe: recipeOf(one, one.levels[0]), seed: fresh() });
    item.append(button);
    return item;
  }));
  buttons()[focused]?.focus({ preventScroll: true });
  const here = at("topics").querySelector("[aria-current]");
  if (here) at("topics").scrollLeft = here.parentElement.offsetLeft - at("topics").offsetLeft; // on a phone it is a line
  at("level").replaceChildren(...(topic?.levels ?? []).map((name) => new Option(say(name), name, false, name === level)));
  at("level").value = level; // nothing, where a student may not choose it
  at("level-of").hidden = !topic || topic.levels.length < 2;
}

function offer(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

at("skip").onclick = () => (fields()[0] ?? at("new")).focus();
at("level").onchange = ({ target }) => turnTo({ recipe: recipeOf(found(current()).topic, target.value), seed: fresh() });
at("new").onclick = () => turnTo({ recipe: current(), seed: fresh() });
at("next").onclick = () => {
  const topic = COURSE.topics[COURSE.topics.indexOf(found(sheet.recipe).topic) + 1];
  turnTo({ recipe: recipeOf(topic, topic.levels[0]), seed: fresh() });
};
at("back").onclick = () => history.back();
at("check").onclick = checkAll;
at("start").onclick = () => turnTo({ recipe: recipeOf(COURSE.topics[0], COURSE.topics[0].levels[0]), seed: fresh() });
at("givens").onclick = () => {
  at("given").hidden = !at("given").hidden;
  at("givens").setAttribute("aria-expanded", String(!at("given").hidden));
};
at("undo").onclick = undo;
at("print").onclick = () => window.print();
at("link").onclick = async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    tell(say("copied"));
  } catch { // where there is no clipboard, as without https, it is there to be copied
    tell(location.href);
  }
};
at("save").onclick = () => during(async () => {
  const { name, text } = await ask("attempt", { sheet: sheet.sheet, page: written() });
  offer(name, text, "text/markdown");
});
at("export").onclick = () => offer("practice.json", JSON.stringify({ [KEY]: 1, ...progress }), "application/json");
at("import").onclick = () => at("file").click();
at("file").onchange = async ({ target }) => {
  try {
    const read = JSON.parse(await target.files[0].text());
    if (read[KEY] !== 1) throw new Error(KEY);
    take(read);
    await goOn(read.last);
    tell(say("imported"));
  } catch {
    tell(say("not_progress"));
  }
  target.value = "";
};

function take(read) {
  better(read.best);
  for (const [name, typed] of Object.entries(read.sheets ?? {})) {
    if (Array.isArray(typed) && !progress.sheets[name]?.some(Boolean)) progress.sheets[name] = typed.map(String);
  }
  keep();
  choices();
}

// The sheet that somebody worked on last, elsewhere.
function goOn({ recipe, seed } = {}) {
  if (typeof recipe === "string" && Number.isSafeInteger(seed)) return turnTo({ recipe, seed });
  if (sheet?.recipe !== undefined) restore(progress.sheets[nameOf(sheet.recipe, sheet.seed)]);
  return undefined;
}

at("language").append(...known.map((code) => new Option(page.languages[code], code)));
at("language").onchange = ({ target }) => {
  language = progress.language = target.value;
  keep();
  translate();
  choices();
  if (sheet?.recipe !== undefined) draw(sheet);
};
window.addEventListener("popstate", ({ state }) => {
  if (above && state !== "exercise") during(back);
});
window.addEventListener("hashchange", () => {
  const next = stated();
  if (next.recipe !== sheet?.recipe || next.seed !== sheet?.seed) draw(next);
});

const first = stated();
at("language").value = language;
translate();
choices();
await draw(first);
page.drawn = performance.now();
if (page.service && "serviceWorker" in navigator) navigator.serviceWorker.register("service.js").catch(() => {});
