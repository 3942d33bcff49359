// The server: JSON in, JSON or text out. Errors have the sentence that the server says.

import { byId } from "./dom.js";
import { recall, remember } from "./storage.js";

const TOKEN = "discoparse-token";

export class ApiError extends Error {
  constructor(status, data) {
    super(data.error ?? `the server answered with status ${status}`);
    this.status = status;
    this.data = data;
  }
}

let token = recall(TOKEN, "sessionStorage");
let given = 0; // tokens that were typed
let asking; // for a token: requests that are refused meanwhile wait for it, too

async function ask(path, options = {}) {
  const before = given;
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let answer;
  try {
    answer = await fetch(`api/v1/${path}`, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { error: "the server does not answer: is it still running?" });
  }
  if (answer.status === 401) {
    if (given === before) await (asking ??= askForToken().finally(() => { asking = undefined; }));
    if (given !== before) return ask(path, options);
    throw new ApiError(401, { error: "this server wants a token: parse again to be asked for it" });
  }
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
  return answer;
}

async function askForToken() {
  const dialog = byId("token-dialog"), field = byId("token");
  byId("token-problem").hidden = !token;
  field.value = "";
  dialog.returnValue = ""; // it keeps that of the last time where the dialog is left by Escape
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (dialog.returnValue !== "use") return;
  token = field.value;
  given += 1;
  remember(TOKEN, token, "sessionStorage");
}

const post = (path, fields, signal) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(fields), signal });

export const get = async (path) => (await ask(path)).json();
export const postJson = async (path, fields, signal) => (await post(path, fields, signal)).json();
export const postText = async (path, fields) => (await post(path, fields)).text();

const known = new Map();

/** A model with its labels and tags; asked for until there is an answer. */
export function model(name) {
  if (!known.has(name)) {
    const answer = get(`models/${encodeURIComponent(name)}`);
    known.set(name, answer);
    answer.catch(() => known.delete(name));
  }
  return known.get(name);
}
