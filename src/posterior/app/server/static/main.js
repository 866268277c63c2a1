// Tabs, and the model that they speak of.

import { apiView } from "./api.js";
import { askView } from "./ask.js";
import { batchView } from "./batch.js";
import { make, put, told } from "./dom.js";
import * as server from "./server.js";
import { withToken } from "./token.js";
import { trainView } from "./train.js";

const TABS = ["ask", "batch", "train", "api"];
const byId = (id) => document.getElementById(id);
let ask = null;

function open(name) {
  for (const tab of TABS) {
    byId(tab).hidden = tab !== name;
    byId(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
    byId(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
  }
  if (name === "api") apiView(byId("api"), ask);
  history.replaceState(null, "", `#${name}`);
}

async function load() {
  try {
    const model = await withToken(byId("token"), server.model);
    document.title = `${model.name} · posterior`;
    const size = model.documents ? "texts" : `${model.columns.length} columns`;
    put(byId("about"), `${model.name} · ${model.model} of ${size}, ${model.classes.length} classes`);
    ask = askView(byId("ask"), model);
    batchView(byId("batch"), ask);
    return true;
  } catch (error) {
    const first = error.status === 409;
    for (const place of [byId("ask"), byId("batch")])
      first ? put(place, make("p", {}, "There is no model yet: train one first.")) : told(place, error);
    return !first;
  }
}

// A choice between models, where there are several.
async function choose() {
  const models = await server.models().catch(() => []);
  const select = byId("models");
  select.hidden = models.length < 2;
  put(select, models.map(({ name }) => make("option", { value: name }, name)));
  select.addEventListener("change", () => use(select.value));
}

async function use(id) {
  server.using(id);
  await load();
  open("ask");
}

for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => open(tab));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const at = TABS.findIndex((tab) => byId(tab).hidden === false);
  if (!move) return;
  const next = TABS[(at + move + TABS.length) % TABS.length];
  open(next);
  byId(`tab-${next}`).focus();
});
trainView(byId("train"), use);
const wanted = location.hash.slice(1);
const loaded = await load();
await choose();
open(TABS.includes(wanted) ? wanted : loaded ? "ask" : "train");
document.documentElement.dataset.ready = "yes";
