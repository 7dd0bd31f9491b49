// Keeps the page's files, so that it opens at once the second time, and without a network.
const CACHE = "symattn-practice-<<hash>>";
const FILES = <<files>>;
const TEACHERS = /\/(?:teacher[\w.-]*|(?:making|pypdf)\.bin)(?:[?#]|$)|\?teacher$/; // their page is always the newest

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then(async (cache) => {
    const fresh = (name) => new Request(name, { cache: "no-cache" }); // none of a version before
    await cache.addAll(FILES.map(fresh));
    const plain = await fetch(fresh("pyodide.wasm")); // as worker.js takes it
    if (plain.ok && plain.headers.get("content-type") === "application/wasm") await cache.put("pyodide.wasm", plain);
    else await cache.add(fresh("pyodide.bin"));
  }));
});

self.addEventListener("activate", (event) => {
  const old = caches.keys().then((names) =>
    Promise.all(names.filter((n) => n.startsWith("symattn-practice-") && n !== CACHE).map((n) => caches.delete(n))));
  event.waitUntil(old.then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { method, url, referrer } = event.request;
  if (method !== "GET" || TEACHERS.test(url) || TEACHERS.test(referrer)) return;
  event.respondWith((async () => {
    const cache = await caches.open(CACHE);
    return (await cache.match(event.request, { ignoreSearch: true, ignoreVary: true })) ?? fetch(event.request);
  })());
});
