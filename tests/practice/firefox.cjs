// Both pages in headless Firefox: a script is typed and marked, a sheet is chosen and taken away; what came of it, as JSON.
//   node firefox.cjs SITE ASKED.json
// Needs the npm package puppeteer-core (NODE_PATH) and Firefox (FIREFOX).
const { readFileSync } = require('node:fs');
const puppeteer = require('puppeteer-core');
const { served } = require('./served.cjs');

const [site, askedFile] = process.argv.slice(2);
const { script, choice } = JSON.parse(readFileSync(askedFile, 'utf8'));
const PATIENCE = { timeout: 240_000 };

(async () => {
  const { base, closed } = await served(site);
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath: process.env.FIREFOX, headless: true });
  const page = await browser.newPage();
  await page.setViewport({ width: 1000, height: 900 });
  const said = { elsewhere: [], console: [], wide: [] };
  page.on('request', (r) => { if (!/^(data|blob):/.test(r.url()) && !r.url().startsWith(base)) said.elsewhere.push(r.url()); });
  page.on('console', (m) => { if (['error', 'warn'].includes(m.type())) said.console.push(m.text()); });
  page.on('pageerror', (e) => said.console.push(String(e)));
  await page.evaluateOnNewDocument(() => { // what is given away is kept here
    window.given = [];
    URL.createObjectURL = (blob) => `#${window.given.push(blob)}`;
    HTMLAnchorElement.prototype.click = () => {};
  });
  const until = (told, ...values) => page.waitForFunction(told, PATIENCE, ...values);
  const wide = async (name) => {
    await page.setViewport({ width: 360, height: 740 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (over > 0) said.wide.push(`${name}: ${over}`);
    await page.setViewport({ width: 1000, height: 900 });
  };

  // A student: every box by keyboard, all of it marked, and what a box says.
  await page.goto(`${base}#${new URLSearchParams({ recipe: script.recipe, seed: script.seed })}`);
  await until((name) => window.practice?.sheet === name && !document.querySelector('[aria-busy]'), script.name);
  await page.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
  for (const text of script.typed) {
    if (text) await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  }
  await page.click('#check');
  await until(() => window.practice.marked && !document.querySelector('[aria-busy]'));
  said.marked = await page.evaluate(() => window.practice.marked);
  await page.click('.part[data-number="1"] [data-say="hint"]');
  await until(() => window.practice.hint && !document.querySelector('[aria-busy]'));
  said.hint = await page.evaluate(() => window.practice.hint.level);
  await wide('practice');

  // A teacher: a sheet, without one of its parts, as a file; and what becomes of a given that is changed.
  const idle = async () => {
    await new Promise((resolve) => { setTimeout(resolve, 400); });
    await until(() => window.teacher?.drawn && !document.querySelector('main').ariaBusy);
  };
  await page.goto(`${base}teacher.html#${new URLSearchParams({ recipe: choice.recipe, seed: choice.seed })}`);
  await idle();
  said.drawn = await page.evaluate(() => window.teacher.drawn);
  await page.click(`[data-asked="${choice.without}"]`);
  await idle();
  said.left = await page.evaluate(() => document.querySelectorAll('.left-out').length);
  for (const form of ['Markdown', 'PDF']) {
    await page.evaluate((name) => {
      [...document.querySelectorAll('.paper:first-child .saves button')].find((one) => one.textContent === name).click();
    }, form);
    await idle();
  }
  said.files = await page.evaluate(async () => {
    const base64 = async (blob) => btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), (b) => String.fromCharCode(b)).join(''));
    return Promise.all(window.given.map(base64));
  });
  await page.click('[data-view="what-if"]');
  await idle();
  await page.evaluate(() => { document.querySelector('[data-name="Q"] input').value = ''; });
  await page.type('[data-name="Q"] input', '7');
  await idle();
  await page.focus('#entry-S-1-1');
  await until(() => document.querySelector('#entry-S-1-1[aria-current]'));
  said.entry = await page.evaluate(() => [...document.querySelectorAll('#entry math')].at(-1).textContent);
  await wide('teacher');
  await page.click('[data-examples="problem"]');
  await until(() => document.querySelectorAll('#shown-examples .card').length > 5);
  said.examples = await page.evaluate(() => document.activeElement.textContent);
  console.log(JSON.stringify(said));
  await browser.close();
  await closed();
})().catch((error) => { console.error(error); process.exit(1); });
