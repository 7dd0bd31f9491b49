// How long both pages take to open, beside a bare loadPyodide of the same files: wall time and processor time of all of
// Chromium's processes, in milliseconds, by turns; a line of JSON for each.
//   node opening.cjs SITE [ROUNDS]
// Needs the npm package playwright-core (NODE_PATH) and Chromium (CHROMIUM).
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { launched, served } = require('./served.cjs');

const [site, rounds = '3'] = process.argv.slice(2);
const BARE = {
  '/bare.html': '<!DOCTYPE html><link rel="icon" href="data:,"><script type="module" src="bare.js"></script>',
  '/bare.js': 'new Worker("bare-worker.js", { type: "module" }).onmessage = () => { window.drawn = performance.now(); };',
  '/bare-worker.js': `import { loadPyodide } from "./pyodide.js";
import createPyodideModule from "./pyodide.asm.js";
const here = new URL("./", self.location.href).href;
const network = self.fetch.bind(self);
self.fetch = (resource, options) => network(String(resource.url ?? resource).endsWith("pyodide.asm.wasm") ? here + "pyodide.wasm" : resource, options);
const lockFileContents = ${JSON.stringify(JSON.stringify({ info: { arch: 'wasm32', platform: 'emscripten_5_0_3', version: 'VERSION', python: '3.14.2', abi_version: '2026_0' }, packages: {} }))};
await loadPyodide({ indexURL: here, stdLibURL: here + "python.bin", lockFileContents, packageBaseUrl: here, createPyodideModule });
self.postMessage(true);`,
};
const version = /version: "([\d.]+)"/.exec(readFileSync(join(site, 'worker.js'), 'utf8'))[1];

const PAGES = {
  bare: ['bare.html', () => window.drawn],
  practice: ['#recipe=attention&seed=7', () => window.practice?.drawn],
  teacher: ['teacher.html#recipe=attention&seed=7', () => window.teacher?.drawn && performance.now()],
};

(async () => {
  const { base, closed } = await served(site, {
    instead: (name) => BARE[name]?.replace('VERSION', version), headers: { 'cache-control': 'max-age=3600' },
  });
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const [name, [address, drawn]] of Object.entries(PAGES)) {
      const browser = await launched();
      const context = await browser.newContext({ locale: 'en-GB' });
      const inside = await browser.newBrowserCDPSession();
      const used = async () => (await inside.send('SystemInfo.getProcessInfo')).processInfo.reduce((sum, { cpuTime }) => sum + 1000 * cpuTime, 0);
      for (const visit of ['cold', 'second', 'third']) {
        const page = await context.newPage();
        const before = await used();
        await page.goto(base + address);
        const wall = await (await page.waitForFunction(drawn, undefined, { timeout: 300_000, polling: 20 })).jsonValue();
        const spent = (await used()) - before;
        console.log(JSON.stringify({ name, visit, wall: Math.round(wall), spent: Math.round(spent) }));
        await page.waitForTimeout(visit === 'cold' ? 3000 : 500); // what the browser keeps, it keeps afterwards
        await page.close();
      }
      await browser.close();
    }
  }
  await closed();
})().catch((error) => { console.error(error); process.exit(1); });
