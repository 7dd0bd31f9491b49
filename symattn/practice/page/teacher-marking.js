// A class marked: each file by itself in a worker of its own, ended when it takes too long; then all of it together.
import { Engine } from "./teacher-engine.js";
import { base64Of } from "./teacher-parts.js";

export const SECONDS = 60;

export class Marking {
  #ask;
  #say;
  #worker = null;
  #limit;

  constructor(ask, say, limit = SECONDS) {
    this.#ask = ask;
    this.#say = say;
    this.#limit = limit;
  }

  // What everything came to; `told` how many of how many jobs are done.
  async mark(frozen, handed, how, told) {
    const exam = await base64Of(frozen);
    const files = {};
    for (const { path, file } of handed) files[path] = await base64Of(file);
    const known = {};
    for (;;) {
      const said = await this.#ask("marks", { exam, handed: files, known, ...how });
      if (!said.wanted) {
        this.#worker?.end();
        this.#worker = null;
        return said;
      }
      const count = Object.keys(known).length + Object.keys(said.wanted).length;
      for (const [name, [make, settings, job]] of Object.entries(said.wanted)) {
        told(Object.keys(known).length, count);
        known[name] = await this.#done({ exam, make, settings, job });
      }
    }
  }

  stop() {
    this.#worker?.stop();
  }

  async #done(job) {
    this.#worker ??= new Engine(String);
    const worker = this.#worker;
    await worker.started; // to load it is nobody's fault
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      worker.stop();
    }, this.#limit * 1000);
    try {
      return (await worker.ask("job", job)).answer;
    } catch (error) {
      if (late) return JSON.stringify({ lost: this.#say("too_long", { seconds: this.#limit }) });
      if (error.stopped) throw error;
      return JSON.stringify({ lost: `failed: ${error.message}` });
    } finally {
      clearTimeout(timer);
    }
  }
}
