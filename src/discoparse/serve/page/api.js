// The server: JSON in, JSON or text out. Errors have the sentence that the server says.

import { byId } from "./dom.js";

const TOKEN = "discoparse-token";

export class ApiError extends Error {
  constructor(status, data) {
    super(data.error ?? `the server answered with status ${status}`);
    this.status = status;
    this.data = data;
  }
}

async function ask(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let answer;
  try {
    answer = await fetch(`api/v1/${path}`, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { error: "the server does not answer: is it still running?" });
  }
  if (answer.status === 401 && (await askForToken())) return ask(path, options);
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
  return answer;
}

async function askForToken() {
  const dialog = byId("token-dialog");
  if (dialog.open) return false;
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  const token = byId("token").value;
  if (token) sessionStorage.setItem(TOKEN, token);
  return Boolean(token);
}

const post = (path, fields, signal) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(fields), signal });

export const get = async (path) => (await ask(path)).json();
export const postJson = async (path, fields, signal) => (await post(path, fields, signal)).json();
export const postText = async (path, fields) => (await post(path, fields)).text();

const known = new Map();

/** A model with its labels and tags; asked for once. */
export function model(name) {
  if (!known.has(name)) known.set(name, get(`models/${encodeURIComponent(name)}`));
  return known.get(name);
}
