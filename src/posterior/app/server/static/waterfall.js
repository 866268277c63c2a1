// From the prior to the posterior: what each column adds to the log odds of one class against another.

import { draw, percent, short, signed } from "./dom.js";

const MOST = 14; // steps that are shown one by one
const TINY = 5e-3; // log odds that cannot be seen

function softmax(scores) {
  const top = Math.max(...scores);
  const parts = scores.map((score) => Math.exp(score - top));
  const sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((part) => part / sum);
}

// The steps: name, value, weight, log odds before and after, and the posterior after.
export function steps(told, classes, order) {
  const of = told.of, against = told.against ?? told.of;
  const terms = told.terms.filter((term) => Math.abs(term.weight) >= TINY || term.value !== null);
  const ranked = [...terms].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const shown = new Set(ranked.slice(0, MOST));
  const kept = (order === "strongest" ? ranked : told.terms).filter((term) => shown.has(term));
  const rest = told.terms.filter((term) => !shown.has(term));
  const scores = classes.map((label) => told.start[label]);
  let at = scores[classes.indexOf(of)] - scores[classes.indexOf(against)];
  const found = [{ name: told.started, value: null, weight: at, from: 0, to: at, posterior: softmax(scores), total: true }];
  const add = (name, value, added) => {
    classes.forEach((label, k) => { scores[k] += added[label]; });
    const weight = added[of] - added[against];
    found.push({ name, value, weight, from: at, to: at + weight, posterior: softmax(scores) });
    at += weight;
  };
  for (const term of kept) add(term.name, term.value, term.scores);
  if (rest.length > 0) {
    const sum = Object.fromEntries(classes.map((label) => [label, rest.reduce((s, term) => s + term.scores[label], 0)]));
    if (classes.some((label) => Math.abs(sum[label] - sum[classes[0]]) > 1e-9))
      add(rest.length === 1 ? rest[0].name : `${rest.length} others`, null, sum);
  }
  const final = classes.map((label) => told.posterior[label]);
  const odds = Math.log(Math.max(told.posterior[of], 1e-300)) - Math.log(Math.max(told.posterior[against], 1e-300));
  if (Math.abs(odds - at) > 0.02 && Math.abs(at) < 500) { // probabilities were calibrated
    found.push({ name: "calibration", value: null, weight: odds - at, from: at, to: odds, posterior: final });
    at = odds;
  }
  found.push({ name: "posterior", value: null, weight: at, from: 0, to: at, posterior: final, total: true });
  return found;
}

export function waterfall(told, classes, order, width) {
  const all = steps(told, classes, order);
  const narrow = width < 560;
  const left = narrow ? 0 : Math.min(230, width * 0.34), right = narrow ? 70 : 150;
  const line = narrow ? 44 : 30, top = 30, bar = 14;
  const low = Math.min(0, ...all.map((s) => s.to)), high = Math.max(0, ...all.map((s) => s.to));
  const span = high - low || 1;
  const room = narrow ? 50 : 48; // for the numbers beside the bars
  const x = (v) => left + room + ((v - low) / span) * (width - left - right - 2 * room);
  const height = top + all.length * line + 6;
  const k = classes.indexOf(told.of), other = classes.indexOf(told.against);
  const sides = [`◂ ${short(told.against ?? "", 18)}`, `${short(told.of, 18)} ▸`];
  const middle = Math.min(Math.max(narrow ? 0 : x(0), 8 + 7 * sides[0].length), width - right - 7 * sides[1].length);
  const parts = [
    draw("text", { x: middle - 6, y: 12, class: "soft", "text-anchor": "end" }, sides[0]),
    draw("text", { x: middle + 6, y: 12, class: "soft" }, sides[1]),
    draw("text", { x: width, y: 12, class: "soft", "text-anchor": "end" }, short(`P(${told.of})`, narrow ? 12 : 22)),
  ];
  all.forEach((s, i) => {
    const y = top + i * line, middle = y + (narrow ? 30 : line / 2), base = middle + 4;
    const sign = s.total ? "total" : `b${(s.weight >= 0 ? k : other) % 8}`;
    const from = x(Math.min(s.from, s.to)), to = x(Math.max(s.from, s.to));
    const named = narrow ? 40 : Math.floor(left / 7.2);
    const value = s.value === null ? "" : ` = ${s.value}`;
    const name = draw("text", { x: 0, y: narrow ? y + 14 : base, class: s.total ? "strong" : "" },
      short(s.name, Math.max(8, named - Math.min(value.length, 12))),
      draw("tspan", { class: "soft" }, short(value, 16)));
    const beside = s.to >= s.from ? { x: to + 5, "text-anchor": "start" } : { x: from - 5, "text-anchor": "end" };
    parts.push(draw("g", {},
      draw("title", {}, `${s.name}${value}: ${signed(s.weight)} log odds, P(${told.of}) = ${percent(s.posterior[k])}`),
      draw("line", { x1: 0, x2: width, y1: y, y2: y, class: "rule" }),
      draw("line", { x1: x(0), x2: x(0), y1: narrow ? y + 20 : y, y2: y + line, class: "zero" }),
      name,
      draw("rect", { x: from, y: middle - bar / 2, width: Math.max(to - from, 1.5), height: bar, rx: 2, class: sign }),
      i + 1 < all.length && !narrow ? draw("line", { x1: x(s.to), x2: x(s.to), y1: middle + bar / 2, y2: middle + line - bar / 2, class: "link" }) : null,
      draw("text", { ...beside, y: base, class: "soft beside" }, signed(s.weight)),
      draw("text", { x: width, y: base, "text-anchor": "end", class: s.total ? "strong" : "" }, percent(s.posterior[k])),
      narrow ? null : mixture(s.posterior, width - right + 10, middle - 5, 72, 10),
    ));
  });
  const words = `From ${all[0].name} to posterior: ` + all.slice(1, -1).map((s) => `${s.name} ${signed(s.weight)}`).join(", ");
  return draw("svg", { class: "waterfall", viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": words }, parts);
}

// The posterior of all classes side by side.
function mixture(posterior, x, y, width, height) {
  let at = x;
  return posterior.map((p, k) => {
    const part = draw("rect", { x: at, y, width: p * width, height, class: `b${k % 8}` });
    at += p * width;
    return part;
  });
}
