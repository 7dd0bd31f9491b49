// Does what teachers and students do, as tasks.py says, and prints how long each took.
//   node tasks.cjs SITE ASKED.json FOLDER
// Needs the npm package playwright-core (NODE_PATH) and Chromium (CHROMIUM).
const { readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');
const { launched, served } = require('./served.cjs');

const [site, askedFile, folder] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(askedFile, 'utf8'));
const WIDE = { width: 1300, height: 900 };
const PHONE = { width: 360, height: 740 };

(async () => {
  const { base, closed } = await served(site, { headers: { 'cache-control': 'max-age=3600' } });
  const browser = await launched();
  const context = await browser.newContext({ viewport: WIDE, locale: 'en-GB' });
  const inside = await browser.newBrowserCDPSession();
  const used = async () => (await inside.send('SystemInfo.getProcessInfo')).processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  let page;
  const idle = async () => {
    await page.waitForTimeout(350);
    await page.waitForFunction(() => window.teacher?.drawn && !document.querySelector('main').ariaBusy, undefined, { timeout: 300_000 });
  };
  const view = async (name) => { await page.click(`[data-view="${name}"]`); await idle(); };
  const saved = async (act) => {
    const [file] = await Promise.all([page.waitForEvent('download', { timeout: 300_000 }), act()]);
    await idle();
    return `${file.suggestedFilename()}, ${Math.round(statSync(await file.path()).size / 1024)} kB`;
  };
  const only = async (area, ...names) => {
    for (const box of await page.$$(`${area} input:checked`)) await box.uncheck();
    for (const name of names) await page.check(`${area} [name="${name}"]`);
  };
  const buffers = (files) => Object.entries(files).map(([name, data]) => ({ name, mimeType: '', buffer: Buffer.from(data, 'base64') }));
  const asFile = (name, text) => ({ name, mimeType: '', buffer: Buffer.from(text) });

  const tasks = {
    'a sheet as PDF': async () => {
      await page.selectOption('#mechanism', 'causal_self_attention');
      await idle();
      return saved(() => page.click('.paper:first-child .saves button:text-is("PDF")'));
    },
    'thirty sheets with keys as PDF': async () => {
      await view('take');
      await page.fill('#count', '30');
      await only('#formats', 'pdf');
      await page.check('#together');
      return saved(() => page.click('#files [type="submit"]'));
    },
    'a question bank of twenty for Moodle': async () => {
      await page.selectOption('#problem', 'drills');
      await view('take');
      await page.fill('#count', '20');
      await only('#formats');
      await only('#banks', 'moodle');
      return saved(() => page.click('#files [type="submit"]'));
    },
    'an exam for a class of twelve as PDF': async () => {
      await view('exam');
      await page.fill('#head [name="title"]', 'Midterm');
      await page.fill('#head [name="variants"]', '3');
      for (const problem of ['full', 'masks', 'choice']) {
        await page.selectOption('#problem', problem);
        await idle();
        await page.click('#add');
        await idle();
      }
      await page.setInputFiles('#students', asFile('class.csv', asked.class));
      return saved(() => page.click('#exam [type="submit"]'));
    },
    'a handout: heads, worked, in LaTeX to put into notes': async () => {
      await page.selectOption('#mechanism', 'multi_head_attention');
      await idle();
      await page.check('#solutions [name="worked"]');
      await idle();
      for (const one of ['blank', 'key']) await page.uncheck(`#solutions [name="${one}"]`);
      await idle();
      return saved(() => page.click('.paper:first-child .saves button:has-text("input")'));
    },
    'what if, in a lecture': async () => {
      await page.selectOption('#mechanism', 'attention');
      await idle();
      await page.setViewportSize({ width: 1920, height: 1080 });
      await view('what-if');
      await page.selectOption('#kind', 'decimals');
      await idle();
      await page.fill('[data-name="K"] input >> nth=0', '3');
      await idle();
      await page.hover('#entry-A-2-3');
      await page.waitForSelector('#entry-A-2-3[aria-current]');
      return page.evaluate(() => document.querySelectorAll('.used').length).then((n) => `${n} entries are marked`);
    },
    'twelve hand-ins marked, three hostile': async () => {
      await view('marking');
      await page.setInputFiles('#frozen', asFile('exam.json', asked.frozen));
      await page.setInputFiles('#handed', buffers(asked.handed));
      return saved(() => page.click('#marking [type="submit"]'));
    },
    "somebody's exam.toml opened, a question shown, marks changed, saved": async () => {
      await view('exam');
      await page.setInputFiles('#open-exam', asFile('exam.toml', asked.exam));
      await page.waitForSelector('#questions li >> nth=2');
      await page.click('#questions li:first-child button:has-text("Show")');
      await idle();
      await view('exam');
      await page.fill('#questions li:nth-child(2) input', '8');
      return saved(() => page.click('#save-exam'));
    },
    'the link for students, of two parts, in German': async () => {
      await page.selectOption('#language', 'de');
      await idle();
      for (const part of ['Q', 'K', 'V', 'S', 'Z']) {
        await page.click(`[data-asked="${part}"]`);
        await idle();
      }
      await view('take');
      return page.evaluate(() => document.getElementById('link').textContent.split('#')[1]);
    },
    'large print of a drill with marks of its own': async () => {
      await page.selectOption('#problem', 'drills');
      await idle();
      await page.click('#choice details summary');
      await page.selectOption('#look-text_size', '24');
      await idle();
      await page.fill('[data-asked="a marks"]', '5');
      await page.press('[data-asked="a marks"]', 'Enter');
      await idle();
      return saved(() => page.click('.paper:first-child .saves button:text-is("PDF")'));
    },
  };
  let number = 0;
  for (const [name, task] of Object.entries(tasks)) {
    number += 1;
    page = await context.newPage();
    page.setDefaultTimeout(300_000);
    const [begun, before] = [Date.now(), await used()];
    await page.goto(`${base}teacher.html?${number}`);
    await idle();
    const came = await task();
    console.log(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s ${((await used()) - before).toFixed(1).padStart(6)} s  ${name}: ${came}`);
    await page.screenshot({ path: join(folder, `task-${String(number).padStart(2, '0')}.png`) });
    await page.evaluate(() => localStorage.clear());
    await page.close();
  }

  // Students: on a phone and on a screen by turns, all on one page that stays open.
  page = await context.newPage();
  page.setDefaultTimeout(300_000);
  await page.goto(`${base}#recipe=attention&seed=1`);
  await page.waitForFunction(() => window.practice?.drawn);
  for (const [k, { recipe, seed, name, typed }] of asked.scripts.entries()) {
    await page.setViewportSize(k % 2 ? WIDE : PHONE);
    const begun = Date.now();
    const before = await used();
    await page.evaluate((hash) => { location.hash = hash; }, new URLSearchParams({ recipe, seed }).toString());
    await page.waitForFunction((n) => window.practice.sheet === n && !document.querySelector('[aria-busy]'), name);
    const drawn = await used();
    await page.evaluate(() => document.querySelector('#sheet input[data-row]').focus());
    for (const text of typed) {
      if (text) await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    }
    const begin = await used();
    await page.evaluate(() => { window.practice.marked = null; });
    await page.click('#check');
    await page.waitForFunction(() => window.practice.marked && !document.querySelector('[aria-busy]'));
    const marked = await used();
    const { total, of } = await page.evaluate(() => window.practice.marked);
    console.log(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s, drawn in ${(drawn - before).toFixed(2)} s, marked in ${(marked - begin).toFixed(2)} s  ${recipe}: ${total} of ${of}`);
    await page.screenshot({ path: join(folder, `script-${String(k + 1).padStart(2, '0')}.png`) });
  }
  await browser.close();
  await closed();
})().catch((error) => { console.error(error); process.exit(1); });
