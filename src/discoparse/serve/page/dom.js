// Elements without markup in strings: whatever users type stays text.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("aria-")) {
      if (value !== undefined) element.setAttribute(name, value);
      continue;
    }
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element; `onclick` and the like are listeners. */
export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

/** An SVG element. */
export const s = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

export const byId = (id) => document.getElementById(id);

export const percent = (p) => (p >= 0.9995 ? "100%" : p < 0.001 ? "<0.1%" : `${(100 * p).toFixed(1)}%`);

/** Calls a function once nothing has happened for a while. */
export function debounced(milliseconds, call) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(call, milliseconds, ...values);
  };
}
