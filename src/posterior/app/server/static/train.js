// A file in; models compared, the best one kept, and its report out.

import { make, put, short, told } from "./dom.js";
import { filePicker } from "./files.js";
import * as server from "./server.js";

const PAUSE = 500; // milliseconds between two looks
const KINDS = ["number", "category", "date", "text", "boolean"];
const MOST = 200; // columns that are listed

// A choice for each column: what it is read as, or that it is left out; what is not said is found.
function columnChoices(columns) {
  const choices = columns.slice(0, MOST).map((name, j) => [name, make("select", { id: `train-column-${j}` },
    make("option", { value: "" }, "as found"),
    KINDS.map((kind) => make("option", { value: kind }, kind)),
    make("option", { value: "out" }, "left out"))]);
  const node = make("details", { id: "train-columns" }, make("summary", {}, "What the columns are"),
    make("div", { className: "form" }, choices.map(([name, select]) => make("label", {}, make("span", {}, short(name, 40)), select))));
  const said = (wanted) => choices.filter(([, select]) => select.value && (select.value === "out") === wanted);
  const asked = () => ({
    read_as: said(false).map(([name, select]) => `${name}=${select.value}`),
    leave_out: said(true).map(([name]) => name),
  });
  return { node, asked };
}

export function trainView(place, use) {
  const problem = make("div"), choice = make("div"), outcome = make("div", { className: "column wide", "aria-live": "polite" });
  const picker = filePicker("train-file", chosen);

  async function chosen(file) {
    told(problem, null);
    put(outcome);
    put(choice, make("progress", { "aria-label": "reading" }));
    try {
      const { columns, guess, continuous } = await server.columns(file);
      const target = make("select", { id: "train-target" },
        columns.map((name, j) => make("option", { value: String(j), selected: name === guess }, name)));
      const bands = make("input", { type: "text", id: "train-bands", value: "4", inputMode: "numeric" });
      const cut = make("label", {}, make("span", {}, "Numbers become bands: how many, or cut points such as 10000,20000"), bands);
      const chosenTarget = () => columns[Number(target.value)];
      const offer = () => { cut.hidden = !continuous.includes(chosenTarget()); };
      const kinds = columnChoices(columns);
      target.addEventListener("change", offer);
      offer();
      const button = make("button", { className: "main", id: "train-start",
        onclick: () => start(file, chosenTarget(), cut.hidden ? null : bands.value, kinds.asked(), button) }, "Compare models");
      put(choice, make("div", { className: "form" }, make("label", {}, make("span", {}, "Column to predict"), target), cut, make("div", {}, button)), kinds.node);
    } catch (error) {
      put(choice);
      told(problem, error);
    }
  }

  async function start(file, target, bands, asked, button) {
    button.disabled = true;
    told(problem, null);
    try {
      let training = await server.train(file, target, bands, asked);
      while (training.state === "waiting" || training.state === "running") {
        put(outcome, make("div", { className: "card" }, make("p", {}, `${training.step}, ${Math.round(training.seconds)} s`), make("progress", { "aria-label": "training" })));
        await new Promise((done) => setTimeout(done, PAUSE));
        training = await server.training(training.id);
      }
      if (training.state === "failed") throw new Error(training.error);
      show(training);
    } catch (error) {
      put(outcome);
      told(problem, error);
    }
    button.disabled = false;
  }

  function show(training) {
    const report = server.trained(training.id, "report");
    put(outcome,
      make("section", { className: "card" },
        make("p", { id: "train-summary" }, training.summary),
        make("div", { className: "buttons" },
          make("button", { className: "main", id: "train-use", onclick: () => use(training.id) }, "Use this model"),
          make("a", { className: "button", id: "train-model", href: server.trained(training.id, "model"), download: "model.posterior" }, "Download the model"),
          make("a", { className: "button", href: report, target: "_blank", rel: "noopener" }, "Open the report alone"))),
      make("iframe", { title: "Report", src: report, sandbox: "allow-scripts" }));
  }

  put(place, make("div", { className: "column wide" },
    make("section", { className: "card" },
      make("h2", {}, "Train from a file"),
      make("p", {}, "Naive Bayes, discriminant analysis, logistic regression, additive models and nearest neighbors are compared by cross-validation, and the best one, or a weighted sum of them, is kept. The file and the model stay on this machine, and are deleted when the server ends."),
      picker.node, choice, problem),
    outcome));
}
