// What a learning platform is told, by SCORM 1.2 or 2004: score, completion, and where the student was.
const MOST = 4096; // characters of resume data that every platform keeps

function found(name) {
  for (let [frame, steps] = [window, 0]; steps < 10; [frame, steps] = [frame.parent, steps + 1]) {
    try {
      if (frame[name]) return frame[name];
      if (frame.opener?.[name]) return frame.opener[name];
    } catch { /* a frame of another origin */ }
    if (frame === frame.parent) break;
  }
  return null;
}

// Best results as [topic, level, percent]; what was typed last, without what would be too long.
export function resumeData(course, progress, nameOf) {
  const best = course.topics.flatMap((topic, t) => levels(topic).map((recipe, l) => [t, l, progress.best[recipe]]));
  const { recipe, seed } = progress.last ?? {};
  const typed = [...(progress.sheets[nameOf(recipe, seed)] ?? [])];
  const data = { best: best.filter(([, , percent]) => percent !== undefined), language: progress.language, recipe, seed, typed };
  let whole = true;
  while (JSON.stringify(data).length > MOST) {
    const longest = typed.reduce((at, text, k) => (text.length > typed[at].length ? k : at), 0);
    if (!typed[longest]) return { text: JSON.stringify({ best: data.best }).slice(0, MOST), whole: false };
    typed[longest] = "";
    whole = false;
  }
  return { text: JSON.stringify(data), whole };
}

// On every level, and without one: what a link may lead to.
const levels = (topic) => [...topic.levels.map((level) => `${topic.recipe} --level ${level}`), topic.recipe];

// How long the page was open, as each edition writes it.
const two = (number) => String(number).padStart(2, "0");
export function sessionTime(milliseconds, newer) {
  const seconds = Math.round(milliseconds / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return newer ? `PT${h}H${m}M${s}S` : `${String(h).padStart(4, "0")}:${two(m)}:${two(s)}`;
}

// The mean over all topics of the best result of each, and whether every topic is done.
export function result(course, best) {
  const each = course.topics.map((topic) => Math.max(0, ...levels(topic).map((recipe) => best[recipe] ?? 0)));
  const mean = Math.floor(each.reduce((sum, one) => sum + one, 0) / each.length);
  return { percent: mean, done: each.every((one) => one >= course.pass) };
}

export function connected(course) {
  const newer = found("API_1484_11");
  const api = newer ?? found("API");
  if (!api) return null;
  const call = (name, ...values) => api[newer ? name : `LMS${name}`](...values);
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) call("SetValue", name, String(value));
    call("Commit", "");
  };
  call("Initialize", "");
  if (newer) set({ "cmi.exit": "suspend" });
  else set({ "cmi.core.exit": "suspend" });
  let ended = false;
  window.addEventListener("pagehide", () => {
    if (ended) return;
    set({ [newer ? "cmi.session_time" : "cmi.core.session_time"]: sessionTime(performance.now(), newer) });
    call(newer ? "Terminate" : "Finish", "");
    ended = true;
  });
  return {
    resumed() {
      try {
        const data = JSON.parse(call("GetValue", "cmi.suspend_data"));
        const best = Object.fromEntries(data.best.map(([t, l, percent]) => [levels(course.topics[t])[l], percent]));
        const { recipe, seed, typed, language } = data;
        const last = recipe && { recipe, seed };
        return { best, last, language, sheets: recipe ? { [`${recipe} --seed ${seed}`]: typed } : {} };
      } catch {
        return {};
      }
    },
    keep(progress, nameOf) {
      const { percent, done } = result(course, progress.best);
      const { text, whole } = resumeData(course, progress, nameOf);
      set(newer ? {
        "cmi.score.min": 0, "cmi.score.max": 100, "cmi.score.raw": percent, "cmi.score.scaled": percent / 100,
        "cmi.progress_measure": percent / 100, "cmi.completion_status": done ? "completed" : "incomplete",
        "cmi.success_status": done ? "passed" : "unknown", "cmi.suspend_data": text,
      } : {
        "cmi.core.score.min": 0, "cmi.core.score.max": 100, "cmi.core.score.raw": percent,
        "cmi.core.lesson_status": done ? "passed" : "incomplete", "cmi.suspend_data": text,
      });
      return whole;
    },
  };
}
