// Which parts of a sheet are asked, and for how many marks: ticked and typed on the sheet itself.
import { made } from "./teacher-parts.js";

const LETTER = /^[a-z]$/;
const letter = (k) => String.fromCharCode(97 + k);

export class Asked {
  ask = []; // the parts by the names that they have on the whole sheet; all, where there are none
  marks = {}; // by the names that are printed
  #say;
  #changed;
  #parts = []; // as Python told of them
  #focused = "";

  constructor(say, changed) {
    this.#say = say;
    this.#changed = changed;
  }

  get any() {
    return this.ask.length > 0 || Object.keys(this.marks).length > 0;
  }

  put({ ask = [], marks = {} } = {}) {
    this.ask = ask;
    this.marks = marks;
  }

  // On the page of a sheet: a tick at the heading of each part, a line for each part that is not asked, and its marks.
  show(parts, body) {
    this.#parts = parts;
    const headings = [...body.querySelectorAll("[data-part]")];
    if (headings.length !== parts.filter(({ printed }) => printed).length) return;
    let left = [];
    for (const part of parts) {
      if (part.printed) {
        const heading = headings.shift();
        heading.before(...left);
        left = [];
        if (parts.length > 1) heading.prepend(this.#tick(part, heading.textContent.trim()));
        if (part.marks) this.#weigh(part, heading);
      } else {
        const said = made("span", { innerHTML: part.html });
        left.push(made("div", { className: "left-out" }, made("label", {}, this.#tick(part, said.textContent.trim()), said)));
      }
    }
    body.append(...left);
    if (this.#focused) body.querySelector(`[data-asked="${CSS.escape(this.#focused)}"]`)?.focus({ preventScroll: true });
    this.#focused = "";
  }

  #tick(part, text) {
    const box = made("input", { type: "checkbox", checked: Boolean(part.printed), ariaLabel: `${this.#say("asked")}: ${text}` });
    box.dataset.asked = part.name;
    box.onchange = () => {
      if (!this.#turn(part, box.checked)) return void (box.checked = true); // the last one
      this.#focused = part.name;
      this.#changed();
    };
    return box;
  }

  #weigh(part, heading) {
    const field = made("input", { type: "number", min: 1, max: 1000, inputMode: "numeric", value: part.marks, ariaLabel: `${this.#say("points")}: ${heading.textContent.trim()}` });
    field.dataset.asked = `${part.name} marks`;
    field.onchange = () => {
      const number = Math.min(1000, Math.floor(Number(field.value)));
      if (number >= 1) this.marks[part.printed] = number;
      else delete this.marks[part.printed];
      this.#focused = field.dataset.asked;
      this.#changed();
    };
    const shown = heading.querySelector(".marks");
    const weight = made("span", { className: "weight" }, part.together ? `${this.#say("all_tokens")} ` : "", field);
    if (!shown) heading.append(weight);
    else if (part.together) shown.before(weight);
    else shown.replaceWith(weight);
  }

  // A part that is asked, or not any more; marks go with their parts, which may be lettered anew.
  #turn(turned, on) {
    const printed = (parts) => {
      const lettered = this.#parts.every(({ name }) => LETTER.test(name));
      return new Map(parts.map(({ name }, k) => [name, lettered ? letter(k) : name]));
    };
    const now = this.#parts.filter((part) => (part === turned ? on : part.printed));
    if (!now.length) return false;
    const names = printed(now);
    this.marks = Object.fromEntries(this.#parts.filter((part) => names.has(part.name) && this.marks[part.printed])
      .map((part) => [names.get(part.name), this.marks[part.printed]]));
    this.ask = now.length === this.#parts.length ? [] : now.map(({ name }) => name);
    return true;
  }
}
