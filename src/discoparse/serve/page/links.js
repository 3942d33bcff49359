// Addresses that carry a view: the text or the words, the model, what was done to each sentence, the options.

export function encode(view) {
  const bytes = Array.from(new TextEncoder().encode(JSON.stringify(view)), (byte) => String.fromCharCode(byte)); // one by one: a long text has more than a function takes
  return btoa(bytes.join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The view in an address; an error if there is none in it. */
export function decode(text) {
  const view = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0))));
  if (!isView(view)) throw new Error("this is no view");
  return view;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string";
const isList = (value, of) => Array.isArray(value) && value.every(of);
const maybe = (value, is) => value === undefined || is(value);

function isView(view) {
  const isSaved = (one) => isObject(one) && maybe(one.best, Number.isInteger);
  return isObject(view) && (view.text || isList(view.tokens, (words) => isList(words, isText))) && maybe(view.text, isText) && maybe(view.model, isText) && maybe(view.options, isObject) && maybe(view.saved, (saved) => isList(saved, isSaved));
}
