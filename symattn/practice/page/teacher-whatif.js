// A derivation on the board: givens that can be typed over, steps whose entries say how they come about.
import { at, made } from "./teacher-parts.js";

const PAUSE = 150; // milliseconds after the last key, before all is worked out again

export class Board {
  #ask;
  #say;
  #timer;
  #told = 0;

  constructor(ask, say) {
    this.#ask = ask; // (givens) => what Python says of the derivation; null where it refuses
    this.#say = say;
    at("givens").addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#again(), PAUSE);
    });
    for (const name of ["focusin", "pointerover", "click"]) {
      at("steps").addEventListener(name, ({ target }) => this.#point(target.closest("button")));
    }
    at("steps").addEventListener("keydown", (event) => this.#move(event));
  }

  givens() {
    const typed = {};
    for (const table of at("givens").querySelectorAll("table")) {
      typed[table.dataset.name] = [...table.rows].map((row) => [...row.querySelectorAll("input")].map((x) => x.value));
    }
    return typed;
  }

  show(said) {
    at("givens").replaceChildren(...said.givens.map((given) => this.#matrix(given, (text, i, j) => made("input", {
      type: "text", value: text, size: 3, autocomplete: "off", spellcheck: false,
      ariaLabel: `${given.name}, ${this.#say("row_column", { row: i, column: j })}`,
    }))));
    this.#steps(said);
  }

  async #again() {
    const said = await this.#ask(this.givens());
    if (said) this.#steps(said);
  }

  #steps({ steps }) {
    const here = document.activeElement?.closest?.("#steps button")?.id;
    at("entry").replaceChildren();
    at("steps").replaceChildren(...steps.map((step) => this.#matrix(step, (source, i, j) => {
      const button = made("button", { type: "button", id: `entry-${step.name}-${i}-${j}`, innerHTML: source });
      button.firstChild.ariaHidden = "true";
      const heard = `${this.#say("row_column", { row: i, column: j })}: ${button.firstChild.getAttribute("alttext")}`;
      button.append(made("span", { className: "heard" }, heard));
      if (i > 1 || j > 1) button.tabIndex = -1; // Tab goes to a matrix, arrows go within
      return button;
    })));
    if (here) document.getElementById(here)?.focus();
  }

  #matrix({ name, word, html, rows }, cell) {
    const table = made("table", { className: "numbers" }, made("tbody", {}, ...rows.map((row, i) =>
      made("tr", {}, ...row.map((x, j) => {
        const place = made("td", {}, cell(x, i + 1, j + 1));
        place.dataset.place = `${name} ${i + 1} ${j + 1}`;
        return place;
      })))));
    table.dataset.name = name;
    const equation = made("figcaption", { innerHTML: html });
    if (word) equation.prepend(made("span", { className: "word" }, word));
    return made("figure", {}, equation, table);
  }

  #move(event) {
    const way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const place = event.target.closest("td")?.dataset.place.split(" ");
    if (!way || !place) return;
    event.preventDefault();
    document.getElementById(`entry-${place[0]}-${+place[1] + way[0]}-${+place[2] + way[1]}`)?.focus();
  }

  async #point(button) {
    if (!button || button.ariaCurrent === "true") return;
    const [step, row, column] = button.closest("td").dataset.place.split(" ");
    const number = (this.#told += 1);
    const said = await this.#ask.entry({ step, row: +row, column: +column });
    if (!said || number !== this.#told) return;
    for (const old of at("board").querySelectorAll("[aria-current], .used")) {
      old.removeAttribute("aria-current");
      old.classList.remove("used");
    }
    button.ariaCurrent = "true";
    for (const [name, i, j] of said.uses) {
      at("board").querySelector(`[data-place="${CSS.escape(`${name} ${i} ${j}`)}"]`)?.classList.add("used");
    }
    at("entry").innerHTML = said.html.map((line) => `<p>${line}</p>`).join("");
  }
}
