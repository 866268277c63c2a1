// Elements made of names and text. Nothing here parses HTML: a name of a column stays a name.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && node.namespaceURI !== SVG && name !== "list") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

export const make = (tag, given = {}, ...children) =>
  filled(document.createElement(tag), given, children);

export const draw = (tag, given = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), given, children);

export const put = (place, ...children) => {
  place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return place;
};

// A probability for people: never 0 or 100 % for what is only near it.
export function percent(p) {
  if (p > 0 && p < 1e-4) return "<0.01 %";
  if (p >= 0.9995 && p < 1) return ">99.9 %";
  return `${p >= 0.01 || p === 0 ? (100 * p).toFixed(1) : Number((100 * p).toPrecision(2))} %`;
}

export const signed = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(2)}`;

export const plain = (x) => String(Number(Number(x).toPrecision(4)));

export const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// An error told in place, or taken away.
export const told = (place, error) =>
  put(place, error ? make("p", { className: "error", role: "alert" }, error.message ?? String(error)) : null);
