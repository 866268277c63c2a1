// What if: cells of a row, the probabilities that the model gives it, and the evidence behind them.

const FIRST = 8; // columns that are seen at once
const CLASSES = 12; // the most probable ones
const known = JSON.parse(document.getElementById("what-if-rows").textContent);
const names = known.classes;
const rank = new Map(known.ranked.map((name, i) => [name, i]));
const placeOf = (name) => rank.get(name) ?? rank.size;
const read = chosenModel.columns.filter((column) => column.kind)
  .sort((a, b) => placeOf(a.name) - placeOf(b.name));

const panel = document.getElementById("what-if-panel");
const fields = read.map((column, j) =>
  fieldOf(column, known.rows.map(({ cells }) => cells[column.name]))(column, `what-if-${j}`, answer));

const start = make("select", { id: "what-if-start", onchange: () => begin(Number(start.value)) },
  known.rows.map(({ row, label }, i) => make("option", { value: String(i) }, `row ${row}: ${label}`)));
const again = make("button", { type: "button", onclick: () => begin(Number(start.value)) }, "Start again");
const said = make("p", { id: "what-if-said", className: "said", "aria-live": "polite" });
const bars = make("div", { className: "odds", role: "group", "aria-label": "Probability of each class" });
const about = make("select", { id: "what-if-class", onchange: answer },
  make("option", { value: "" }, "the predicted class"),
  names.map((name, k) => make("option", { value: String(k) }, name)));
const against = make("span", {});
const evidence = make("div", { className: "evidence" });
const grid = (some) => make("div", { className: "fields" }, some.map(({ node }) => node));

put(panel, make("div", { className: "what-if" },
  make("div", { role: "group", "aria-label": "Cells of the row" },
    known.rows.length ? make("p", { className: "start" },
      make("label", { htmlFor: start.id }, "Start from"), start, again) : null,
    grid(fields.slice(0, FIRST)),
    fields.length > FIRST ? make("details", {},
      make("summary", {}, `${fields.length - FIRST} more columns`), grid(fields.slice(FIRST))) : null),
  make("div", {}, said, bars,
    make("p", { className: "start" },
      make("label", { htmlFor: about.id }, "Evidence for"), about, against), evidence)));

function rowOf() {
  return Object.fromEntries(read.map((column, j) => [column.name, fields[j].get()]));
}

function begin(i) {
  const { cells } = known.rows[i] ?? { cells: {} };
  if (known.rows.length) start.value = String(i);
  read.forEach((column, j) => fields[j].set(cells[column.name] ?? null));
  answer();
}

function answer() {
  let row, probabilities;
  try {
    row = rowOf();
    probabilities = chosenModel.predict(row).probabilities;
  } catch (error) {
    said.textContent = error.message;
    panel.classList.add("refused");
    return;
  }
  panel.classList.remove("refused");
  const order = names.map((_, k) => k).sort((a, b) => probabilities[b] - probabilities[a]);
  const sentence = `${known.target}: ${names[order[0]]}, ${percent(probabilities[order[0]])}`;
  if (said.textContent !== sentence) said.textContent = sentence;
  const few = order.slice(0, CLASSES);
  const shown = names.length <= CLASSES ? names.map((_, k) => k) : few;
  put(bars, shown.map((k) => {
    const bar = make("div", { className: `amount b${k % 8}` });
    bar.style.width = `${100 * probabilities[k]}%`;
    const number = make("span", { className: "p" }, percent(probabilities[k]));
    number.dataset.probability = probabilities[k];
    return [make("span", { className: "label", title: names[k] }, names[k]),
      make("div", { className: "track", "aria-hidden": "true" }, bar), number];
  }));
  explained(row, probabilities, order);
  nomogram(row);
}

// Whether a model starts from the class shares, or from the scores of a typical row.
const isPrior = (start) => softmax(start).every((p, k) => Math.abs(p - known.shares[k]) < 0.01);

// The waterfall of one class against the most probable other one.
function explained(row, probabilities, order) {
  const k = about.value === "" ? order[0] : Number(about.value);
  const other = order.find((each) => each !== k) ?? k;
  against.textContent = `against ${names[other]}`;
  let found;
  try {
    found = chosenModel.explain(row);
  } catch (error) {
    put(evidence, make("p", { className: "note" }, error.message));
    return;
  }
  const byClass = (values) => Object.fromEntries(values.map((value, i) => [names[i], value]));
  put(evidence, waterfall({
    of: names[k], against: names[other], started: isPrior(found.prior) ? "prior" : "start",
    start: byClass(found.prior), posterior: byClass(probabilities),
    terms: found.terms.map(({ name, evidence: scores }) => ({
      name, value: Object.hasOwn(row, name) ? written(row[name]) : null, weight: scores[k] - scores[other], scores: byClass(scores),
    })),
  }, names, "strongest", Math.max(evidence.clientWidth, 260)));
}

let width = 0;
new ResizeObserver(() => {
  if (evidence.clientWidth === width) return;
  width = evidence.clientWidth;
  answer();
}).observe(evidence);

for (const button of document.querySelectorAll("button.try")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    begin(known.rows.findIndex(({ row }) => row === Number(button.dataset.row)));
    document.getElementById("what-if").scrollIntoView();
    start.focus({ preventScroll: true });
  });
}
