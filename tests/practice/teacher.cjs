// Opens the page for teachers in headless Chromium, does what teachers do there, and says what came of it, as JSON.
//   node teacher.cjs SITE ASKED.json
// Needs the npm packages playwright-core and axe-core (NODE_PATH) and Chromium (CHROMIUM).
const { mkdtempSync, readFileSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const axe = require('axe-core');
const { launched, served } = require('./served.cjs');

const [site, askedFile] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(askedFile, 'utf8'));
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const NARROW = { type: 'rule', values: ['target-size', 'scrollable-region-focusable'] };
const COLOURS = { type: 'rule', values: ['color-contrast'] }; // nothing else changes with them
const PATIENCE = { timeout: 300_000 };
const VIEWS = ['sheet', 'take', 'what-if', 'exam', 'marking'];

const missing = new Set();

(async () => {
  const { base, closed } = await served(site, { instead: (name) => (missing.has(name) ? null : undefined) });
  const browser = await launched();
  const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, locale: 'en-GB' });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE.timeout);
  const folder = mkdtempSync(join(tmpdir(), 'teacher-'));
  const said = { elsewhere: [], console: [], axe: {}, wide: [], files: {} };
  context.on('request', (r) => { if (!/^(data|blob):/.test(r.url()) && !r.url().startsWith(base)) said.elsewhere.push(r.url()); });
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) said.console.push(m.text()); });
  page.on('pageerror', (e) => said.console.push(String(e)));

  // Whatever was asked is there: nothing waits to be drawn, and nothing is being drawn.
  const idle = async () => {
    await page.waitForTimeout(400);
    await page.waitForFunction(() => window.teacher?.drawn && !document.querySelector('main').ariaBusy, undefined, PATIENCE);
  };
  const text = (id) => page.evaluate((name) => document.getElementById(name).textContent, id);
  const view = async (name) => { await page.click(`[data-view="${name}"]`); await idle(); };
  const download = async (name, act) => {
    const [file] = await Promise.all([page.waitForEvent('download', PATIENCE), act()]);
    const path = join(folder, name);
    await file.saveAs(path);
    said.files[name] = readFileSync(path).toString('base64');
    await idle();
    return path;
  };
  const broad = async (name) => {
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) said.wide.push(`${name}: ${over}`);
  };
  const looked = async (name, runOnly = { type: 'tag', values: RULES }) => {
    await page.evaluate(axe.source);
    const found = await page.evaluate((only) => axe.run(document, { runOnly: only }), runOnly);
    said.axe[name] = found.violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 160)} (${v.nodes.length})`);
    await broad(name);
  };

  // A sheet: chosen, seen, refused, and saved in a format.
  await page.goto(`${base}teacher.html#${new URLSearchParams({ recipe: asked.recipe, seed: asked.seed })}`);
  await idle();
  said.drawn = await page.evaluate(() => [window.teacher.drawn, document.querySelectorAll('.paper').length]);
  await download('sheet.md', () => page.click('.paper:first-child .saves button:has-text("Markdown")'));
  if (asked.pdf) await download('sheet.pdf', () => page.click('.paper:first-child .saves button:has-text("PDF") >> nth=1'));
  await page.selectOption('#mask', 'window:');
  await page.fill('#mask-value', '9');
  await idle();
  said.refused = await text('refused');
  await page.selectOption('#mask', '');
  await idle();
  said.again = [await text('refused'), await page.evaluate(() => window.teacher.drawn)];
  if (asked.pictures) await page.screenshot({ path: join(asked.pictures, 'teacher-sheet.png') });
  const before = page.url();
  await page.click('#another');
  await idle();
  said.another = page.url() !== before;
  await page.fill('#seed', String(asked.seed));
  await page.press('#seed', 'Tab');
  await idle();
  for (const one of VIEWS) {
    await view(one);
    await looked(`light ${one}`);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  for (const one of VIEWS.filter((_, at) => at % 2 === 0)) {
    await view(one);
    await looked(`dark ${one}`, COLOURS);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 360, height: 740 });
  for (const one of VIEWS) {
    await view(one);
    await looked(`phone ${one}`, NARROW);
  }
  for (const [k, language] of ['de', 'fr', 'es', 'zh'].entries()) { // words are longest in German
    await page.selectOption('#language', language);
    for (const one of VIEWS.filter((_, at) => k === 0 || at % 4 === k)) {
      await view(one);
      await broad(`${language} ${one}`);
    }
  }
  await page.selectOption('#language', 'en');
  await page.setViewportSize({ width: 1300, height: 900 });

  // By examples, with the keyboard: the dialog opens at what is chosen, and leads back to its button.
  await view('sheet');
  await page.focus('[data-examples="mechanism"]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#examples[open] .card');
  await looked('examples');
  const focused = () => page.evaluate(() => document.activeElement.dataset.examples ?? document.activeElement.textContent);
  said.examples = [await focused()];
  await page.keyboard.press('Escape');
  said.examples.push(await focused());
  await page.keyboard.press('Enter');
  await page.waitForSelector('#examples[open] .card');
  await page.click('.card:has-text("Layer norm") >> nth=0');
  await idle();
  said.examples.push(await page.evaluate(() => document.getElementById('mechanism').value));
  said.scripts = await page.evaluate(() => [...document.querySelectorAll(':is(msub, msup) > :first-child :is(msub, msup) > :nth-child(2)')]
    .filter((one) => !one.closest(':is(msub, msup, msubsup) > :nth-child(n + 2) *'))
    .map((one) => parseFloat(getComputedStyle(one).fontSize) / parseFloat(getComputedStyle(one.parentElement).fontSize)));
  await page.selectOption('#mechanism', 'cross_attention');
  await idle();
  await page.waitForFunction(() => document.querySelector('#level option:disabled'), undefined, PATIENCE);
  said.offered = await page.evaluate(() => ['level', 'softmax'].map((id) => [...document.getElementById(id).options].filter((one) => one.disabled).map((one) => one.text)));
  await page.goto(`${base}teacher.html#${new URLSearchParams({ recipe: asked.recipe, seed: asked.seed })}`);
  await idle();

  // Parts and marks, on the sheet itself: one is left out, another has more marks, and the first comes back.
  const parts = () => page.evaluate(() => [
    ...document.querySelectorAll('.paper:first-child [data-part]')].map((one) => one.textContent.trim().slice(0, 10)));
  await page.click('[data-asked="A"]');
  await idle();
  await page.fill('[data-asked="S marks"]', '9');
  await page.press('[data-asked="S marks"]', 'Enter');
  await idle();
  said.parts = [await parts(), page.url().split('#')[1], await page.evaluate(() => document.activeElement.dataset.asked)];
  await download('asked.md', () => page.click('.paper:first-child .saves button:has-text("Markdown")'));
  await page.click('[data-asked="A"]');
  await idle();
  said.parts.push(await parts());
  await page.fill('[data-asked="S marks"]', '');
  await page.press('[data-asked="S marks"]', 'Enter');
  await idle();
  said.parts.push(page.url().split('#')[1]);

  // Sets of every kind, as the page's Python makes them.
  said.sets = await page.evaluate(async (requests) => {
    const worker = new Worker('worker.js?teacher', { type: 'module' });
    const answers = [];
    await new Promise((resolve) => {
      worker.onmessage = ({ data }) => {
        if (data.answer) answers.push(JSON.parse(data.answer).data ?? data.answer);
        if (answers.length === requests.length) resolve();
      };
      requests.forEach((request, id) => worker.postMessage({ id, request: JSON.stringify(request) }));
    });
    worker.terminate();
    return answers;
  }, asked.requests ?? []);

  // Many variants, and a question bank.
  await view('take');
  await page.fill('#count', String(asked.count));
  for (const box of await page.$$('#formats input, #banks input')) await box.uncheck();
  for (const form of asked.forms) await page.check(`#view-take [name="${form}"]`);
  await idle();
  said.command = await text('command');
  said.link = await text('link');
  await download('set.zip', () => page.click('#files [type="submit"]'));

  // What if: a given is typed over, and an entry pointed at with the keyboard.
  await view('what-if');
  await page.fill('[data-name="Q"] input >> nth=0', '7');
  await idle();
  await page.focus('#entry-S-1-1');
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelector('#entry-S-1-2[aria-current]'), undefined, PATIENCE);
  said.entry = await page.evaluate(() => [...document.querySelectorAll('#entry math')].at(-1).textContent);
  said.used = await page.evaluate(() => [...document.querySelectorAll('.used')].map((cell) => cell.dataset.place));
  if (asked.pictures) await page.screenshot({ path: join(asked.pictures, 'teacher-what-if.png') });
  await page.fill('[data-name="Q"] input >> nth=0', 'two');
  await idle();
  said.notANumber = await text('refused');

  // An exam for a class, whose secret is in the download alone.
  await view('exam');
  await page.fill('#head [name="title"]', 'Midterm');
  await page.fill('#head [name="variants"]', '2');
  await page.click('#add');
  await idle();
  writeFileSync(join(folder, 'class.csv'), asked.students);
  await page.setInputFiles('#students', join(folder, 'class.csv'));
  for (const box of await page.$$('#exam-formats input')) await box.uncheck();
  await page.check('#exam-formats [name="markdown"]');
  if (asked.pdf) await page.check('#exam-formats [name="pdf"]');
  await download('exam.zip', () => page.click('#exam [type="submit"]'));
  said.secretShown = await page.evaluate(() => /[0-9a-f]{64}/.test(document.body.textContent));

  // What was handed in is marked, and what takes too long is ended.
  writeFileSync(join(folder, 'frozen.json'), asked.frozen ?? '');
  const handed = Object.entries(asked.handed ?? {}).map(([name, data]) => ({ name, mimeType: '', buffer: Buffer.from(data, 'base64') }));
  said.rows = [];
  for (const limit of asked.frozen ? ['', '?seconds=0.02'] : []) {
    if (limit) await page.goto(`${base}teacher.html${limit}`);
    await view('marking');
    await page.setInputFiles('#frozen', join(folder, 'frozen.json'));
    await page.setInputFiles('#handed', limit ? handed.slice(0, 1) : handed);
    await download(`marked${limit}.zip`, () => page.click('#marking [type="submit"]'));
    said.rows.push(await page.evaluate(() => window.teacher.rows));
    if (limit) continue;
    await looked('marked');
    await page.setViewportSize({ width: 360, height: 740 });
    await broad('phone marked');
    await page.setViewportSize({ width: 1300, height: 900 });
  }

  // A file that is missing is named, and a page that is opened from the disk says so.
  const problems = [...said.console];
  missing.add('/making.bin').add('/page.json');
  await page.goto(`${base}teacher.html?again`);
  await page.waitForFunction(() => document.getElementById('refused').textContent, undefined, PATIENCE);
  said.missing = await text('refused');
  await page.goto(base);
  await page.waitForFunction(() => /page.json/.test(document.getElementById('unopened').textContent), undefined, PATIENCE);
  missing.delete('/page.json');
  missing.add('/symattn.bin');
  await page.reload();
  await page.waitForFunction(() => /symattn.bin/.test(document.getElementById('status').textContent), undefined, PATIENCE);
  said.lost = await page.evaluate(() => document.getElementById('lost').hidden);
  await page.goto(`file://${join(site, 'teacher.html')}`);
  await page.waitForFunction(() => getComputedStyle(document.getElementById('unopened')).visibility === 'visible', undefined, PATIENCE);
  said.fromDisk = await text('unopened');
  said.console = problems;
  said.elsewhere = said.elsewhere.filter((url) => !url.startsWith('file:'));
  console.log(JSON.stringify(said));
  await browser.close();
  await closed();
})().catch((error) => { console.error(error); process.exit(1); });
