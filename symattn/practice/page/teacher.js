// The page for teachers: it shows what symattn, in worker.js, makes of what is chosen, and gives it away as files.
import { Asked } from "./teacher-asked.js";
import { Engine } from "./teacher-engine.js";
import { Examples } from "./teacher-examples.js";
import { Exam } from "./teacher-exam.js";
import { Form } from "./teacher-form.js";
import { Marking, SECONDS } from "./teacher-marking.js";
import { Offered } from "./teacher-offered.js";
import { at, bytesOf, dropped, made, save } from "./teacher-parts.js";
import { Board } from "./teacher-whatif.js";

const page = await fetch("teacher.json").then((response) => {
  if (!response.ok) throw new Error(`teacher.json: ${response.status}`);
  return response.json();
}).catch((error) => {
  at("unopened").append(`(${error.message})`);
  throw error;
});
at("unopened").remove();
window.teacher = page; // with figures, for whoever measures

const KEY = "symattn-teacher";
const PATIENCE = 1000; // milliseconds before a search for numbers is told of
const PAUSE = 250; // after the last change of the form

// ---------------------------------------------------------------- languages

const known = Object.keys(page.words);
const stored = (() => {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
})();
let language = [stored.language, ...navigator.languages.map((l) => l.slice(0, 2))].find((l) => known.includes(l)) ?? "en";
const say = (name, values = {}) => (page.words[language][name] ?? name).replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all);
const form = new Form(page.choices, say, (texts) => texts[language] ?? texts.en);

function keep(more) {
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.assign(stored, more)));
  } catch { /* private windows keep nothing */ }
}

function translate() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  document.title = say("title");
  for (const button of document.querySelectorAll("[data-examples]")) {
    button.ariaLabel = `${say("examples")}: ${button.parentElement.querySelector("span").textContent}`;
  }
  at("marking-about").textContent = say("marking_about", { seconds: SECONDS });
  form.translate(page.languages);
  ticks();
}

function ticks() {
  const boxes = (id, items, chosen) => {
    const before = at(id).querySelector("input") ? ticked(id) : chosen;
    const legend = at(id).querySelector("legend");
    at(id).replaceChildren(legend, ...items.map(([name, called]) => {
      const box = made("input", { type: "checkbox", name, checked: before.includes(name) });
      return made("label", {}, box, ` ${called}`);
    }));
  };
  const printed = [page.choices.formats.find(({ name }) => name === "pdf")?.name ?? "html"];
  boxes("solutions", page.choices.solutions.map((name) => [name, say(name)]), ["blank", "key"]);
  boxes("formats", page.choices.formats.map(({ name, called }) => [name, called]), stored.formats ?? printed);
  boxes("exam-formats", page.choices.formats.map(({ name, called }) => [name, called]), printed);
  boxes("banks", page.choices.banks.map(({ name, called }) => [name, called]), stored.banks ?? []);
}

const ticked = (id) => [...at(id).querySelectorAll("input:checked")].map(({ name }) => name);

// ---------------------------------------------------------------- Python

// Which file is missing, and whom to tell.
const engine = new Engine((why) => {
  const [, file] = /(\S+): \d+$/.exec(why) ?? [];
  return file ? say("lost_file", { file }) : `${say("failed")} (${why})`;
});
let current = null; // what Python said of the sheet that is shown
let turn = Promise.resolve();
let wanted = 0;

function tell(text = "", refused = "", notes = []) {
  at("status").replaceChildren(text, ...notes.map((note) => made("span", { className: "note", lang: "en" }, note)));
  at("refused").textContent = refused;
}

const asked = new Asked(say, () => draw());
const offered = new Offered((verb, values) => engine.ask(verb, values), say);
const choice = () => ({ ...form.choice, ask: asked.ask, marks: asked.marks, solutions: ticked("solutions"), printed: at("printed").checked });

// One thing after the other; what takes long is told of, and can be stopped.
function during(work, text = "", patience = "") {
  turn = turn.then(async () => {
    if (text) tell(text);
    const begun = setTimeout(() => {
      at("stop").hidden = false;
      if (patience && page.drawn) tell(patience);
    }, PATIENCE);
    document.querySelector("main").ariaBusy = "true";
    try {
      await work();
      if (text && at("status").textContent === text) tell();
    } catch (error) {
      tell(error.stopped ? say("stopped") : "", error.stopped ? "" : error.message);
    }
    clearTimeout(begun);
    at("stop").hidden = true;
    at("progress").hidden = true;
    document.querySelector("main").ariaBusy = null;
  });
  return turn;
}

