// Scores a QTI 3 item in headless Chromium with @citolab/qti-components.
//   node components.cjs ITEM.xml CASES.json      prints a JSON list: the score, and how many feedback blocks are shown
// CASES.json is a list of responses by their names.  Needs the npm packages playwright-core and @citolab/qti-components
// (NODE_PATH) and Chromium (CHROMIUM).

const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { chromium } = require('playwright-core');

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
const COMPONENTS = join(dirname(require.resolve('@citolab/qti-components/package.json')), 'cdn', 'index.global.js');

async function score([source, cases]) {
  const shown = (block) => (block.showStatus ?? block.getAttribute('showstatus')) === 'on';
  const found = [];
  for (const responses of cases) {
    document.body.innerHTML = source;
    const item = document.querySelector('qti-assessment-item');
    await item.updateComplete;
    await new Promise(requestAnimationFrame);
    for (const [name, response] of Object.entries(responses)) item.updateResponseVariable(name, response);
    item.processResponse();
    await new Promise(requestAnimationFrame);
    const blocks = [...document.querySelectorAll('qti-feedback-block')];
    found.push([Number(item.getOutcome('SCORE').value), blocks.filter(shown).length]);
  }
  return found;
}

(async () => {
  const [item, cases] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'));
  // In HTML no element of this kind is closed by its own tag.
  const source = item.replace(/<\?xml[^>]*\?>/g, '').replace(/<(qti-[a-z-]+)([^>]*)\/>/g, '<$1$2></$1>');
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  try {
    const page = await browser.newPage();
    await page.setContent('<!doctype html><body></body>');
    await page.addScriptTag({ path: COMPONENTS });
    console.log(JSON.stringify(await page.evaluate(score, [source, JSON.parse(cases)])));
  } finally {
    await browser.close();
  }
})();
