// The page: text in, sentences out, options of the view, links that carry all of it.

import { ApiError, get, postJson } from "./api.js";
import { setUpCompare } from "./compare.js";
import { byId, debounced, h } from "./dom.js";
import { Sentence } from "./sentence.js";

const EXAMPLES = {
  nl: "Wat heeft niemand ons gisteren verteld?",
  de: "Daran hat gestern niemand gedacht.",
  en: "What did you say that he wanted to do?",
  is: "Hvað sagði hann að hún hefði gert?",
};
const SAMPLES = 32, MOST_BELIEVED = 300; // tokens
const OPTIONS = ["tags", "root", "punctuation", "colours", "fit"];
const VIEW = "discoparse-view";

const page = { options: readOptions(), link, changed, believe };
let sentences = [];
let running;

function readOptions() {
  const options = { style: byId("option-style").value };
  for (const name of OPTIONS) options[name] = byId(`option-${name}`).checked;
  document.body.classList.toggle("fit", options.fit);
  return options;
}

function showOptions(options) {
  for (const name of OPTIONS) if (name in options) byId(`option-${name}`).checked = options[name];
  if (options.style) byId("option-style").value = options.style;
  page.options = readOptions();
}

// -- links ------------------------------------------------------------------------------------------------------

const encode = (data) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(data)))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const decode = (text) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0))));

/** The address of a view: of all sentences as text, or of some of them as tokens. */
function link(some) {
  const view = some
    ? { tokens: some.map((sentence) => sentence.tokens), model: some[0].model, saved: some.map((sentence) => sentence.saved()) }
    : { text: byId("text").value, model: byId("model").value, saved: sentences.map((sentence) => sentence.saved()) };
  return `${location.origin}${location.pathname}#${encode({ ...view, options: page.options })}`;
}

function changed() {
  if (byId("text").value && sentences.every((sentence) => sentence)) history.replaceState(null, "", link());
}

async function openLink() {
  if (location.hash.length < 5) return;
  let view;
  try {
    view = decode(location.hash.slice(1));
  } catch {
    return say("The link is damaged: what it should show cannot be read.", true);
  }
  showOptions(view.options ?? {});
  byId("text").value = view.text ?? (view.tokens ?? []).map((words) => words.join(" ")).join("\n");
  byId("model").value = view.model ?? "";
  await parse(view.text ? undefined : view.tokens, view.saved);
}

// -- parsing ----------------------------------------------------------------------------------------------------

function say(text, isError = false) {
  const message = byId("message");
  message.textContent = text;
  message.classList.toggle("error", isError);
}

async function parse(tokens, saved = []) {
  running?.abort();
  const text = byId("text").value, name = byId("model").value;
  if (!text.trim() && !tokens) {
    sentences = [];
    byId("sentences").replaceChildren();
    return say("");
  }
  running = new AbortController();
  const own = running;
  byId("sentences").setAttribute("aria-busy", "true");
  try {
    const answer = await postJson("parse", { ...(tokens ? { tokens } : { text }), ...(name ? { model: name } : {}) }, own.signal);
    sentences = answer.trees.map((tree, k) => new Sentence(tree, answer.model, page, saved[k]));
    byId("sentences").replaceChildren(...sentences.map((sentence) => sentence.element));
    byId("sentences").classList.remove("stale");
    const guessed = name ? "" : ` Parsed with the model ${answer.model}.`;
    say(sentences.length ? `${sentences.length === 1 ? "One sentence" : `${sentences.length} sentences`}.${guessed}` : "There are no words in this text.");
    changed();
    believe(sentences, answer.model, own.signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof ApiError)) console.error(error);
    const hint = error.data?.choose_model ? "Which language is this? Choose a model." : error.message;
    say(hint, true);
    byId("sentences").classList.add("stale"); // these trees are of another text
    if (error.data?.choose_model && sentences.length === 0) byId("model").classList.add("wanted");
  } finally {
    if (own === running) byId("sentences").removeAttribute("aria-busy");
  }
}

/** Ask for the probabilities of constituents too, where that is soon done. */
async function believe(some, name, signal) {
  const tokens = some.map((sentence) => sentence.tokens);
  if (!some.length || tokens.flat().length > MOST_BELIEVED) return;
  try {
    const answer = await postJson("parse", { tokens, model: name, probabilities: SAMPLES }, signal);
    answer.trees.forEach((tree, k) => some[k].believe(tree));
  } catch (error) {
    if (error.name !== "AbortError") console.warn(error.message);
  }
}

// -- the rest ---------------------------------------------------------------------------------------------------

function setUpTheme() {
  const root = document.documentElement, saved = localStorage.getItem("discoparse-theme");
  if (saved) root.dataset.theme = saved;
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("discoparse-theme", root.dataset.theme);
  });
}

function setUpTabs() {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const choose = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", tab === chosen);
      tab.tabIndex = tab === chosen ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
  };
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
      const other = tabs[(k + 1) % tabs.length];
      choose(other);
      other.focus();
    });
  });
}

async function start() {
  setUpTheme();
  setUpTabs();
  const saved = localStorage.getItem(VIEW);
  if (saved) showOptions(JSON.parse(saved));
  for (const id of [...OPTIONS, "style"]) {
    byId(`option-${id}`).addEventListener("change", () => {
      page.options = readOptions();
      localStorage.setItem(VIEW, JSON.stringify(page.options));
      for (const sentence of sentences) { sentence.render(); if (sentence.mode === "step") sentence.renderPanel(); }
      changed();
    });
  }
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && event.target.closest("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  byId("form").addEventListener("submit", (event) => { event.preventDefault(); parse(); });
  byId("text").addEventListener("input", debounced(450, () => parse()));
  byId("text").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse(); });
  byId("model").addEventListener("change", () => { byId("model").classList.remove("wanted"); parse(); });
  try {
    const { models, defaults } = await get("models");
    byId("model").append(...models.map((one) => h("option", { value: one.name, title: one.treebanks.join(", ") }, one.language && one.language !== one.name ? `${one.name} (${one.language})` : one.name)));
    const shown = models.filter((one) => EXAMPLES[one.language] && (defaults.includes(one.name) || models.length === 1));
    byId("examples").append(...shown.map((one) => h("button", { type: "button", class: "quiet", title: EXAMPLES[one.language], onclick: () => { byId("text").value = EXAMPLES[one.language]; byId("model").value = ""; parse(); } }, one.language)));
    setUpCompare(byId("view-compare"), models.map((one) => one.name), page);
    await openLink();
  } catch (error) {
    say(error.message, true);
  }
}

addEventListener("hashchange", openLink);
start();
