// One row or text: type, slide, and watch the posterior move.

import { make, percent, plain, put, signed, told } from "./dom.js";
import { parsed, rowForm } from "./row.js";
import * as server from "./server.js";
import { settingsForm } from "./settings.js";
import { waterfall } from "./waterfall.js";

const MOST_BARS = 8;
const PAUSE = 40; // milliseconds without a change before the server is asked

function bars(answer, classes) {
  const ranked = [...classes].sort((a, b) => answer.posterior[b] - answer.posterior[a]);
  const shown = classes.length <= MOST_BARS ? classes : ranked.slice(0, MOST_BARS);
  const rest = classes.length - shown.length;
  return [
    make("div", { className: "bars" }, shown.map((label) => {
      const p = answer.posterior[label];
      const bar = make("div", { className: `bar b${classes.indexOf(label) % 8}` });
      bar.style.width = `${100 * p}%`;
      return [make("span", { className: "label", title: label }, label), make("div", { className: "track" }, bar),
        make("span", { className: "p" }, percent(p))];
    })),
    rest > 0 ? make("p", { className: "note" }, `and ${rest} less probable classes`) : null,
  ];
}

// What the model did not know about the row.
function missing(answer) {
  const lines = [["unseen", "has a category that training did not have"], ["missing", "is missing"]]
    .filter(([key]) => answer[key].length > 0 && !(key === "missing" && answer.missing.length > 5))
    .map(([key, text]) => `${answer[key].join(", ")} ${text}`);
  return lines.length === 0 ? null : make("p", { className: "note missing" }, `${lines.join("; ")}.`);
}

function verdict(answer, model) {
  const p = answer.posterior[answer.prediction];
  const costs = answer.expected_costs;
  const said = costs === null ? percent(p)
    : `${percent(p)}, expected cost ${plain(costs[answer.prediction])}`;
  return make("p", { className: "verdict" },
    model.target ? make("span", {}, `${model.target}:`) : null, make("strong", {}, answer.prediction), make("span", {}, said));
}

function neighborTable(neighbors) {
  return make("div", { className: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, make("th", {}, "training row"), make("th", {}, "class"),
      make("th", { className: "n" }, "distance"), make("th", { className: "n" }, "vote"))),
    make("tbody", {}, neighbors.slice(0, 20).map((row) => make("tr", {},
      make("td", {}, String(row.row)), make("td", {}, String(row.label)),
      make("td", { className: "n" }, plain(row.distance)), make("td", { className: "n" }, percent(row.say)))))));
}

function markedText(answer, classes) {
  const largest = Math.max(...answer.pieces.map(([, weight]) => Math.abs(weight ?? 0)), 1e-9);
  return make("div", { className: "document-marked" }, answer.pieces.map(([text, weight]) => {
    if (weight === null || Math.abs(weight) < 0.05 * largest) return text;
    const mark = make("mark", { title: `${signed(weight)} log odds for ${answer.of}` }, text);
    const share = Math.round(15 + 45 * Math.abs(weight) / largest);
    const k = classes.indexOf(weight > 0 ? answer.of : answer.against) % 8;
    mark.style.background = `color-mix(in srgb, var(--c${k}) ${share}%, transparent)`;
    return mark;
  }));
}

export function askView(place, model) {
  const { classes } = model;
  const state = { of: "", against: "", order: "strongest", answer: null, timer: 0, asked: null };
  const answerCard = make("section", { className: classes.length > 4 ? "card answer tall" : "card answer", "aria-live": "polite" });
  const whyCard = make("section", { className: "card why" });
  const problem = make("div");
  const drawing = make("div");
  const row = rowForm(model.columns, changed);
  const settings = settingsForm(model, changed);

  async function ask() {
    state.asked?.abort();
    const mine = state.asked = new AbortController();
    const question = { row: row.get(), priors: settings.priors(), costs: settings.costs(),
      of: state.of || null, against: state.against || null };
    layout.classList.add("busy");
    try {
      state.answer = await server.explain(question, mine.signal);
      told(problem, null);
      show();
    } catch (error) {
      if (error.name === "AbortError") return;
      told(problem, error);
    }
    if (state.asked === mine) layout.classList.remove("busy");
    document.documentElement.dataset.answered = String(Number(document.documentElement.dataset.answered ?? 0) + 1);
  }

  function changed() {
    clearTimeout(state.timer);
    state.timer = setTimeout(ask, PAUSE);
  }

  function chooser(name, label) {
    return make("select", { "aria-label": label, onchange: (event) => { state[name] = event.target.value; ask(); } },
      make("option", { value: "" }, name === "of" ? "the prediction" : "the runner-up"),
      classes.map((c) => make("option", { value: c, selected: state[name] === c }, c)));
  }

  function show() {
    const { answer } = state;
    put(answerCard, make("h2", {}, "Posterior"), verdict(answer, model), bars(answer, classes), missing(answer));
    const head = make("h2", {}, "Why");
    const choice = make("div", { className: "choose" }, chooser("of", "class"), "rather than", chooser("against", "other class"),
      make("select", { "aria-label": "order", onchange: (event) => { state.order = event.target.value; picture(); } },
        [["strongest", "strongest first"], ["table", "in the order of the columns"]].map(([value, text]) =>
          make("option", { value, selected: state.order === value }, text))));
    if (answer.neighbors.length > 0) {
      put(whyCard, head, make("p", {}, "The nearest training rows, and their shares of the vote."), neighborTable(answer.neighbors));
    } else if (answer.start !== null && classes.length > 1) {
      put(whyCard, head, choice, answer.pieces.length > 0 ? markedText(answer, classes) : null, drawing,
        make("p", { className: "note" },
          `Bars add up in log odds of ${answer.of} against ${answer.against}; the color is that of the class they favor. At the right, the probability of ${answer.of} after each step.`));
      picture();
    } else {
      put(whyCard, head, make("p", {}, "This model is not additive, so its prediction cannot be split by column."));
    }
  }

  function picture() {
    if (state.answer?.start) put(drawing, waterfall(state.answer, classes, state.order, Math.max(drawing.clientWidth, 280)));
  }

  const pasted = make("textarea", { "aria-label": "row to paste", placeholder: "{\"column\": value, …}, or a line of a table with its header" });
  const paste = () => {
    try {
      row.set(parsed(pasted.value, model.columns));
      told(problem, null);
      ask();
    } catch (error) { told(problem, error); }
  };
  const words = model.documents;
  const cells = make("section", { className: "card cells" },
    make("h2", {}, words ? "The text" : "The row"),
    words ? null : make("div", { className: "buttons" },
      make("button", { onclick: () => { row.typical(); ask(); } }, "Typical row"),
      make("button", { onclick: () => { row.set({}); ask(); } }, "All unknown")),
    words ? null : make("details", { className: "paste" }, make("summary", {}, "Paste a row"), pasted,
      make("div", { className: "buttons" }, make("button", { onclick: paste }, "Read it"))),
    problem, row.node);
  const layout = make("div", { className: "asking" }, answerCard, cells, whyCard, settings.node);
  put(place, layout);
  new ResizeObserver(picture).observe(whyCard);
  ask();
  return { row: row.get, settings };
}
