// Pieces of a page.
export const at = (id) => document.getElementById(id);

export function made(kind, properties = {}, ...children) {
  const element = document.createElement(kind);
  Object.assign(element, properties);
  element.append(...children.filter((child) => child !== ""));
  return element;
}

export const option = (text, value) => new Option(text, value);

export function save(name, bytes) {
  const link = made("a", { href: URL.createObjectURL(new Blob([bytes])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

export async function base64Of(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

// Files that are dropped, those of folders among them, with their paths.
export async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const found = [];
  const walk = async (entry, path) => {
    if (entry.isFile) {
      found.push({ path: path + entry.name, file: await new Promise((resolve, reject) => { entry.file(resolve, reject); }) });
      return;
    }
    const reader = entry.createReader();
    const next = () => new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    for (let some = await next(); some.length; some = await next()) {
      for (const one of some) await walk(one, `${path}${entry.name}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
}
