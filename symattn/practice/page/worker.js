// Runs symattn: requests come in as JSON, answers go out as JSON, one after the other.
import { loadPyodide } from "./pyodide.js";
import createPyodideModule from "./pyodide.asm.js";

const here = new URL("./", self.location.href).href;
const { search } = self.location;
const teacher = search === "?teacher";
const network = self.fetch.bind(self);
const WASM = "application/wasm";

// Browsers keep compiled what comes as a plain file of the right type; in packages, and from servers that do not know
// the type, it comes compressed by us.
self.fetch = async (resource, options) => {
  const url = String(resource.url ?? resource);
  if (!url.endsWith("pyodide.asm.wasm")) return network(resource, options);
  const plain = search === "?packed" ? null : await network(`${here}pyodide.wasm`);
  if (plain?.ok && plain.headers.get("content-type") === WASM) return plain;
  plain?.body?.cancel();
  return unpacked("pyodide.bin", WASM);
};

// What Python imports in the middle of its work has to be there at once.
self.fetchAtOnce = (name) => {
  const request = new XMLHttpRequest();
  request.open("GET", here + name, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`${name}: ${request.status}`);
  return new Uint8Array(request.response);
};

const START = `
import os, sys
from importlib.abc import MetaPathFinder

ARCHIVES = {"sympy": "sympy", "mpmath": "sympy", "pypdf": "pypdf"}

class Later(MetaPathFinder):
    """Archives that are fetched when something imports what is in them."""

    def find_spec(self, name, path=None, target=None):
        archive = ARCHIVES.pop(name.partition(".")[0], None)
        if archive is None or f"/lib/{archive}.zip" in sys.path:
            return None
        import importlib.util
        from js import fetchAtOnce
        with open(f"/lib/{archive}.zip", "wb") as file:
            file.write(fetchAtOnce(f"{archive}.bin").to_bytes())
        sys.path.append(f"/lib/{archive}.zip")
        return importlib.util.find_spec(name)

os.environ["SYMATTN_CACHE"] = ""  # nothing outlives the page
sys.path.insert(0, "/lib/practice")
sys.meta_path.append(Later())
from symattn.practice.${teacher ? "teacher" : "session"} import answer
`;

const lock = JSON.stringify({
  info: { arch: "wasm32", platform: "emscripten_5_0_3", version: "<<version>>", python: "3.14.2", abi_version: "2026_0" },
  packages: {},
});

async function fetched(name) {
  const response = await network(here + name);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.arrayBuffer();
}

// A file that comes compressed by us.
async function unpacked(name, type) {
  const packed = await network(here + name);
  if (!packed.ok) throw new Error(`${name}: ${packed.status}`);
  return new Response(packed.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "content-type": type } });
}

// PDF is made by Typst, which is fetched when it is first wanted; Python calls it in the middle of its work.
const wantsPdf = ({ form, forms }) => form === "pdf" || Boolean(forms?.includes?.("pdf"));
let typst = null;

async function withTypst(python) {
  const [{ default: init, TypstCompilerBuilder }, wasm, fonts] = await Promise.all([
    import("./teacher-typst.js"), unpacked("teacher-typst.bin", WASM), fetched("teacher-fonts.bin"),
  ]);
  await init({ module_or_path: wasm });
  python.unpackArchive(fonts, "zip", { extractDir: "/lib/fonts" });
  const builder = new TypstCompilerBuilder();
  builder.set_dummy_access_model();
  for (const name of python.FS.readdir("/lib/fonts").filter((one) => one.endsWith(".otf"))) {
    await builder.add_raw_font(python.FS.readFile(`/lib/fonts/${name}`));
  }
  const compiler = await builder.build();
  self.compileTypst = (source) => {
    compiler.add_source("/main.typ", source);
    const { result, diagnostics } = compiler.compile("/main.typ", undefined, "pdf", 2);
    return result ?? String(diagnostics[0]);
  };
}

const ready = (async () => {
  const archives = ["symattn.bin", ...(teacher ? ["making.bin"] : [])].map(fetched);
  const python = await loadPyodide({
    indexURL: here, stdLibURL: `${here}python.bin`, lockFileContents: lock, packageBaseUrl: here, createPyodideModule,
  });
  for (const archive of archives) python.unpackArchive(await archive, "zip", { extractDir: "/lib/practice" });
  python.runPython(START);
  return python;
})();
ready.then(() => self.postMessage({ ready: true }), (error) => self.postMessage({ failed: String(error) }));

self.onmessage = async ({ data: { id, request } }) => {
  const python = await ready.catch(() => null);
  if (!python) return; // it was told of
  try {
    if (teacher && wantsPdf(JSON.parse(request))) await (typst ??= withTypst(python));
    const begun = performance.now();
    const told = teacher ? [(done, of) => self.postMessage({ id, done, of })] : [];
    const answer = python.globals.get("answer")(request, ...told);
    self.postMessage({ id, answer, milliseconds: performance.now() - begun });
  } catch (error) {
    self.postMessage({ id, answer: JSON.stringify({ error: String(error).trim().split("\n").pop() }) });
  }
  if (!teacher) python.runPython("import symattn.practice.marked"); // while the first sheet is read
};
