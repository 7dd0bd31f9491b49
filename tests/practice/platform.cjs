// Plays a practice package in a frame, as a learning platform does with npm's scorm-again, and opens it a second time.
//   node platform.cjs PACKAGE SCRIPT.json
// Needs the npm packages playwright-core and scorm-again (NODE_PATH) and Chromium (CHROMIUM).
const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { launched, served } = require('./served.cjs');

const [folder, file] = process.argv.slice(2);
const script = JSON.parse(readFileSync(file, 'utf8'));
const library = join(dirname(require.resolve('scorm-again')), script.edition === '1.2' ? 'scorm12.js' : 'scorm2004.js');
const [api, Player] = script.edition === '1.2' ? ['API', 'Scorm12API'] : ['API_1484_11', 'Scorm2004API'];
const frame = `<!DOCTYPE html><title>Platform</title><script src="/library.js"></script><script>
window.${api} = new ${Player}({ autocommit: false });
if (sessionStorage.resume) {
  const kept = JSON.parse(sessionStorage.resume);
  window.${api}.loadFromJSON(kept, '');
}
</script><iframe src="/index.html#" width="900" height="900"></iframe>`;
const OWN = { '/platform.html': frame, '/library.js': readFileSync(library) };

async function opened(page, name) {
  const inner = page.frames().find((f) => f.url().includes('index.html'));
  const there = (n) => (n ? window.practice?.sheet === n : window.practice?.drawn) && !document.querySelector('[aria-busy]');
  await inner.waitForFunction(there, name, { timeout: 300_000 });
  return inner;
}

(async () => {
  const { base, closed } = await served(folder, { instead: (name) => OWN[name] });
  const browser = await launched();
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
  await page.goto(`${base}platform.html`);
  let inner = await opened(page);
  await inner.evaluate(({ recipe, seed }) => { location.hash = new URLSearchParams({ recipe, seed }); }, script);
  inner = await opened(page, script.name);
  await inner.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
  for (const text of script.typed) {
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  }
  await inner.click('#check');
  await inner.waitForFunction(() => window.practice.marked && !document.querySelector('[aria-busy]'), undefined, { timeout: 300_000 });
  const said = await page.evaluate(([name, old]) => {
    const get = (key) => window[name][old ? 'LMSGetValue' : 'GetValue'](key);
    const kept = { score: get(old ? 'cmi.core.score.raw' : 'cmi.score.raw'), resume: get('cmi.suspend_data') };
    kept.status = get(old ? 'cmi.core.lesson_status' : 'cmi.completion_status');
    sessionStorage.resume = JSON.stringify({ cmi: { suspend_data: kept.resume } });
    return kept;
  }, [api, script.edition === '1.2']);
  await inner.evaluate(() => localStorage.clear()); // what comes back is what the platform kept
  await page.goto('about:blank');
  await page.goto(`${base}platform.html`);
  inner = await opened(page);
  said.name = await inner.evaluate(() => window.practice.sheet);
  said.typed = await inner.evaluate(() => document.querySelector('#sheet input[data-row]').value);
  await browser.close();
  console.log(JSON.stringify(said));
  await closed();
})().catch((error) => { console.error(error); process.exit(1); });
