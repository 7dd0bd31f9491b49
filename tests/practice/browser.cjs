// Opens a practice page in headless Chromium, types scripts into it by keyboard, and says what came of it, as JSON.
//   node browser.cjs SITE SCRIPTS.json [PICTURES]
// Needs the npm packages playwright-core and axe-core (NODE_PATH) and Chromium (CHROMIUM).
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const axe = require('axe-core');
const { launched, served } = require('./served.cjs');

const [site, scriptsFile, pictures] = process.argv.slice(2);
const scripts = JSON.parse(readFileSync(scriptsFile, 'utf8'));
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const COLOURS = { type: 'rule', values: ['color-contrast'] }; // nothing else changes with them
const PATIENCE = { timeout: 300_000 };

async function opened(page, base, { recipe, seed, name }) {
  const hash = new URLSearchParams({ recipe, seed });
  if (page.url().startsWith(base)) await page.evaluate((h) => { location.hash = h; }, hash.toString());
  else await page.goto(`${base}#${hash}`);
  await page.waitForFunction((n) => window.practice?.sheet === n && !document.querySelector('[aria-busy]'), name, PATIENCE);
}

// From the first box on, down each column and on to the next matrix, as Enter goes.
async function typed(page, script) {
  await page.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
  for (const text of script.typed) {
    if (text) await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  }
}

async function checked(page) {
  await page.evaluate(() => { window.practice.marked = null; });
  await page.click('#check');
  await page.waitForFunction(() => window.practice.marked && !document.querySelector('[aria-busy]'), undefined, PATIENCE);
  return page.evaluate(() => window.practice.marked);
}

