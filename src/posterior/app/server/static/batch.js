// A file in, a file with answers out.

import { make, put, told } from "./dom.js";
import { filePicker } from "./files.js";
import * as server from "./server.js";

export function batchView(place, ask) {
  const problem = make("div"), outcome = make("div", { "aria-live": "polite" });
  const picker = filePicker("batch-file", () => { button.disabled = false; put(outcome); told(problem, null); });
  const format = make("select", { id: "batch-format" },
    [["csv", "CSV"], ["jsonl", "JSON lines"], ["parquet", "Parquet"]].map(([value, text]) => make("option", { value }, text)));
  const only = make("input", { type: "checkbox", id: "batch-only" });
  const button = make("button", { className: "main", id: "batch-start", disabled: true, onclick: start }, "Predict all rows");

  async function start() {
    button.disabled = true;
    told(problem, null);
    put(outcome, make("progress", { "aria-label": "predicting" }));
    try {
      const priors = ask.settings.priors(), costs = ask.settings.costs();
      const response = await server.batch({ file: picker.file(), format: format.value, only: String(only.checked),
        priors: priors && JSON.stringify(priors), costs: costs && JSON.stringify(costs) });
      const rows = Number(response.headers.get("X-Rows"));
      const href = URL.createObjectURL(await response.blob());
      put(outcome, make("p", { className: "done" }, `${rows.toLocaleString("en")} rows are predicted. `,
        make("a", { href, download: `predictions.${format.value}`, id: "batch-download", className: "button" }, "Download the predictions")));
    } catch (error) {
      put(outcome);
      told(problem, error);
    }
    button.disabled = false;
  }

  put(place, make("div", { className: "column" }, make("section", { className: "card" },
    make("h2", {}, "Predict a file"),
    make("p", {}, "Each row gets the predicted class and the probability of each class. Columns are found by name; others stay as they are. Class shares and costs that you set under Predict count here, too."),
    picker.node,
    make("div", { className: "form" },
      make("label", {}, make("span", {}, "Format of the predictions"), format),
      make("label", { className: "check" }, only, "the predictions alone, without the columns of the file")),
    button, problem, outcome)));
}