// Of several changes in a row, the last is drawn.
function draw() {
  const number = (wanted += 1);
  offered.wait();
  return during(async () => {
    if (number !== wanted) return;
    if (!ticked("solutions").length) at("solutions").querySelector("input").checked = true;
    let [chosen, why] = [choice(), ""];
    current = null;
    const drawn = await engine.ask("draw", { choice: chosen }).catch((error) => {
      const none = at("solutions").querySelector('[name="diagnosis"]:checked');
      if (error.stopped || !(asked.any || none)) throw error;
      asked.put(); // another sheet may have other parts, and no common wrong answers
      if (none) {
        none.checked = false;
        why = error.message;
      }
      chosen = choice();
      return engine.ask("draw", { choice: chosen });
    }).catch((error) => {
      at("papers").classList.add("old");
      throw error;
    });
    current = { ...drawn, choice: chosen };
    offered.look(chosen);
    page.drawn = drawn.name;
    page.milliseconds = engine.milliseconds;
    tell("", why);
    show();
    await afterwards();
  }, say(page.drawn ? "drawing" : "loading"), say("still"));
}

// What a change of the sheet means for the view that is open.
async function afterwards() {
  const { recipe, seed, language: code } = current;
  history.replaceState(null, "", `#${new URLSearchParams({ recipe, seed })}`);
  at("link").href = `./#${new URLSearchParams({ recipe, seed, ...(code === "en" ? {} : { language: code }) })}`;
  at("link").textContent = at("link").href;
  at("practice").href = at("link").href;
  if (view === "take") await command();
  if (view === "what-if") await board();
}

function show() {
  at("papers").classList.remove("old");
  at("papers").replaceChildren(...current.papers.map(({ solutions, html }) => {
    const title = made("h3", {}, say(solutions), made("span", { className: "name" }, `${say("marks", { marks: current.marks })} · ${current.name}`));
    const saves = made("div", { className: "saves" });
    saves.append(made("button", { type: "button", onclick: () => print(solutions) }, say("print")));
    for (const { name, called } of page.choices.formats) {
      const button = made("button", { type: "button", onclick: () => paper(solutions, name) }, called);
      button.ariaLabel = `${say("save_as", { format: called })}: ${say(solutions)}`;
      saves.append(button);
    }
    const body = made("div", { className: "symattn", innerHTML: html });
    body.lang = current.language;
    body.style.setProperty("--line", page.line);
    for (const field of body.querySelectorAll("input:not(.show-all input), textarea")) field.disabled = true;
    for (const switched of body.querySelectorAll(".show-all input")) switched.checked = true;
    for (const wide of body.querySelectorAll(".wide")) { // moved to and fro with the keyboard
      Object.assign(wide, { tabIndex: 0, role: "group", ariaLabel: `${say(solutions)}, ${say("layout_matrix")}` });
    }
    return made("article", { className: "paper" }, title, saves, body);
  }));
  const [first] = at("papers").querySelectorAll(".paper > .symattn");
  if (first) asked.show(current.parts, first);
  const without = current.choice.solutions.filter((name) => !current.papers.some(({ solutions }) => solutions === name));
  at("papers").append(...without.map((name) => made("p", {}, `${say(name)}: ${say("no_paper")}`)));
}

// ---------------------------------------------------------------- files

const paper = (solutions, form) => during(async () => {
  const { name, data, notes } = await engine.ask("paper", { choice: current.choice, solutions, form });
  save(name, bytesOf(data));
  page.saved = name;
  tell(say("saved", { file: name }), "", notes);
});

// The HTML file is good to print: with the name of the sheet and the number of each page.
const print = (solutions) => during(async () => {
  const { data } = await engine.ask("paper", { choice: current.choice, solutions, form: "html" });
  at("printed-page")?.remove();
  const frame = made("iframe", { id: "printed-page", title: say("print") });
  frame.sandbox = "allow-same-origin allow-modals";
  frame.src = URL.createObjectURL(new Blob([bytesOf(data)], { type: "text/html" }));
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  document.body.append(frame);
  await loaded;
  page.printed = frame.contentDocument.title;
  frame.contentWindow.print();
});

