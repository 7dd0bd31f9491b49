// The form: what can be chosen, what is not offered together, and the choice as Python reads it.
import { at, made, option } from "./teacher-parts.js";

const MASKS = ["", "none", "causal", "past", "padding:", "window:", "prefix:", "other"];

export class Form {
  #choices;
  #say;
  #name;

  constructor(choices, say, name) {
    this.#choices = choices;
    this.#say = say;
    this.#name = name; // of a thing in the page's language
  }

  get problem() {
    return this.#choices.problems.find(({ name }) => name === at("problem").value);
  }

  get mechanism() {
    const preset = this.problem.presets[at("option-what")?.value];
    const usual = at("level").value === "starter" ? "attention" : "self_attention";
    const chosen = this.problem.mechanism ? at("mechanism").value : preset ?? usual;
    return this.#choices.mechanisms.find(({ name }) => name === chosen);
  }

  // Everything in the page's language; what is chosen stays.
  translate(languages) {
    const say = this.#say;
    const listed = (id, items) => {
      const before = at(id).value;
      at(id).replaceChildren(...items);
      if (before && items.some(({ value }) => value === before)) at(id).value = before;
    };
    const titled = (items) => items.map((one) => option(this.#name(one.title), one.name))
      .sort((a, b) => a.text.localeCompare(b.text));
    const { problems, mechanisms, notations, levels, softmax, layouts, conventions } = this.#choices;
    const first = problems.find(({ name }) => name === "full");
    listed("problem", [...titled([first]), ...titled(problems.filter((one) => one !== first))]);
    listed("mechanism", titled(mechanisms));
    listed("notation", titled(notations).sort((a, b) => (b.value === "standard") - (a.value === "standard")));
    listed("level", levels.map((level) => option(say(level), level)));
    listed("softmax", softmax.map((one) => option(say(`softmax_${one.replace(" ", "_")}`), one)));
    listed("exact", [option(say("exact"), "exact"), option(say("decimals"), "decimals")]);
    listed("kind", [option(say("exact"), "exact"), option(say("decimals"), "decimals")]);
    listed("mask", MASKS.map((one) => option(say(one ? `mask_${one.replace(":", "")}` : "usual"), one)));
    listed("policy", this.#choices.policies.map((one) => option(this.#name(one.title), one.name)));
    listed("layout", layouts.map((one) => option(say(`layout_${one}`), one)));
    listed("conventions", conventions.map((one) => option(say(`conventions_${one}`), one)));
    listed("sheet-language", Object.entries(languages).map(([code, called]) => option(called, code)));
    this.#look();
    this.settle();
  }

  #look() {
    const before = this.#values("look");
    at("look").replaceChildren(...Object.entries(this.#choices.look).map(([name, values]) => {
      const select = made("select", { id: `look-${name}`, name });
      select.append(option(this.#say("usual"), ""), ...values.map((value) => option(String(value), String(value))));
      return made("label", {}, made("span", {}, this.#say(name)), select);
    }));
    this.#put("look", before);
  }

  // What does not go with what is chosen is not offered.
  settle() {
    const { problem } = this;
    at("mechanism-of").hidden = !problem.mechanism;
    if (at("options").dataset.of !== `${problem.name} ${this.#say("sizes")}`) this.#options(problem);
    const { mechanism } = this;
    const sizes = problem.sizes === true ? mechanism.sizes[at("level").value] : problem.sizes
      ? Object.fromEntries(problem.sizes.map((name) => [name, ""])) : {};
    const key = JSON.stringify([sizes, this.#say("sizes")]);
    if (at("sizes").dataset.of !== key) this.#sizes(sizes, key);
    at("sizes-of").hidden = !Object.keys(sizes).length;
    const offered = problem.settings ?? mechanism.settings;
    at("mask-of").hidden = !offered.includes("mask");
    const mask = at("mask").value;
    at("mask-value-of").hidden = !(mask.endsWith(":") || mask === "other");
    at("places-of").hidden = at("exact").value === "exact";
    this.#settings(offered.filter((name) => this.#choices.settings[name]));
  }

  #options(problem) {
    const before = this.#values("options");
    const same = at("options").dataset.of?.startsWith(`${problem.name} `);
    at("options").dataset.of = `${problem.name} ${this.#say("sizes")}`;
    at("options").replaceChildren(...problem.options.map(({ name, kind, values, default: usual, about }) => {
      let field;
      if (kind === "yes") {
        field = made("input", { type: "checkbox", checked: usual });
        field.checked = usual;
      } else if (values.length && kind === "text") {
        field = made("select", { lang: "en" }); // as they are typed
        if (!values.includes(usual)) field.append(option(this.#say("usual"), ""));
        field.append(...values.map((value) => option(value, value)));
        field.value = usual;
      } else {
        field = made("input", kind === "number" ? { type: "number", min: 1, inputMode: "numeric" } : { type: "text" });
        field.placeholder = Array.isArray(usual) ? usual.join(", ") : usual;
        Object.assign(field, { autocomplete: "off", spellcheck: false });
      }
      Object.assign(field, { id: `option-${name}`, name });
      Object.assign(field.dataset, { kind, usual: JSON.stringify(usual) });
      const words = values.length && kind === "text" ? this.#say(`option_${name}`) : this.#name(about);
      return made("label", { className: kind === "yes" ? "tick" : "" }, made("span", {}, words), field);
    }));
    if (same) this.#put("options", before); // in another language
  }

  #sizes(sizes, key) {
    const before = this.#values("sizes");
    at("sizes").dataset.of = key;
    at("sizes").replaceChildren(...Object.entries(sizes).map(([name, usual]) => {
      const [letter, index] = name.split("_");
      const sign = made("var", {}, letter, index ? made("sub", {}, { model: "model" }[index] ?? index) : "");
      const field = made("input", { type: "number", min: 1, max: 64, id: `size-${name}`, name, inputMode: "numeric" });
      field.placeholder = usual;
      return made("label", {}, made("span", {}, sign, ` ${this.#say(`size_${name}`)}`), field);
    }));
    this.#put("sizes", before);
  }

  #settings(names) {
    const key = `${names.join()} ${this.#say("sizes")}`;
    if (at("settings").dataset.of === key) return;
    const before = this.#values("settings");
    at("settings").dataset.of = key;
    at("settings").replaceChildren(...names.map((name) => {
      const { about, values } = this.#choices.settings[name];
      const field = made("input", { type: "text", id: `setting-${name}`, name, autocomplete: "off", spellcheck: false });
      field.title = values;
      return made("label", {}, made("span", {}, made("code", {}, name), ` ${this.#name(about)}`), field);
    }));
    this.#put("settings", before);
  }

  #values(id) {
    return Object.fromEntries([...at(id).querySelectorAll("input, select")].map((field) =>
      [field.name, field.type === "checkbox" ? field.checked : field.value]));
  }

  #put(id, values) {
    for (const field of at(id).querySelectorAll("input, select")) {
      if (values[field.name] === undefined) continue;
      if (field.type === "checkbox") field.checked = values[field.name];
      else field.value = values[field.name];
    }
  }

  #stated(id, kind = String) {
    const entries = Object.entries(this.#values(id)).filter(([, value]) => value.trim() !== "");
    return Object.fromEntries(entries.map(([name, value]) => [name, kind(value)]));
  }

  #chosenOptions() {
    const found = {};
    for (const field of at("options").querySelectorAll("input, select")) {
      const { kind, usual } = field.dataset;
      const text = field.value.trim();
      let value = text;
      if (kind === "yes") value = field.checked;
      else if (kind === "number") value = text === "" ? JSON.parse(usual) : Number(text);
      else if (kind === "list") value = text.split(",").map((part) => part.trim()).filter(Boolean);
      if (JSON.stringify(value) !== usual && text !== "") found[field.name] = value;
      else if (kind === "yes" && JSON.stringify(value) !== usual) found[field.name] = value;
    }
    return found;
  }

  // As Python reads it.
  get choice() {
    const { problem } = this;
    const offered = problem.settings ?? this.mechanism.settings;
    const settings = this.#stated("settings");
    const mask = at("mask").value;
    if (offered.includes("mask") && mask) {
      settings.mask = mask === "other" ? at("mask-value").value.trim()
        : mask.endsWith(":") ? mask + at("mask-value").value.trim() : mask;
    }
    const look = this.#stated("look");
    if (look.text_size) look.text_size = Number(look.text_size);
    const exact = at("exact").value === "exact";
    return {
      problem: problem.name,
      mechanism: problem.mechanism ? at("mechanism").value : "",
      level: at("level").value,
      softmax: at("softmax").value,
      sizes: at("sizes-of").hidden ? {} : this.#stated("sizes", Number),
      settings,
      options: this.#chosenOptions(),
      notation: at("notation").value,
      exact,
      places: exact || at("places").value === "" ? null : Number(at("places").value),
      seed: Number(at("seed").value) || 0,
      look: { ...look, language: at("sheet-language").value },
      layout: at("layout").value,
      conventions: at("conventions").value,
    };
  }

  // A choice that Python read from a recipe, put into the form.
  put(choice) {
    at("problem").value = choice.problem;
    for (const name of ["mechanism", "level", "softmax", "notation", "seed"]) at(name).value = choice[name];
    at("exact").value = choice.exact ? "exact" : "decimals";
    at("places").value = choice.exact ? "" : choice.places;
    this.settle();
    for (const field of at("options").querySelectorAll("input, select")) {
      const value = choice.options[field.name];
      if (value === undefined) continue;
      if (field.dataset.kind === "yes") field.checked = value;
      else field.value = Array.isArray(value) ? value.join(", ") : value;
    }
    this.settle();
    this.#put("sizes", choice.sizes);
    const { mask = "", ...settings } = choice.settings;
    const [kind, value] = mask.includes(":") ? mask.split(/(?<=^\w+:)/) : [mask, ""];
    at("mask").value = MASKS.includes(kind) ? kind : "other";
    at("mask-value").value = MASKS.includes(kind) ? value : mask;
    this.#put("settings", settings);
    this.settle();
  }
}
