// The same from other programs.

import { make, put } from "./dom.js";
import { base } from "./server.js";

const ROUTES = [
  ["POST /api/predict", "the posterior of some rows, and the prediction"],
  ["POST /api/explain", "the posterior of a row, and what each column adds to it"],
  ["POST /api/batch", "a file in, a file with predictions out"],
  ["POST /api/train", "models of a file compared, the best one kept"],
  ["GET /api/model", "columns and classes"],
  ["POST /models/NAME/predict", "the same of one of several models"],
  ["GET /ready", "which models answer"],
  ["GET /metrics", "numbers for Prometheus"],
];

export const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function apiView(place, ask) {
  const body = (value) => quoted(JSON.stringify(value));
  const token = sessionStorage.getItem("posterior-token") === null ? "" : " -H \"Authorization: Bearer $TOKEN\"";
  const curl = (path) => `curl ${base.href}${path}${token}`;
  const row = ask ? ask.row() : {};
  put(place, make("div", { className: "column" }, make("section", { className: "card" },
    make("h2", {}, "The same from other programs"),
    make("p", {}, "The row that you see under Predict, predicted and explained:"),
    make("pre", {}, `${curl("api/predict")} -H 'Content-Type: application/json' \\\n  -d ${body({ rows: [row] })}`),
    make("pre", {}, `${curl("api/explain")} -H 'Content-Type: application/json' \\\n  -d ${body({ row })}`),
    make("p", {}, "A whole file:"),
    make("pre", {}, `${curl("api/batch")} -F file=@table.csv -F format=csv -o predictions.csv`),
    make("div", { className: "scroll" }, make("table", {}, make("tbody", {}, ROUTES.map(([route, text]) =>
      make("tr", {}, make("td", {}, make("code", {}, route)), make("td", {}, text)))))),
    make("p", {}, "All of it, with every limit: ", make("a", { href: new URL("docs", base).href, id: "docs-link" }, "documentation of the API"), "."))));
}
