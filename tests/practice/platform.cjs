// Plays practice packages in a frame, as a learning platform does with npm's scorm-again: a sheet is filled in and marked in
// the first edition, and what its platform kept is given to the other one, which goes on with it.
//   node platform.cjs FOLDER SCRIPT.json
// FOLDER has a package of each edition, unpacked.  Needs the npm packages playwright-core and scorm-again (NODE_PATH) and
// Chromium (CHROMIUM).
const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { launched, served } = require('./served.cjs');

const [folder, file] = process.argv.slice(2);
const script = JSON.parse(readFileSync(file, 'utf8'));
const EDITIONS = [
  { edition: '1.2', library: 'scorm12.js', api: 'API', player: 'Scorm12API', get: 'LMSGetValue', score: 'cmi.core.score.raw', status: 'cmi.core.lesson_status' },
  { edition: '2004', library: 'scorm2004.js', api: 'API_1484_11', player: 'Scorm2004API', get: 'GetValue', score: 'cmi.score.raw', status: 'cmi.completion_status' },
];

const frame = ({ api, player }, kept) => `<!DOCTYPE html><title>Platform</title><script src="/library.js"></script><script>
window.${api} = new ${player}({ autocommit: false });
if (${Boolean(kept)}) window.${api}.loadFromJSON({ cmi: { suspend_data: ${JSON.stringify(kept)} } }, '');
</script><iframe src="/index.html#" width="900" height="900"></iframe>`;

async function opened(page, name) {
  const inner = page.frames().find((f) => f.url().includes('index.html'));
  const there = (n) => (n ? window.practice?.sheet === n : window.practice?.drawn) && !document.querySelector('[aria-busy]');
  await inner.waitForFunction(there, name, { timeout: 300_000 });
  return inner;
}

// What the platform of an edition was told, and what stood in the first box when nothing had been typed yet.
async function played(browser, one, kept) {
  const library = readFileSync(join(dirname(require.resolve('scorm-again')), one.library));
  const own = { '/platform.html': frame(one, kept), '/library.js': library };
  const { base, closed } = await served(join(folder, one.edition), { instead: (name) => own[name] });
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
  await page.goto(`${base}platform.html`);
  let inner = await opened(page, kept && script.name);
  const typed = await inner.evaluate(() => document.querySelector('#sheet input[data-row]').value);
  if (!kept) {
    await inner.evaluate(({ recipe, seed }) => { location.hash = new URLSearchParams({ recipe, seed }); }, script);
    inner = await opened(page, script.name);
    await inner.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
    for (const text of script.typed) {
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    }
  }
  await inner.click('#check');
  await inner.waitForFunction(() => window.practice.marked && !document.querySelector('[aria-busy]'), undefined, { timeout: 300_000 });
  const said = await page.evaluate(({ api, get, score, status }) => {
    const told = (key) => window[api][get](key);
    return { score: told(score), status: told(status), resume: told('cmi.suspend_data') };
  }, one);
  await closed();
  return { ...said, typed };
}

(async () => {
  const browser = await launched();
  const [first, second] = EDITIONS;
  const begun = await played(browser, first, '');
  const resumed = await played(browser, second, begun.resume);
  await browser.close();
  console.log(JSON.stringify([begun, resumed]));
})().catch((error) => { console.error(error); process.exit(1); });
