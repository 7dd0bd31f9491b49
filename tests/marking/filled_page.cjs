// Types into a worksheet in headless Chromium and saves it, as JSON: with its own button, and as Chromium saves a page.
//   node filled_page.cjs PAGE.html TEXTS.json      TEXTS has a text for each field, in their order
// Needs the npm package playwright-core (NODE_PATH) and Chromium (CHROMIUM).
const { readFileSync } = require('node:fs');
const { pathToFileURL } = require('node:url');
const { chromium } = require('playwright-core');

const [file, told] = process.argv.slice(2);
const texts = JSON.parse(readFileSync(told, 'utf8'));

async function filled(browser) {
  const page = await browser.newPage();
  await page.goto(pathToFileURL(file).href);
  const fields = await page.locator('input, textarea').all();
  if (fields.length !== texts.length) throw new Error(`${fields.length} fields, ${texts.length} texts`);
  for (const [i, field] of fields.entries()) {
    if (!texts[i]) continue;
    if (['checkbox', 'radio'].includes(await field.getAttribute('type'))) await field.check({ force: true });
    else await field.pressSequentially(texts[i]);
  }
  const kept = await page.content(); // "Webpage, Complete" writes the document as it is, too
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.save button')]);
  return { kept, saved: readFileSync(await download.path(), 'utf8'), name: download.suggestedFilename() };
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    console.log(JSON.stringify(await filled(browser)));
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exit(1); });
