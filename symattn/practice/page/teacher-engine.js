// Asks symattn, in worker.js, one thing after the other.  What takes too long is stopped: the worker ends, another begins.
export class Engine {
  #worker;
  #waiting = new Map();
  #asked = 0;
  #failed;
  #started;
  #broken = null;

  constructor(failed) {
    this.#failed = failed; // says why, in words
    this.#begin();
  }

  #begin() {
    this.#broken = null;
    this.started = new Promise((resolve) => { this.#started = resolve; });
    this.#worker = new Worker("worker.js?teacher", { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#said(data);
    this.#worker.onerror = () => this.#break("worker.js");
  }

  #said(data) {
    if (data.failed) return this.#break(data.failed);
    if (data.ready) return this.#started();
    const { resolve, reject, told } = this.#waiting.get(data.id) ?? {};
    if (data.of) return told?.(data.done, data.of);
    this.#waiting.delete(data.id);
    this.milliseconds = data.milliseconds;
    const answer = JSON.parse(data.answer);
    return answer.error ? reject?.(new Error(answer.error)) : resolve?.(answer);
  }

  ask(verb, values, told) {
    if (this.#broken) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => {
      this.#waiting.set((this.#asked += 1), { resolve, reject, told });
      this.#worker.postMessage({ id: this.#asked, request: JSON.stringify({ verb, ...values }) });
    });
  }

  // What could not be loaded answers nothing, now or later.
  #break(why) {
    this.#broken = new Error(this.#failed(why));
    this.#refuse(this.#broken);
    this.#started();
  }

  #refuse(error) {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  end() {
    this.#worker.terminate();
  }

  stop() {
    this.end();
    this.#refuse(Object.assign(new Error(), { stopped: true }));
    this.#begin();
  }
}
