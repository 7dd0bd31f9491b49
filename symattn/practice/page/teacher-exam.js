// An exam: questions from the form, a class list, and papers for all; a file that somebody has is opened and goes on.
import { at, base64Of, made, save } from "./teacher-parts.js";

const secret = () => [...crypto.getRandomValues(new Uint8Array(32))].map((x) => x.toString(16).padStart(2, "0")).join("");

export class Exam {
  #ask;
  #say;
  #looked = 0;
  #called;
  #shown;
  #exam = { question: [] }; // as the file says it

  constructor(ask, say, called, shown) {
    this.#ask = ask;
    this.#say = say;
    this.#called = called; // a mechanism, in the page's language
    this.#shown = shown; // is given a question that somebody wants to see
    for (const field of at("head").querySelectorAll("input")) {
      field.onchange = () => {
        const value = field.type === "number" ? Number(field.value) : field.value.trim();
        if (value) this.#exam[field.name] = value;
        else delete this.#exam[field.name];
        this.foresee();
      };
    }
  }

  get questions() {
    return this.#exam.question;
  }

  async add(choice) {
    const { question } = await this.#ask("question", { choice });
    this.questions.push(question);
    await this.show();
  }

  // The class list that the file names, which is chosen by itself.
  async open(text) {
    const { exam, class: students } = await this.#ask("exam_opened", { text });
    this.#exam = exam;
    for (const field of at("head").querySelectorAll("input")) field.value = exam[field.name] ?? "";
    await this.show();
    return students;
  }

  // With the language of its pages, unless the file says another one.
  stated(language) {
    return language === "en" || this.#exam.language ? this.#exam : { language, ...this.#exam };
  }

  async save(language) {
    const { text } = await this.#ask("exam_file", { exam: this.stated(language) });
    save("exam.toml", text);
  }

  async papers(language, forms, told) {
    return this.#ask("exam", { exam: this.stated(language), students: await this.#students(), secret: secret(), forms }, told);
  }

  async #students() {
    const [file] = at("students").files;
    return file ? { [file.name]: await base64Of(file) } : {};
  }

  // What will come of it, or all that is wrong with it, after every change.
  async foresee() {
    const number = (this.#looked += 1);
    const said = this.questions.length || at("students").files.length
      ? await this.#ask("exam_foreseen", { exam: this.#exam, students: await this.#students() }).catch((error) => ({ faults: [error.message] }))
      : {};
    if (number !== this.#looked) return;
    const { faults = [], notes = [], marks } = said;
    const seen = () => (said.students ? this.#say("foreseen_class", said) : this.#say("foreseen", said));
    at("foreseen").textContent = marks === undefined ? "" : seen();
    at("exam-faults").replaceChildren(...[...faults, ...notes].map((text) => made("li", {}, text)));
  }

  async show() {
    const { titles } = await this.#ask("exam_file", { exam: this.#exam, language: document.documentElement.lang });
    at("no-question").hidden = titles.length > 0;
    at("questions").replaceChildren(...titles.map((title, k) => this.#item(title, k)));
    await this.foresee();
  }

  #item(title, k) {
    const question = this.questions[k];
    const points = made("input", { type: "number", min: 1, max: 1000, inputMode: "numeric", value: question.points ?? "" });
    points.onchange = () => {
      if (points.value) question.points = Number(points.value);
      else delete question.points;
      this.foresee();
    };
    const { type, points: _, title: __, text = "", ...more } = question;
    const facts = Object.entries(more).map((fact) => this.#fact(...fact));
    const button = (name, act) => made("button", { type: "button", ariaLabel: `${this.#say(name)}: ${title}`, onclick: async () => {
      act();
      await this.show();
      (at("questions").querySelectorAll("li")[Math.min(k, this.questions.length - 1)]?.querySelector("button") ?? at("add")).focus();
    } }, this.#say(name));
    return made("li", {},
      made("span", { className: "title" }, title, made("span", { className: "facts" }, [text, ...facts].filter(Boolean).join(" · "))),
      made("label", {}, made("span", {}, this.#say("points")), points),
      k ? button("up", () => this.questions.splice(k - 1, 0, ...this.questions.splice(k, 1))) : "",
      made("button", { type: "button", ariaLabel: `${this.#say("show")}: ${title}`, onclick: () => this.#shown(question) }, this.#say("show")),
      button("remove", () => this.questions.splice(k, 1)));
  }

  // What a question says, in words where the page has them.
  #fact(name, value) {
    const said = Array.isArray(value) ? value.join(", ") : typeof value === "object" ? Object.entries(value).map((pair) => pair.join(" = ")).join(", ") : value;
    const words = {
      mechanism: () => this.#called(value), level: () => this.#say(value), softmax: () => this.#say(`softmax_${value.replace(" ", "_")}`),
      exact: () => this.#say(value ? "exact" : "decimals"), places: () => `${this.#say("places")}: ${value}`,
      ask: () => `${this.#say("asked")}: ${said}`, marks: () => `${this.#say("points")}: ${said}`,
      sizes: () => said,
    };
    return words[name]?.() ?? `${name} = ${said}`;
  }
}
