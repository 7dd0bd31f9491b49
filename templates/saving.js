// What is typed stays in the page itself, so that every way of saving the page saves it too.  No letter here needs
// escaping in XML.
const keep = () => {
  for (const box of document.querySelectorAll('input, textarea')) {
    if (['checkbox', 'radio'].includes(box.type)) box.defaultChecked = box.checked;
    else box.defaultValue = box.value;
  }
};
const button = document.querySelector('.save button');
button.hidden = false;
button.addEventListener('click', () => {
  keep();
  const page = new Blob(['\x3C!DOCTYPE html>\n', document.documentElement.outerHTML], { type: 'text/html' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(page);
  link.download = `${document.title}.html`;
  link.click();
});
addEventListener('input', keep);
addEventListener('pageshow', keep); // a browser that reloads a page fills in again what was typed
