// What makes no difference here, or is not possible, is not offered, and its name says why.  It is found out when nothing
// else is to be done, once for each choice of everything else.
import { at } from "./teacher-parts.js";

const PAUSE = 1500; // milliseconds after the last sheet
const LONG = 3000; // what takes longer would be in the way of whoever goes on
const FIELDS = { level: (value) => ({ level: value }), softmax: (value) => ({ softmax: value }), exact: (value) => ({ exact: value === "exact" }) };
const OF_THE_PAGE = ["seed", "look", "layout", "conventions", "solutions", "printed", "ask", "marks", "places"];

export class Offered {
  #ask;
  #say;
  #known = new Map(); // by choice: what a sheet is made of, or why there is none
  #timer;
  #number = 0;

  constructor(ask, say) {
    this.#ask = ask;
    this.#say = say;
  }

  #key(choice) {
    return JSON.stringify(choice, (name, value) => (OF_THE_PAGE.includes(name) ? undefined : value));
  }

  // After a sheet was drawn.
  look(choice) {
    clearTimeout(this.#timer);
    const number = (this.#number += 1);
    this.#show(choice);
    const tried = Object.entries(FIELDS).flatMap(([field, of]) =>
      [...at(field).options].map(({ value }) => ({ ...choice, ...of(value), ask: [], marks: {}, solutions: ["blank"] })));
    this.#timer = setTimeout(async () => {
      for (const one of tried) {
        if (this.#known.has(this.#key(one))) continue;
        const begun = performance.now();
        const said = await this.#ask("content", { choice: one }).catch((error) => (error.stopped ? null : { why: error.message }));
        if (!said || number !== this.#number) return;
        this.#known.set(this.#key(one), said);
        if (performance.now() - begun > LONG) break;
      }
      this.#show(choice);
    }, PAUSE);
  }

  wait() {
    clearTimeout(this.#timer);
    this.#number += 1;
  }

  #show(choice) {
    for (const [field, of] of Object.entries(FIELDS)) {
      const select = at(field);
      const of_ = (value) => this.#known.get(this.#key({ ...choice, ...of(value) }));
      const usual = [...select.options].sort((a, b) => (b.value === select.value) - (a.value === select.value));
      const seen = new Map(); // contents that are offered, by the option that offers them
      for (const one of usual) {
        one.dataset.name ??= one.text;
        const { content, why } = of_(one.value) ?? {};
        const other = content && seen.get(content);
        one.disabled = one.value !== select.value && Boolean(other || why);
        one.text = !one.disabled ? one.dataset.name
          : `${one.dataset.name} (${other ? this.#say("same_as", { name: other.dataset.name }) : this.#say("not_here")})`;
        one.title = one.disabled && why ? why : "";
        if (content && !other) seen.set(content, one);
      }
    }
  }
}
