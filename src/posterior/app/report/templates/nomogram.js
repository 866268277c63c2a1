// The nomogram: a scale a column, the total of their points, and the probability below it.

const SEEN = 10; // columns that are seen at once
const FAR = 8; // points beyond which a scale is cut off

const chart = make("div", { className: "nomogram" });
const below = make("p", { className: "note" });
const forClass = make("select", { id: "nomogram-class", onchange: () => { listOthers(); drawNomogram(); } },
  names.map((name, k) => make("option", { value: String(k) }, name)));
const others = make("select", { id: "nomogram-against", onchange: () => drawNomogram() });
const every = make("button", { type: "button", onclick: () => { isWhole = !isWhole; drawNomogram(); } });
let isWhole = false, asked = null, drawnWidth = 0;

function listOthers() {
  put(others, make("option", { value: "" }, "all other classes"),
    names.map((name, k) => (String(k) === forClass.value ? null : make("option", { value: String(k) }, name))));
}

// Shows the nomogram of a row, where the model has one.
function nomogram(row) {
  if (chosenModel.additive === null || names.length < 2) return;
  asked = row;
  if (chart.isConnected) return drawNomogram();
  const place = document.getElementById("nomogram");
  forClass.value = String(Math.max(0, names.indexOf(known.about)));
  listOthers();
  place.append(make("p", { className: "start" }, make("label", { htmlFor: forClass.id }, "Points for"), forClass,
    names.length > 2 ? [make("label", { htmlFor: others.id }, "against"), others] : null), chart, every, below);
  place.hidden = false;
  drawNomogram();
  new ResizeObserver(() => { if (chart.clientWidth !== drawnWidth) drawNomogram(); }).observe(chart);
}

const sum = (some) => some.reduce((s, { points }) => s + points, 0);

// Lines that have no scale: where rows start, and sums.
function fixedLines(found, hidden) {
  const said = isPrior(found.prior) ? "(class shares)" : "(a typical row)";
  const listed = [{ name: "start", said, points: found.start }];
  const n = hidden.length, more = `${n} more column${n === 1 ? "" : "s"}`;
  if (n) listed.push({ name: more, said: "(their sum)", points: sum(hidden) });
  if (found.joint.length) listed.push({ name: "columns together", said: "(their sum)", points: sum(found.joint) });
  return listed;
}

function drawNomogram() {
  const k = Number(forClass.value), other = names.length < 3 ? 1 - k : others.value === "" ? null : Number(others.value);
  const found = nomogramOf(asked, k, other);
  drawnWidth = chart.clientWidth;
  const width = Math.max(drawnWidth, 260), narrow = width < 560;
  const frame = { width, narrow, left: narrow ? 10 : 176, right: width - (narrow ? 10 : 66) };
  const lines = found.lines.slice(0, isWhole ? undefined : SEEN), fixed = fixedLines(found, found.lines.slice(lines.length));
  const reach = [...lines.flatMap(({ points, scale }) => [points, ...scale.map((each) => each.points)]), ...fixed.map(({ points }) => points)];
  const points = ruler(Math.max(-FAR, Math.min(-0.5, ...reach)), Math.min(FAR, Math.max(0.5, ...reach)), frame);
  let top = 46;
  const nodes = [...lines, ...fixed].map((line) => {
    const { node, bottom, at } = lineOf(line, points, top, frame);
    top = bottom;
    return line.scale?.length ? slider(node, line, at) : node;
  });
  const furthest = (of) => sum(fixed) - sum(found.lines.slice(lines.length))
    + found.lines.reduce((s, { points: own, scale }) => s + of(own, ...scale.map((each) => each.points)), 0);
  const totals = totalsOf({ ...found, ends: [furthest(Math.min), furthest(Math.max)] }, top, frame);
  const words = `Nomogram: ${signed(found.total)} points in total, probability ${percent(found.probability(0))}`;
  const focused = document.activeElement?.getAttribute("data-line");
  put(chart, draw("svg", {
    class: "scales", viewBox: `0 0 ${width} ${totals.bottom}`, height: totals.bottom, role: "group", "aria-label": words,
    "data-total": found.total, "data-probability": found.probability(0), "data-low": points.low, "data-high": points.high,
  }, pointsAxis(points, frame), nodes, totals.nodes));
  if (focused) nodes.find((node) => node.getAttribute("data-line") === focused)?.focus({ preventScroll: true });
  every.hidden = found.lines.length <= SEEN;
  every.textContent = isWhole ? `Show the first ${SEEN} columns` : `Show all ${found.lines.length} columns`;
  below.textContent = sentences(found, k, other, reach.some(points.isCut));
}

function sentences({ joint }, k, other, isCut) {
  const largest = joint.slice(0, 3).map(({ name, points }) => `${name} ${signed(points)}`).join(", ");
  const about = names.length < 3 ? `Points are log odds: above zero they favor ${names[k]}, below zero ${names[other]}.`
    : other === null ? `Points are log odds of ${names[k]} against the mean of the other classes; the scale of its probability holds the odds between the others as they are for this row.`
      : `Points are log odds of ${names[k]} against ${names[other]}; the probability is that of ${names[k]}, given that it is one of these two.`;
  const together = joint.length ? `Columns together: what only several columns say, and what a pool leaves out of a member that is surer than a million to one, for this row ${largest}${joint.length > 3 ? ` and ${joint.length - 3} more` : ""}.` : "";
  return [about, "With the start, points add up to the total.", together,
    isCut ? `Scales end at ${FAR} points; an arrow marks what lies beyond.` : ""].filter(Boolean).join(" ");
}

// Keys go from value to value; a click takes the nearest one.
function slider(node, line, at) {
  const { column, cell, scale, j } = line, last = scale.length - 1;
  const isNumber = column.kind === "number" && typeof cell === "number";
  const near = cell === null ? -1 : scale.findLastIndex((each) => (column.levels ? each.cell === cell : each.cell <= cell));
  const take = (value) => { fields[j].set(value); answer(); };
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
  const within = (value, low, high) => Math.min(Math.max(value, low), high);
  return filled(node, {
    role: "slider", tabindex: "0", "aria-label": `Points of ${line.name}`, "aria-valuetext": `${written(cell)}, ${signed(line.points)} points`,
    "aria-valuemin": isNumber ? column.low : 0, "aria-valuemax": isNumber ? column.high : last,
    "aria-valuenow": isNumber ? cell : Math.max(near, 0),
    onkeydown(event) {
      const by = steps[event.key];
      if (by === undefined) return;
      event.preventDefault();
      if (isNumber) take(Number(within(cell + by * stepOf(column), column.low, column.high).toPrecision(12)));
      else take(scale[within(near + by, 0, last)].cell);
    },
    onclick(event) {
      const box = chart.firstChild.getBoundingClientRect();
      const far = (each) => Math.hypot(at(each)[0] - event.clientX + box.left, at(each)[1] - event.clientY + box.top);
      take(scale.reduce((a, b) => (far(b) < far(a) ? b : a)).cell);
    },
  }, []);
}

begin(0);