async function violations(page, runOnly = { type: 'tag', values: RULES }) {
  await page.evaluate(axe.source);
  const found = await page.evaluate((only) => axe.run(document, { runOnly: only }), runOnly);
  return found.violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 160)} (${v.nodes.length})`);
}

// A report, and on a phone the middle of a hint.
async function pictured(page, script) {
  await page.setViewportSize({ width: 1100, height: 900 });
  await page.locator('#result').screenshot({ path: join(pictures, 'practice-report.png') });
  await page.setViewportSize({ width: 390, height: 780 });
  await page.evaluate(() => {
    document.querySelectorAll('#sheet input[data-row]').forEach((box, k) => { if (k > 3) box.value = ''; });
    document.querySelectorAll('#sheet input[data-row]')[4].focus();
  });
  await page.click('.part[data-number="1"] [data-say="check_line"]');
  await page.waitForSelector('.part[data-number="1"] .said:not(:empty)');
  for (let level = 1; level <= 3; level += 1) {
    await page.waitForFunction(() => !document.querySelector('[aria-busy]'));
    await page.click(level === 1 ? '.part[data-number="1"] [data-say="hint"]' : '.said [data-say="more"]');
    await page.waitForFunction((l) => window.practice.hint?.level === l && !document.querySelector('[aria-busy]'), level, PATIENCE);
  }
  await page.evaluate(() => document.querySelector('.part[data-number="1"]').scrollIntoView({ behavior: 'instant' }));
  await page.evaluate(() => window.scrollBy({ top: -16, behavior: 'instant' }));
  await page.screenshot({ path: join(pictures, 'practice-hint.png') });
  await page.setViewportSize({ width: 1000, height: 900 });
  await opened(page, new URL('./', page.url().split('#')[0]).href, script);
}

(async () => {
  const { base, closed } = await served(site);
  const browser = await launched();
  const context = await browser.newContext({ viewport: { width: 1000, height: 900 }, locale: 'en-GB' });
  const page = await context.newPage();
  const said = { elsewhere: [], console: [], results: [], axe: {}, wide: [] };
  context.on('request', (r) => { if (!/^(data|blob):/.test(r.url()) && !r.url().startsWith(base)) said.elsewhere.push(r.url()); });
  page.on('console', (m) => said.console.push(m.text()));
  page.on('pageerror', (e) => said.console.push(String(e)));

  // Processor time of all of Chromium's processes, in milliseconds.
  const inside = await browser.newBrowserCDPSession();
  const spent = async (work) => {
    const used = async () => {
      const { processInfo } = await inside.send('SystemInfo.getProcessInfo');
      return 1000 * processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    };
    const before = await used();
    const came = await work();
    return [came, (await used()) - before];
  };
  // Processor time of the page's Python alone: of its thread, while it answers; tracing takes time, and is for figures.
  const answering = async (work) => {
    if (!process.env.FIGURES) return work();
    await browser.startTracing(page, { categories: ['devtools.timeline'] });
    await work();
    const { traceEvents } = JSON.parse(await browser.stopTracing());
    const python = traceEvents.find(({ name, args }) => name === 'thread_name' && args.name.startsWith('DedicatedWorker'));
    const answers = traceEvents.filter(({ name, pid, tid, tdur }) => name === 'HandlePostMessage' && tdur && pid === python.pid && tid === python.tid);
    return answers.reduce((sum, { tdur }) => sum + tdur / 1000, 0);
  };
  [, said.firstSpent] = await spent(() => opened(page, base, scripts[0]));
  said.first = await page.evaluate(() => window.practice.drawn ?? performance.now());
  const undoable = () => page.evaluate(() => !document.getElementById('undo').disabled);
  said.undoable = [await undoable()]; // nothing was typed yet
  for (const script of scripts) {
    const [drawing, draw] = await spent(() => answering(() => opened(page, base, script)));
    await typed(page, script);
    let marked;
    const [marking, mark] = await spent(() => answering(async () => { marked = await checked(page); }));
    said.results.push({ ...marked, draw, drawing, mark, marking });
    if (pictures && said.results.length === 1) await pictured(page, script);
  }

  said.axe.light = await violations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  said.axe.dark = await violations(page, COLOURS);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  said.paper = await page.evaluate(() => ({
    clicked: [...document.querySelectorAll('button, select')].filter((one) => one.checkVisibility()).map((one) => one.outerHTML),
    background: getComputedStyle(document.documentElement).backgroundColor,
    cut: [...document.querySelectorAll('.part, #result')].filter((one) => getComputedStyle(one).breakInside !== 'avoid').length,
  }));
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
  for (const width of [320, 390]) {
    await page.setViewportSize({ width, height: 844 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) said.wide.push(`${wide} of ${width}`);
  }

  // A hint, further each time; then a fresh exercise, and back.
  await opened(page, base, scripts[0]);
  await page.click('.part[data-number="1"] [data-say="hint"]');
  await page.waitForSelector('.said [data-say="more"]');
  await page.click('.said [data-say="more"]');
  await page.waitForFunction(() => window.practice.hint?.level === 2 && !document.querySelector('[aria-busy]'), undefined, PATIENCE);
  said.hint = await page.evaluate(() => window.practice.hint);
  const first = () => page.evaluate(() => document.querySelector('#sheet input[data-row]').value);
  said.begun = await first();
  await page.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
  await page.keyboard.type('999');
  await checked(page);
  await page.click('.part[data-number="1"] [data-say="again"]');
  await page.waitForFunction((name) => window.practice.sheet !== name && !document.querySelector('[aria-busy]'), scripts[0].name, PATIENCE);
  said.exercise = await page.evaluate(() => document.querySelectorAll('.part').length);
  await page.click('#back');
  await page.waitForSelector('#back', { state: 'hidden' });
  const left = async () => [await first(), await page.evaluate(() => document.querySelector('#sheet td[data-row]').dataset.state)];
  said.left = [await left()];
  await page.keyboard.press('Control+z'); // what was typed before the exercise
  said.left.push(await left());

  // Another sheet, and back by the browser's own button: what was typed is there, and can be undone.
  await page.click('#sheet input[data-row]');
  await page.keyboard.type('5');
  said.undoable.push(await undoable());
  await page.click('#new');
  await page.waitForFunction((name) => window.practice.sheet !== name && !document.querySelector('[aria-busy]'), scripts[0].name, PATIENCE);
  await page.goBack();
  await page.waitForFunction((name) => window.practice.sheet === name && !document.querySelector('[aria-busy]'), scripts[0].name, PATIENCE);
  said.returned = [await first()];
  await page.click('#undo');
  said.returned.push(await first());
  await page.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
  await page.keyboard.type('8');
  said.kept = await first();

  // By keyboard alone: from the top of the page to the first box; a report comes into view; a topic keeps the focus.
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.dataset.row || document.activeElement.textContent);
  await page.evaluate(() => document.getElementById('skip').focus());
  await page.keyboard.press('Enter');
  said.focus = [await focused()];
  await checked(page);
  await page.waitForFunction(() => Math.abs(document.getElementById('result').getBoundingClientRect().top) < 20, undefined, PATIENCE);
  said.focus.push(await focused());
  await page.evaluate(() => document.querySelectorAll('#topics button')[1].focus());
  const second = await focused();
  await page.keyboard.press('Enter');
  await page.waitForFunction((name) => window.practice.sheet !== name && !document.querySelector('[aria-busy]'), scripts[0].name, PATIENCE);
  said.focus.push((await focused()) === second);
  await page.goBack();
  await page.waitForFunction((name) => window.practice.sheet === name && !document.querySelector('[aria-busy]'), scripts[0].name, PATIENCE);

  // The link, with a clipboard and without one.
  const status = () => page.evaluate(() => document.getElementById('status').textContent);
  said.link = [];
  for (const works of [true, false]) {
    await page.evaluate((able) => {
      document.getElementById('status').textContent = '';
      const clipboard = able ? { writeText: async () => {} } : undefined;
      Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });
    }, works);
    await page.click('#link');
    await page.waitForFunction(() => document.getElementById('status').textContent);
    said.link.push((await status()) === page.url() ? 'the address' : await status());
  }

  // Two tabs: what either of them keeps stays.
  const [written, other] = [await first(), await context.newPage()];
  await opened(other, base, scripts[1]);
  await other.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
  await page.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
  await page.keyboard.type('6');
  await other.waitForTimeout(200);
  await other.keyboard.type('4');
  said.tabs = await other.evaluate((names) => names.map((name) => JSON.parse(localStorage['symattn-practice']).sheets[name][0]),
    [scripts[0], scripts[1]].map(({ recipe, seed }) => `${recipe} --seed ${seed}`));
  // The same sheet in both: each box is kept, whichever of them writes later.
  await opened(other, base, scripts[0]);
  const boxes = (tab) => tab.evaluate(() => [...document.querySelectorAll('#sheet input[data-row]')].slice(0, 3).map((b) => b.value));
  const types = async (tab, k, text) => {
    await tab.evaluate((n) => document.querySelectorAll('#sheet input[data-row]')[n].select(), k);
    await tab.keyboard.type(text);
    await tab.waitForTimeout(200);
  };
  await types(other, 1, '41');
  await types(page, 2, '42');
  said.sameSheet = [await boxes(page), await boxes(other)];
  await other.close();
  await page.keyboard.press('Control+z');
  await page.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
  await page.keyboard.press('Control+z');
  said.tabs.push(await first() === written);

  // As in a spreadsheet: arrows, Enter, undo.
  const here = () => page.evaluate(() => [document.activeElement.dataset.row, document.activeElement.dataset.column].map(Number));
  await page.evaluate(() => document.querySelector('#sheet input[data-row]').select());
  said.moves = [];
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowLeft', 'Enter', 'Shift+Enter']) {
    await page.keyboard.press(key);
    said.moves.push(await here());
  }
  said.undone = [await first()];
  await page.keyboard.type('77');
  said.undone.push(await first());
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+z');
  said.undone.push(await first());

  // Addresses that lead to no sheet, mistyped or cut off: what to do, and why in a place of its own; then the course.
  said.lost = [];
  for (const hash of ['recipe=atention&seed=7', 'recipe=attention&seed=7x', 'recip']) {
    await page.evaluate((h) => { location.hash = h; }, hash);
    await page.waitForFunction(() => !document.getElementById('lost').hidden && !document.querySelector('[aria-busy]'), undefined, PATIENCE);
    said.axe.lost ??= await violations(page);
    said.lost.push(await page.evaluate(() => [
      document.querySelector('#lost p').textContent, document.getElementById('status').textContent,
      document.getElementById('sheet').hidden, document.querySelector('#lost details').open,
      document.getElementById('why').textContent,
    ]));
    await page.click('#start');
    await page.waitForFunction(() => document.getElementById('lost').hidden && !document.querySelector('[aria-busy]'), undefined, PATIENCE);
  }
  await opened(page, base, scripts[0]);

  // Progress of another browser.
  const progress = { 'symattn-practice': 1, best: { [scripts[0].recipe]: 101 }, sheets: {} };
  const file = (content) => page.setInputFiles('#file', { name: 'p.json', mimeType: 'application/json', buffer: Buffer.from(content) });
  const told = () => page.waitForFunction(() => document.getElementById('status').textContent).then((h) => h.jsonValue());
  said.imported = [];
  for (const content of [JSON.stringify(progress), '{"best": 3}', 'no JSON']) {
    await page.evaluate(() => { document.getElementById('status').textContent = ''; });
    await file(content);
    said.imported.push(await told());
  }
  const last = { recipe: scripts[1].recipe, seed: scripts[1].seed };
  await file(JSON.stringify({ ...progress, last })); // goes on where its owner stopped
  await page.waitForFunction((name) => window.practice.sheet === name && !document.querySelector('[aria-busy]'), scripts[1].name, PATIENCE);
  said.goesOn = await page.evaluate(() => document.getElementById('status').textContent);
  said.withoutLevel = await page.evaluate(() => [
    document.querySelector('[aria-current]').firstChild.textContent, document.getElementById('level').value,
  ]);
  await page.goBack();
  await page.waitForFunction((name) => window.practice.sheet === name && !document.querySelector('[aria-busy]'), scripts[0].name, PATIENCE);
  said.best = await page.evaluate(() => document.querySelector('[aria-current] .best').textContent);

  // The second visit, without a network; SymPy too.
  await page.evaluate(() => navigator.serviceWorker.ready);
  await closed();
  [, said.againSpent] = await spent(async () => {
    await page.reload();
    await page.waitForFunction(() => window.practice?.drawn, undefined, PATIENCE);
  });
  said.again = await page.evaluate(() => window.practice.drawn);
  said.offline = await page.evaluate(() => window.practice.sheet);
  said.restored = await page.evaluate(() => document.querySelector('#sheet input[data-row]').value);
  await opened(page, base, scripts.at(-1));
  said.offlineToo = await page.evaluate(() => window.practice.sheet);
  await browser.close();
  console.log(JSON.stringify(said));
})().catch((error) => { console.error(error); process.exit(1); });
