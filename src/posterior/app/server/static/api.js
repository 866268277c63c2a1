// The same from other programs.

import { make, put } from "./dom.js";

const ROUTES = [
  ["POST /api/predict", "the posterior of some rows, and the predicted class"],
  ["POST /api/explain", "the posterior of a row, and what each column adds to it"],
  ["POST /api/batch", "a file in, a file with predictions out"],
  ["POST /api/train", "models of a file compared, the best one kept"],
  ["GET /api/model", "columns and classes"],
  ["GET /health", "whether the server is running"],
];

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function apiView(place, ask) {
  const body = (value) => quoted(JSON.stringify(value));
  const head = `curl ${location.origin}`;
  const row = ask ? ask.row() : {};
  put(place, make("div", { className: "column" }, make("section", { className: "card" },
    make("h2", {}, "The same from other programs"),
    make("p", {}, "The row that you see under Predict, predicted and explained:"),
    make("pre", {}, `${head}/api/predict -H 'Content-Type: application/json' \\\n  -d ${body({ rows: [row] })}`),
    make("pre", {}, `${head}/api/explain -H 'Content-Type: application/json' \\\n  -d ${body({ row })}`),
    make("p", {}, "A whole file:"),
    make("pre", {}, `${head}/api/batch -F file=@table.csv -F format=csv -o predictions.csv`),
    make("div", { className: "scroll" }, make("table", {}, make("tbody", {}, ROUTES.map(([route, text]) =>
      make("tr", {}, make("td", {}, make("code", {}, route)), make("td", {}, text)))))),
    make("p", {}, "All of it, as ", make("a", { href: "/openapi.json" }, "OpenAPI"), "."))));
}
