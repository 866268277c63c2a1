// Texts, cut into words or letters, and sums of what each weighs.

// n in a row, of letters or of words
function* runs(items, least, most, glue) {
  for (let n = least; n <= most; n++) {
    for (let i = 0; i + n <= items.length; i++) yield items.slice(i, i + n).join(glue);
  }
}

const ANALYZERS = {
  word: (text, { pattern, stops, ngrams: [least, most] }) => {
    const words = (text.match(pattern) ?? []).filter((word) => !stops.has(word));
    return most === 1 ? words : runs(words, least, most, " ");
  },
  char: (text, { pattern, ngrams: [least, most] }) => {
    const once = text.replace(new RegExp(`${pattern.source}{2,}`, "gu"), " ");
    return runs(Array.from(once), least, most, "");
  },
  // inside each word and the spaces around it; a word that is too short counts once
  * char_wb(text, { pattern, ngrams: [least, most] }) {
    for (const word of text.split(pattern)) {
      if (word === "") continue;
      const letters = [" ", ...word, " "];
      for (let n = least; n <= most; n++) {
        if (n < letters.length) {
          yield* runs(letters, n, n, "");
        } else {
          yield letters.join("");
          break;
        }
      }
    }
  },
};

// Half to even, as NumPy rounds.
function rint(x) {
  const low = Math.floor(x), rest = x - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

PARTS.words = (spec) => {
  const { cell, weight, presence, offset, absent, name, fine, most, unit } = spec;
  const places = placesOf(spec.terms);
  const cut = {
    ngrams: spec.ngrams,
    pattern: new RegExp(lists[spec.pattern][0], "gu"),
    stops: new Set(spec.stops === undefined ? [] : lists[spec.stops]),
  };

  // How much a text has of each term that is known: its count, whether it is there, or a logarithm.
  function amounts(text) {
    const counts = new Map();
    for (const term of ANALYZERS[spec.analyzer](spec.lower ? text.toLowerCase() : text, cut)) {
      const place = places.get(term);
      if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    const found = [...counts].sort(([a], [b]) => a - b);
    if (presence) return found.map(([place]) => [place, 1]);
    if (fine === undefined) return found;
    const logs = found.map(([place, n]) => [place, rint(fine * Math.log1p(Math.min(n, most)))]);
    if (unit === undefined) return logs;
    const length = Math.sqrt(logs.reduce((s, [, x]) => s + x * x, 0));
    const scale = 1 / (unit * Math.max(length, 1));
    return logs.map(([place, x]) => [place, rint(x * scale)]);
  }

  return (at, tell) => {
    const text = at.cell(cell);
    if (text === null) return;
    const found = amounts(text).map(([place, x]) => [place, weight[place].map((w) => w * x)]);
    if (name === undefined) {
      for (const [place, scores] of found) tell(lists[spec.terms][place], scores);
    } else if (found.length) {
      tell(name, found.map(([, scores]) => scores).reduce((a, b) => a.map((s, k) => s + b[k])));
    }
    if (offset) tell(absent, offset);
  };
};