const wishes = () => ({
  choice: choice(), forms: [...ticked("formats"), ...ticked("banks")], count: Number(at("count").value),
  together: at("together").checked, overview: at("overview").checked,
});

async function command() {
  const wish = wishes();
  if (!wish.forms.length) return void (at("command").textContent = say("no_format"));
  const said = await engine.ask("command", wish);
  at("command").textContent = said.command;
}

const download = () => during(async () => {
  const wish = wishes();
  if (!wish.forms.length) throw new Error(say("no_format"));
  const { name, data, notes } = await engine.ask("files", wish, progress());
  save(name, bytesOf(data));
  page.saved = name;
  tell(say("saved", { file: name }), "", notes);
}, say("drawing"));

at("files").addEventListener("submit", (event) => {
  event.preventDefault();
  download();
});
at("files").addEventListener("change", () => {
  keep({ formats: ticked("formats"), banks: ticked("banks") });
  during(command);
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.onclick = async () => {
    await navigator.clipboard?.writeText(at(button.dataset.copy).textContent).catch(() => {});
    tell(say("copied"));
  };
}

// ---------------------------------------------------------------- an exam, and marking

const ask = (verb, values, told) => engine.ask(verb, values, told);
const called = (name) => {
  const { title } = page.choices.mechanisms.find((one) => one.name === name) ?? {};
  return title ? title[language] ?? title.en : name;
};
const exam = new Exam(ask, say, called, (question) => during(async () => {
  const opened = await engine.ask("question_shown", { question, seed: Number(at("seed").value) || 0 });
  form.put(opened);
  asked.put(opened);
  turnTo("sheet");
  draw();
}));
// With ?seconds= in the address, the limit of time is another one.
const marking = new Marking(ask, say, Number(new URLSearchParams(location.search).get("seconds")) || SECONDS);
let handed = [];

// How far it is, with the time left.
function progress() {
  const begun = performance.now();
  return (done, count) => {
    Object.assign(at("progress"), { hidden: false, max: count, value: done });
    const seconds = Math.ceil(((performance.now() - begun) / 1000 / Math.max(done, 1)) * (count - done));
    tell(done < count ? say("making", { done, count, seconds }) : say("writing"));
  };
}

at("add").onclick = () => during(() => exam.add(choice()));
at("students").onchange = () => during(() => exam.foresee());
at("save-exam").onclick = () => during(() => exam.save(at("sheet-language").value));
at("open-exam").onchange = ({ target }) => during(async () => {
  const students = await exam.open(await target.files[0].text());
  tell(students && say("class_of", { file: students }));
  target.value = "";
});
at("exam").addEventListener("submit", (event) => {
  event.preventDefault();
  during(async () => {
    const forms = ticked("exam-formats");
    if (!forms.length) throw new Error(say("no_format"));
    const { name, data, notes } = await exam.papers(at("sheet-language").value, forms, progress());
    save(name, bytesOf(data));
    page.saved = name;
    tell(say("saved", { file: name }), "", notes);
  }, say("drawing"));
});

at("handed").onchange = ({ target }) => {
  at("handed-count").textContent = "";
  handed = [...target.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
};
for (const area of document.querySelectorAll(".drop")) {
  area.addEventListener("dragover", (event) => event.preventDefault());
  area.addEventListener("drop", async (event) => {
    event.preventDefault();
    const input = area.querySelector("input");
    if (input.multiple) {
      input.value = "";
      handed = await dropped(event.dataTransfer);
      at("handed-count").textContent = say("files_chosen", { count: handed.length });
    } else {
      input.files = event.dataTransfer.files;
      input.dispatchEvent(new Event("change"));
    }
  });
}
at("marking").addEventListener("submit", (event) => {
  event.preventDefault();
  during(async () => {
    at("results").hidden = true;
    const told = (done, count) => {
      Object.assign(at("progress"), { hidden: false, max: count, value: done });
      tell(say("marked_so_far", { done, count }));
    };
    const { name, data, rows, notes } = await marking.mark(at("frozen").files[0], handed, { forms: ["html"], policy: at("policy").value, language }, told);
    at("rows").tBodies[0].replaceChildren(...rows.map((row) => made("tr", {},
      ...[row.name, row.file, row.total, say(`status_${row.status}`), row.reason].map((text) => made("td", {}, text)))));
    at("results").hidden = false;
    save(name, bytesOf(data));
    page.saved = name;
    page.rows = rows;
    tell(say("saved", { file: name }), "", notes);
  }, say("drawing"));
});

// ---------------------------------------------------------------- what if?

const places = () => (at("kind").value === "exact" ? -1 : Number(at("kind-places").value) || 0);

async function derived(givens) {
  const said = await engine.ask("what_if", { choice: current.choice, givens, places: places() });
  page.board = said;
  return said;
}

async function asking(givens) {
  let said = null;
  await during(async () => {
    said = await derived(givens);
    tell();
  });
  return said;
}
asking.entry = (place) => engine.ask("entry", place).catch(() => null);
const derivation = new Board(asking, say);

async function board(givens = {}) {
  at("board").hidden = at("entry").hidden = !current?.what_if;
  if (!current?.what_if) throw new Error(say("nothing_behind"));
  derivation.show(await derived(givens));
}

for (const name of ["kind", "kind-places"]) {
  at(name).onchange = () => {
    at("kind-places-of").hidden = at("kind").value === "exact";
    during(() => board(derivation.givens()));
  };
}
at("as-drawn").onclick = () => during(() => board());

// ---------------------------------------------------------------- the form

let timer;
function changed({ target }) {
  if (["problem", "mechanism"].includes(target.id) || target.closest("#options")) asked.put();
  form.settle();
  clearTimeout(timer);
  timer = setTimeout(draw, PAUSE);
}

at("choice").addEventListener("input", changed);
const examples = new Examples(say, () => language, page.line);
for (const button of document.querySelectorAll("[data-examples]")) {
  button.onclick = () => examples.show(at(button.dataset.examples)).catch((error) => tell("", error.message));
}
at("choice").addEventListener("submit", (event) => event.preventDefault());
at("solutions").addEventListener("change", draw);
at("printed").addEventListener("change", draw);
at("seed").addEventListener("change", draw);
at("another").onclick = () => {
  at("seed").value = Math.floor(Math.random() * 1e6);
  draw();
};
at("stop").onclick = () => {
  marking.stop();
  engine.stop();
};
at("skip").onclick = () => at("another").focus();

// ---------------------------------------------------------------- views

let view = "sheet";
function turnTo(name) {
  view = document.body.dataset.view = name;
  for (const button of at("views").querySelectorAll("button")) {
    button.ariaCurrent = button.dataset.view === name ? "true" : null;
    at(`view-${button.dataset.view}`).hidden = button.dataset.view !== name;
  }
  tell();
  if (current) during(afterwards);
}
at("views").addEventListener("click", ({ target }) => target.dataset.view && turnTo(target.dataset.view));

// ---------------------------------------------------------------- the beginning

at("language").append(...known.map((code) => new Option(page.languages[code], code)));
at("language").onchange = ({ target }) => {
  language = target.value;
  keep({ language });
  translate();
  at("sheet-language").value = language;
  if (exam.questions.length) during(() => exam.show());
  draw();
};
at("language").value = language;
const roomy = matchMedia("(min-width: 56rem)");
at("asked").open = roomy.matches;
roomy.onchange = () => { at("asked").open = roomy.matches; };
translate();
at("sheet-language").value = language;
at("kind-places-of").hidden = true;

async function open() {
  const stated = new URLSearchParams(location.hash.slice(1));
  at("seed").value = stated.get("seed") ?? Math.floor(Math.random() * 1e6);
  at("level").value = "standard";
  at("mechanism").value = "self_attention";
  form.settle();
  if (stated.has("recipe")) {
    await during(async () => {
      const opened = await engine.ask("opened", { recipe: stated.get("recipe"), seed: Number(at("seed").value) || 0 });
      form.put(opened);
      asked.put(opened);
    }, say("loading"));
  }
  await draw();
}
window.addEventListener("hashchange", open);
await open();
