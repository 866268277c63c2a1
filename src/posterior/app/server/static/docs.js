// The API for people to read, drawn from its OpenAPI description.

import { make, put, told } from "./dom.js";
import { base, description } from "./server.js";
import { withToken } from "./token.js";

const named = (schema) => schema.$ref?.split("/").pop();
const titled = (name) => (name.startsWith("Body_") ? "fields of the form" : name);

// A type in a few words: `array of RowPrediction`.
function typeOf(schema) {
  if (!schema || Object.keys(schema).length === 0) return "any";
  if (schema.$ref) return titled(named(schema));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return [...new Set(several.map(typeOf))].join(" | ");
  if (schema.type === "array") return schema.items ? `array of ${typeOf(schema.items)}` : "array";
  if (schema.type === "object" && typeof schema.additionalProperties === "object")
    return `object of ${typeOf(schema.additionalProperties)}`;
  return schema.format === "binary" ? "bytes" : schema.type ?? "any";
}

const text = (words) => (words ?? "").trim().split(/\n\s*\n/).filter(Boolean)
  .map((part) => make("p", {}, part.split("`").map((piece, i) => (i % 2 ? make("code", {}, piece) : piece))));

function table(rows) {
  return make("div", { className: "scroll" }, make("table", {}, make("tbody", {}, rows.map((cells) =>
    make("tr", {}, cells.map((cell) => make("td", {}, cell)))))));
}

function fields(schema) {
  const required = new Set(schema.required ?? []);
  return table(Object.entries(schema.properties ?? {}).map(([name, kind]) => [
    make("code", {}, name), make("span", { className: "type" }, typeOf(kind)),
    [required.has(name) ? "required. " : "", kind.description ?? ""]]));
}

// The named schemas that a schema leads to, each once.
function reached(schema, all, found = new Map()) {
  if (schema === null || typeof schema !== "object") return found;
  const name = named(schema);
  if (name && !found.has(name)) {
    found.set(name, all[name]);
    reached(all[name], all, found);
  }
  for (const value of Object.values(schema)) reached(value, all, found);
  return found;
}

function content(title, body, all) {
  return Object.entries(body?.content ?? {}).map(([media, { schema }]) => {
    const parts = [...reached(schema, all)].filter(([, part]) => part?.properties);
    return make("div", { className: "body" },
      make("p", {}, `${title}: `, make("code", {}, media), ", ", make("span", { className: "type" }, typeOf(schema))),
      parts.map(([name, part]) => make("details", {}, make("summary", {}, titled(name)), text(part.description), fields(part))));
  });
}

function route(path, method, facts, all) {
  const good = Object.entries(facts.responses).filter(([code]) => code.startsWith("2"));
  const id = `${method}-${path}`.replaceAll(/[^a-z]+/g, "-");
  return make("section", { className: "card route", id },
    make("h2", {}, make("span", { className: `method ${method}` }, method.toUpperCase()), make("code", {}, path)),
    text(facts.description ?? facts.summary),
    facts.parameters?.length ? table(facts.parameters.map((given) => [
      make("code", {}, given.name), make("span", { className: "type" }, `${typeOf(given.schema)}, in the ${given.in}`),
      given.description ?? ""])) : null,
    content("Takes", facts.requestBody, all),
    good.map(([, answer]) => content("Gives", answer, all)));
}

const amount = (value) => Number(value).toLocaleString("en");

function show(api) {
  const all = api.components?.schemas ?? {};
  const routes = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, facts]) => [path, method, facts]));
  const first = ([path]) => (path === "/api/predict" ? 0 : path.startsWith("/api/") ? 1 : path.startsWith("/models") ? 2 : 3);
  routes.sort((a, b) => first(a) - first(b));
  put(document.getElementById("about"), `API, version ${api.info.version}`);
  put(document.getElementById("docs"),
    make("section", { className: "card" },
      make("h2", {}, "How to ask"),
      make("pre", {}, `curl ${new URL("api/predict", base).href} -H 'Content-Type: application/json' \\\n`
        + (api.security ? "  -H \"Authorization: Bearer $TOKEN\" \\\n" : "")
        + "  -d '{\"rows\": [{\"column\": 1.5}]}'"),
      make("p", {}, "What is wrong with a request comes back as one sentence, ", make("code", {}, "{\"error\": …}"),
        ", with a status of 4xx; 401 wants the token, 413 is too large, 503 took too long. ",
        make("a", { href: new URL("openapi.json", base).href }, "openapi.json"), " says the same to programs.")),
    make("section", { className: "card", id: "limits" }, make("h2", {}, "Limits"),
      make("p", {}, "What is beyond them is refused, with the limit in the sentence."),
      table(api["x-limits"].map(({ name, limit, description: words }) => [
        make("code", {}, name), make("span", { className: "n" }, amount(limit)), words]))),
    routes.map(([path, method, facts]) => route(path, method, facts, all)));
  document.documentElement.dataset.ready = "yes";
}

try {
  show(await withToken(document.getElementById("token"), description));
} catch (error) {
  told(document.getElementById("docs"), error);
}
