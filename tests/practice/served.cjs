// A folder served on this machine alone, and the browser that looks at it.
const { createServer } = require('node:http');
const { existsSync, readFileSync } = require('node:fs');
const { extname, join } = require('node:path');

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm' };
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// Its address and how to end it.  `instead(name)` is a text in place of a file, or null where there is to be none.
async function served(folder, { instead = () => undefined, headers = {} } = {}) {
  const server = createServer((request, response) => {
    const name = new URL(request.url, 'http://host').pathname.replace(/\/$/, '/index.html');
    const file = join(folder, name);
    const text = instead(name);
    if (text === null || (text === undefined && !existsSync(file))) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', ...headers });
    return response.end(text ?? readFileSync(file));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const closed = () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  return { base: `http://127.0.0.1:${server.address().port}/`, closed };
}

// Chromium; who looks with Firefox needs no playwright-core.
const launched = () => require('playwright-core').chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });

module.exports = { launched, served };
