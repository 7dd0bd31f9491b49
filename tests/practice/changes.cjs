// What each change on the page for teachers costs: processor time of its Python alone, and of all of Chromium's processes,
// in milliseconds; a line of JSON for each.  Rendering without a graphics card is among the latter.
//   node changes.cjs SITE
// Needs the npm package playwright-core (NODE_PATH) and Chromium (CHROMIUM).
const { launched, served } = require('./served.cjs');

const [site] = process.argv.slice(2);

(async () => {
  const { base, closed } = await served(site);
  const browser = await launched();
  const page = await (await browser.newContext({ viewport: { width: 1300, height: 900 }, locale: 'en-GB' })).newPage();
  page.setDefaultTimeout(120_000);
  const inside = await browser.newBrowserCDPSession();
  const used = async () => (await inside.send('SystemInfo.getProcessInfo')).processInfo.reduce((sum, { cpuTime }) => sum + 1000 * cpuTime, 0);
  const drawn = () => page.waitForFunction(() => window.teacher?.drawn && !document.querySelector('main').ariaBusy);
  await page.goto(`${base}teacher.html#recipe=attention&seed=7`);
  await drawn();

  // After the form is changed, the page waits a moment before it draws; the next busy time is that of the change.
  const told = async (name, act) => {
    await page.waitForTimeout(300);
    await page.evaluate(() => {
      window.busy = new Promise((resolve) => {
        new MutationObserver((_, observer) => {
          if (document.querySelector('main').ariaBusy) return;
          observer.disconnect();
          resolve();
        }).observe(document.querySelector('main'), { attributes: true });
      });
    });
    await browser.startTracing(page, { categories: ['devtools.timeline'] });
    const before = await used();
    await act();
    await page.evaluate(() => window.busy);
    const all = (await used()) - before;
    const { traceEvents } = JSON.parse(await browser.stopTracing());
    const python = traceEvents.find(({ name: one, args }) => one === 'thread_name' && args.name.startsWith('DedicatedWorker'));
    const answers = traceEvents.filter(({ name: one, pid, tid, tdur }) => one === 'HandlePostMessage' && tdur && pid === python.pid && tid === python.tid);
    console.log(JSON.stringify({ name, python: Math.round(answers.reduce((sum, { tdur }) => sum + tdur / 1000, 0)), all: Math.round(all) }));
  };
  const chosen = (id, value) => told(`${id}: ${value}`, () => page.selectOption(`#${id}`, value));
  for (let seed = 1; seed < 4; seed += 1) await told('other numbers', () => page.click('#another'));
  await told('a part less', () => page.click('[data-asked="A"]'));
  await told('a part more', () => page.click('[data-asked="A"]'));
  await told('marks', async () => { await page.fill('[data-asked="S marks"]', '9'); await page.press('[data-asked="S marks"]', 'Enter'); });
  for (const level of ['starter', 'long', 'standard']) await chosen('level', level);
  for (const layout of ['falk', 'columns', 'flow', 'matrix']) await chosen('layout', layout);
  for (const one of ['note-002', 'columns', 'standard']) await chosen('notation', one);
  for (const one of ['base 2', 'equal', 'e']) await chosen('softmax', one);
  for (const one of ['de', 'en']) await chosen('sheet-language', one);
  await chosen('mask', 'causal');
  await chosen('mask', '');
  for (const id of ['mechanism', 'problem']) {
    for (const value of await page.evaluate((one) => [...document.getElementById(one).options].map((o) => o.value), id)) {
      if (value === 'full' || value === (await page.evaluate((one) => document.getElementById(one).value, id))) continue;
      await chosen(id, value);
      await told('other numbers of it', () => page.click('#another'));
    }
  }
  await browser.close();
  await closed();
})().catch((error) => { console.error(error); process.exit(1); });
