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
