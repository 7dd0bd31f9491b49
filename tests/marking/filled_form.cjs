// Fills in the form of a PDF with pdf.js, Firefox's viewer, and saves it.
//   node filled_form.cjs FORM.pdf TEXTS.json INTO.pdf      TEXTS has a text for each field, by its name
// Needs the npm package pdfjs-dist (NODE_PATH).
const { readFileSync, writeFileSync } = require('node:fs');
const { pathToFileURL } = require('node:url');

const [file, told, into] = process.argv.slice(2);

(async () => {
  const { getDocument } = await import(pathToFileURL(require.resolve('pdfjs-dist/legacy/build/pdf.mjs')));
  const form = await getDocument({ data: new Uint8Array(readFileSync(file)), verbosity: 0 }).promise;
  const fields = await form.getFieldObjects();
  for (const [name, text] of Object.entries(JSON.parse(readFileSync(told, 'utf8')))) {
    for (const { id, type } of fields[name]) form.annotationStorage.setValue(id, { value: type === 'checkbox' || text });
  }
  writeFileSync(into, await form.saveDocument());
})().catch((error) => { console.error(error); process.exit(1); });
