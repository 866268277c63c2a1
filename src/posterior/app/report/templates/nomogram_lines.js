// Lines of a nomogram: one of a column or of a sum, the total of points, and the probability below.

const MARKS = [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999];
const LETTER = 6.4; // pixels

// Where points stand; what lies beyond the ends stands at them.
function ruler(low, high, { left, right }) {
  const x = (v) => left + ((Math.min(Math.max(v, low), high) - low) / (high - low)) * (right - left);
  return { low, high, x, isCut: (v) => v < low || v > high };
}

// Texts that would cover an earlier one are left out.
function labels() {
  const taken = [];
  return (x, y, text, anchor = "middle") => {
    const wide = LETTER * text.length + 4;
    const from = anchor === "start" ? x : x - wide / 2, to = from + wide;
    if (taken.some((t) => Math.abs(t.y - y) < 12 && from < t.to && t.from < to)) return null;
    taken.push({ y, from, to });
    return draw("text", { x, y, "text-anchor": anchor, class: "soft" }, text);
  };
}

const written = (cell) =>
  (cell === null ? "missing" : cell === "" ? "(empty)" : typeof cell === "number" ? plain(cell) : String(cell));

// A dot where the row stands, with an arrow if that is beyond the end.
function marker(x, y, isCut, points) {
  return [draw("circle", { cx: x, cy: y, r: 5.5, class: "now" }),
    isCut ? draw("text", { x, y: y - 8, "text-anchor": "middle", class: "strong" }, points > 0 ? "▸" : "◂") : null];
}

// Whether points rise and fall again: such a scale is drawn as a curve, its values upward.
function isFolded({ column, scale }) {
  if (column?.levels || scale.length < 3) return false;
  const rises = scale.slice(1).map((each, i) => each.points - scale[i].points);
  return rises.some((r) => r > SMALL) && rises.some((r) => r < -SMALL);
}

// How far up a number or a date stands, from 0 to 1; null of no such value.
function heightOf(scale, cell) {
  if (cell === null || !scale.length || typeof cell !== typeof scale[0].cell) return null;
  const i = scale.findIndex((each) => each.cell >= cell);
  if (i <= 0) return i === 0 ? 0 : 1;
  const [a, b] = [scale[i - 1], scale[i]];
  return typeof cell === "number" ? a.at + ((cell - a.cell) / (b.cell - a.cell)) * (b.at - a.at) : b.at;
}

// The scale of a column: its values where their points are. `at` is the place of each of them.
function scaleOf(line, points, middle, room, frame) {
  const { scale } = line, folded = isFolded(line), place = labels();
  const up = (share) => middle + (room - 22) * (0.5 - share);
  const at = (each) => [points.x(each.points), folded ? up(each.at) : middle];
  const parts = [];
  if (folded) {
    const path = scale.map((each, i) => `${i ? "L" : "M"}${at(each).map((v) => v.toFixed(1))}`);
    parts.push(draw("path", { class: "curve", d: path.join("") }));
  } else if (scale.length) {
    const xs = scale.map((each) => at(each)[0]);
    parts.push(draw("line", { x1: Math.min(...xs), x2: Math.max(...xs), y1: middle, y2: middle, class: "curve" }));
  }
  const byPoints = [...scale].sort((a, b) => a.points - b.points);
  const ends = [scale[0], scale.at(-1), byPoints[0], byPoints.at(-1)];
  const own = scale.filter((each) => each.cell === line.cell);
  const labeled = folded ? ends : [...own, ...ends, ...scale.filter(({ tick }) => tick)];
  for (const each of new Set(labeled.filter(Boolean))) {
    const [x, y] = at(each), text = short(written(each.cell), 16), half = (LETTER * text.length) / 2;
    if (folded) {
      const beside = Math.min(x + 8, frame.right - 2 * half);
      parts.push(place(beside, y + 4, text, "start"));
    } else {
      parts.push(draw("line", { x1: x, x2: x, y1: middle - 4, y2: middle + 4, class: "tick" }),
        place(Math.min(Math.max(x, frame.left + half - 6), frame.right - half + 6), middle + 19, text));
    }
  }
  const share = folded ? heightOf(scale, line.cell) : null;
  parts.push(marker(points.x(line.points), share === null ? middle : up(share), points.isCut(line.points), line.points));
  return { parts, at };
}

