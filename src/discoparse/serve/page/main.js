// The page: text in, sentences out, options of the view, links that carry all of it.

import { ApiError, get, postJson } from "./api.js";
import { setUpCompare } from "./compare.js";
import { byId, debounced, h } from "./dom.js";
import { decode, encode } from "./links.js";
import { Sentence } from "./sentence.js";
import { recall, remember } from "./storage.js";

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
let shelf = []; // sentences that are not on the page now, and were worked on: they come back with their words
let opened; // the link that is shown, until its text is edited
let running;
let listing;

function readOptions() {
  const options = { style: byId("option-style").value };
  for (const name of OPTIONS) options[name] = byId(`option-${name}`).checked;
  document.body.classList.toggle("fit", options.fit);
  return options;
}

function showOptions(options) {
  for (const name of OPTIONS) if (name in options) byId(`option-${name}`).checked = options[name];
  if (["elbow", "slanted"].includes(options.style)) byId("option-style").value = options.style;
  page.options = readOptions();
}

// -- links ------------------------------------------------------------------------------------------------------

/** The address of a view: of all sentences as text, or of some of them as tokens. */
function link(some) {
  const view = some
    ? { tokens: some.map((sentence) => sentence.tokens), model: some[0].model, saved: some.map((sentence) => sentence.saved()) }
    : { ...(opened?.tokens ? { tokens: opened.tokens } : { text: byId("text").value }), model: byId("model").value, saved: opened?.saved ?? sentences.map((sentence) => sentence.saved()) };
  return `${location.origin}${location.pathname}#${encode({ ...view, options: page.options })}`;
}

function changed() {
  if (byId("text").value) history.replaceState(null, "", link());
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
  opened = { model: view.model ?? "", saved: view.saved ?? [], tokens: view.text ? undefined : view.tokens };
  byId("text").value = view.text || view.tokens.map((words) => words.join(" ")).join("\n");
  await parse();
}

/** As before the first text: people go back to an address without a link, too. */
function empty() {
  opened = undefined;
  byId("text").value = "";
  return parse();
}

// -- models -----------------------------------------------------------------------------------------------------

/** The models that there are, asked for until the server has named them. */
function listModels() {
  listing ??= get("models").then(showModels).catch((error) => {
    listing = undefined;
    throw error;
  });
  return listing;
}

function showModels({ models, defaults }) {
  byId("model").append(...models.map((one) => h("option", { value: one.name, title: one.treebanks.join(", ") }, one.language && one.language !== one.name ? `${one.name} (${one.language})` : one.name)));
  const shown = models.filter((one) => EXAMPLES[one.language] && (defaults.includes(one.name) || models.length === 1));
  byId("examples").append(...shown.map((one) => h("button", { type: "button", class: "quiet", title: EXAMPLES[one.language], onclick: () => show(EXAMPLES[one.language]) }, one.language)));
  setUpCompare(byId("view-compare"), models.map((one) => one.name), page);
}

function show(example) {
  opened = undefined;
  byId("text").value = example;
  byId("model").value = "";
  parse();
}

/** Choose the model of the link; says so if it is not here. */
function chooseModel() {
  const { model, saved } = opened;
  const isHere = [...byId("model").options].some((option) => option.value === model);
  byId("model").value = isHere ? model : "";
  opened = { ...opened, model: undefined, saved: isHere ? saved : saved.map(({ best, ...rest }) => rest) };
  return isHere ? "" : `The model ${model} of this link is not on this server. `;
}

// -- parsing ----------------------------------------------------------------------------------------------------

function say(text, isError = false) {
  const message = byId("message");
  message.textContent = text;
  message.classList.toggle("error", isError);
}

async function parse() {
  running?.abort();
  const text = byId("text").value;
  if (!text.trim() && !opened?.tokens) {
    shelve([]);
    history.replaceState(null, "", location.pathname + location.search);
    return listModels().then(() => say(""), (error) => say(error.message, true));
  }
  running = new AbortController();
  const own = running;
  let lacking = "";
  byId("sentences").setAttribute("aria-busy", "true");
  try {
    await listModels();
    if (own !== running) return;
    if (opened?.model !== undefined) lacking = chooseModel();
    const name = byId("model").value;
    const answer = await postJson("parse", { ...(opened?.tokens ? { tokens: opened.tokens } : { text }), ...(name ? { model: name } : {}) }, own.signal);
    shelve(sentencesOf(answer));
    if (opened) opened = { tokens: opened.tokens }; // the rest is in the sentences now
    const guessed = name ? "" : ` Parsed with the model ${answer.model}.`;
    say(lacking + (sentences.length ? `${sentences.length === 1 ? "One sentence" : `${sentences.length} sentences`}.${guessed}` : "There are no words in this text."), lacking !== "");
    changed();
    believe(sentences.filter((sentence) => !sentence.isBelieved && sentence.constraints.isEmpty), answer.model, own.signal);
  } catch (error) {
    if (error.name === "AbortError" || own !== running) return;
    if (!(error instanceof ApiError)) console.error(error);
    const hint = error.data?.choose_model ? "Which language is this? Choose a model." : error.message;
    say(lacking + hint, true);
    byId("sentences").classList.add("stale"); // these trees are of another text
    if (error.data?.choose_model && sentences.length === 0) byId("model").classList.add("wanted");
  } finally {
    if (own === running) byId("sentences").removeAttribute("aria-busy");
  }
}

/** The sentences of an answer. Those whose words were here before come with all that was done to them. */
function sentencesOf({ trees, model }) {
  if (opened?.saved) return trees.map((tree, k) => new Sentence(tree, model, page, opened.saved[k]));
  const spelled = JSON.stringify, known = new Map();
  for (const sentence of [...sentences, ...shelf]) {
    const words = spelled(sentence.tokens);
    if (sentence.model === model) known.set(words, [...(known.get(words) ?? []), sentence]);
  }
  return trees.map((tree) => {
    const before = known.get(spelled(tree.tokens.map((token) => token.word)))?.shift();
    before?.moveTo(tree);
    return before ?? new Sentence(tree, model, page);
  });
}

/** Show these sentences; those that were worked on, and are not among them, are kept. */
function shelve(next) {
  shelf = [...sentences, ...shelf].filter((sentence) => sentence.isWorkedOn && !next.includes(sentence));
  sentences = next;
  byId("sentences").replaceChildren(...sentences.map((sentence) => sentence.element));
  byId("sentences").classList.remove("stale");
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
  const root = document.documentElement, saved = recall("discoparse-theme");
  if (saved) root.dataset.theme = saved;
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember("discoparse-theme", root.dataset.theme);
  });
}

/** Not by the link's own address, which would take the place of the one that has the view. */
function setUpSkipLink() {
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("sentences").focus();
  });
}

function savedView() {
  try {
    return Object(JSON.parse(recall(VIEW)));
  } catch {
    return {};
  }
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
  setUpSkipLink();
  showOptions(savedView());
  for (const id of [...OPTIONS, "style"]) {
    byId(`option-${id}`).addEventListener("change", () => {
      page.options = readOptions();
      remember(VIEW, JSON.stringify(page.options));
      for (const sentence of [...sentences, ...shelf]) sentence.redraw();
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
  byId("text").addEventListener("input", () => { opened = undefined; });
  byId("text").addEventListener("input", debounced(450, parse));
  byId("text").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse(); });
  byId("model").addEventListener("change", () => { byId("model").classList.remove("wanted"); parse(); });
  openLink();
  try {
    await listModels();
  } catch (error) {
    say(error.message, true);
  }
}

addEventListener("hashchange", () => (location.hash ? openLink() : empty()));
start();
