// An example of each thing that can be chosen, to choose by: they are fetched when somebody wants to see them.
import { at, made } from "./teacher-parts.js";

export class Examples {
  #say;
  #language;
  #line;
  #files = new Map();

  constructor(say, language, line) {
    this.#say = say;
    this.#language = language; // of the page, now
    this.#line = line;
    at("examples-close").onclick = () => at("examples").close();
  }

  async show(select) {
    const all = await this.#fetched(this.#language());
    const title = select.closest("label").querySelector("span").textContent;
    at("examples-title").textContent = title;
    at("shown-examples").className = `of-${select.id}`;
    const offered = [...select.options].filter(({ value, disabled }) => !disabled && all[select.id][value]);
    at("shown-examples").replaceChildren(...offered.map(({ text, value }) => this.#card(select, text, value, all[select.id][value])));
    at("examples").showModal();
    (at("shown-examples").querySelector("[aria-current]") ?? at("shown-examples").querySelector("button"))?.focus();
  }

  #card(select, text, value, html) {
    const button = made("button", { type: "button" }, text);
    if (select.value === value) button.ariaCurrent = "true";
    const picture = made("div", { className: "symattn picture", innerHTML: html, inert: true, ariaHidden: "true" });
    picture.style.setProperty("--line", this.#line);
    const card = made("div", { className: "card" }, button, made("div", { className: "frame" }, picture));
    card.onclick = () => {
      select.value = value;
      at("examples").close();
      select.dispatchEvent(new Event("input", { bubbles: true }));
    };
    return card;
  }

  async #fetched(language) {
    const name = `teacher-examples-${language}.json`;
    if (!this.#files.has(name)) {
      const response = await fetch(name);
      if (!response.ok) throw new Error(this.#say("lost_file", { file: name }));
      this.#files.set(name, await response.json());
    }
    return this.#files.get(name);
  }
}