// Draws a line below `top`; returns its node, where the next one begins, and the places of its values.
function lineOf(line, points, top, frame) {
  const { name, scale = [] } = line, { narrow, left, right, width } = frame;
  const head = narrow ? 20 : 0, room = isFolded({ ...line, scale }) ? 72 : scale.length ? 42 : 38;
  const bottom = top + head + room, middle = top + head + (room === 72 ? 36 : 16);
  const value = line.column ? `= ${written(line.cell)}` : line.said;
  const { parts, at } = scaleOf({ ...line, scale }, points, middle, room, frame);
  const node = draw("g", { "data-line": name, "data-points": line.points },
    draw("title", {}, `${name} ${value}: ${signed(line.points)} points`),
    draw("line", { x1: 0, x2: width, y1: top, y2: top, class: "rule" }),
    draw("line", { x1: points.x(0), x2: points.x(0), y1: top + head, y2: bottom, class: "zero" }),
    draw("rect", { x: left, y: top + head, width: right - left, height: room, class: "touch" }),
    narrow
      ? draw("text", { x: 0, y: top + 15, class: "strong" }, short(name, 22), draw("tspan", { class: "soft" }, ` ${short(value, 18)}`))
      : [draw("text", { x: 0, y: middle, class: "strong" }, short(name, 23)),
        draw("text", { x: 0, y: middle + 15, class: "soft" }, short(value, 26))],
    draw("text", { x: width, y: narrow ? top + 15 : middle + 4, "text-anchor": "end" }, signed(line.points)), parts);
  return { node, bottom, at };
}

// The scale of points on top of the lines.
function pointsAxis(points, frame) {
  return [draw("text", { x: frame.narrow ? 0 : frame.left, y: 12, class: "soft" }, "points (log odds)"),
    roundNumbers(points.low, points.high, frame.narrow ? 5 : 9).map((t) => [
      draw("text", { x: points.x(t), y: 30, class: "soft", "text-anchor": "middle" }, plain(t)),
      draw("line", { x1: points.x(t), x2: points.x(t), y1: 35, y2: 40, class: "tick" })]),
    draw("line", { x1: frame.left, x2: frame.right, y1: 40, y2: 40, class: "base" })];
}

// Total points, as far as they go or a probability can be told from 0 and 1, and the probability that each would have.
function totalsOf({ total, ends, probability }, top, frame) {
  const { narrow, left, right, width } = frame;
  const sure = [MARKS[0], MARKS.at(-1)].map((mark, i) => total + (movedFor(mark, probability) ?? (i ? FAR : -FAR)));
  const whole = ruler(Math.min(Math.max(ends[0], sure[0] - 1), total), Math.max(Math.min(ends[1], sure[1] + 1), total, total + 1), frame);
  const upper = top + (narrow ? 42 : 26), lower = upper + (narrow ? 70 : 48), p = probability(0);
  const axis = (y, title, shown, ticks) => {
    const place = labels();
    return [draw("text", { x: 0, y: narrow ? y - 20 : y + 4, class: "strong" }, title),
      draw("text", { x: width, y: narrow ? y - 20 : y + 4, "text-anchor": "end", class: "strong" }, shown),
      draw("line", { x1: left, x2: right, y1: y, y2: y, class: "base" }),
      ticks.map(([v, text]) => [draw("line", { x1: whole.x(v), x2: whole.x(v), y1: y, y2: y + 5, class: "tick" }),
        place(whole.x(v), y + 19, text)]),
      marker(whole.x(total), y, false, total)];
  };
  const reached = MARKS.map((mark) => [movedFor(mark, probability), mark])
    .filter(([moved]) => moved !== null && !whole.isCut(total + moved))
    .map(([moved, mark]) => [total + moved, `${Number((100 * mark).toPrecision(3))} %`]);
  const rounds = roundNumbers(whole.low, whole.high, narrow ? 6 : 10).map((v) => [v, plain(v)]);
  return { bottom: lower + 26, nodes: [
    draw("line", { x1: 0, x2: width, y1: top, y2: top, class: "base" }),
    draw("line", { x1: whole.x(total), x2: whole.x(total), y1: upper, y2: lower, class: "down" }),
    axis(upper, "total points", signed(total), rounds), axis(lower, "probability", percent(p), reached)] };
}
