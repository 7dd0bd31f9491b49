// Looks at HTML files in headless Chromium and says what is wrong with them.
//   node browser.cjs FILE...      prints for each file a line, a JSON list of complaints
// Needs the npm packages playwright-core, axe-core and html-validate (NODE_PATH) and Chromium (CHROMIUM).

const { readFileSync } = require('node:fs');
const { pathToFileURL } = require('node:url');
const axe = require('axe-core');
const { HtmlValidate } = require('html-validate');
const { chromium } = require('playwright-core');

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const PHONE = 320; // CSS pixels: WCAG 2.2, 1.4.10
const LINE = Math.ceil((174 / 25.4) * 96); // the width of printed text
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
const STYLE_ONLY = { 'void-style': 'off', 'no-inline-style': 'off', 'long-title': 'off', 'no-trailing-whitespace': 'off' };
const validator = new HtmlValidate({ extends: ['html-validate:standard'], rules: STYLE_ONLY });

async function violations(page, where, only) {
  const options = { runOnly: only ? { type: 'rule', values: only } : { type: 'tag', values: RULES } };
  const found = await page.evaluate((chosen) => axe.run(document, chosen), options);
  return found.violations.map((v) => `${where}: ${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 200)} (${v.nodes.length})`);
}

async function tooWide(page, where, width) {
  await page.setViewportSize({ width, height: 800 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  return wide > width ? [`${where}: ${wide} pixels wide, where there are ${width}`] : [];
}

async function unprinted(page) {
  const hidden = await page.evaluate(() => {
    for (const opened of document.querySelectorAll('details')) opened.open = false;
    return [...document.querySelectorAll('details > :not(summary)')].filter((part) => !part.checkVisibility()).length;
  });
  return hidden ? [`on paper: ${hidden} parts of solutions are not there`] : [];
}

async function complaints(browser, file) {
  const found = [];
  const report = await validator.validateString(readFileSync(file, 'utf8'), file);
  for (const { messages } of report.results) {
    found.push(...messages.map((m) => `HTML: line ${m.line}: ${m.ruleId}: ${m.message}`));
  }
  const page = await browser.newPage({ viewport: { width: 1000, height: 800 }, reducedMotion: 'reduce' });
  page.on('console', (message) => found.push(`console: ${message.text()}`));
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) found.push(`asks for ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href);
  await page.evaluate(axe.source);
  const unloaded = await page.evaluate(async () => {
    for (const opened of document.querySelectorAll('details')) opened.open = true;
    await document.fonts.ready;
    return [...document.fonts].filter((font) => font.status !== 'loaded').length;
  });
  if (unloaded) found.push('the font of formulas does not load');
  found.push(...await violations(page, 'light'));
  await page.emulateMedia({ colorScheme: 'dark' });
  found.push(...await violations(page, 'dark', ['color-contrast']));
  await page.emulateMedia({ colorScheme: 'light' });
  found.push(...await tooWide(page, 'narrow screen', PHONE));
  found.push(...await violations(page, 'narrow screen', ['scrollable-region-focusable', 'target-size']));
  await page.emulateMedia({ media: 'print' });
  found.push(...await tooWide(page, 'on paper', LINE));
  found.push(...await unprinted(page));
  await page.close();
  return found;
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  for (const file of process.argv.slice(2)) console.log(JSON.stringify(await complaints(browser, file)));
  await browser.close();
})();
