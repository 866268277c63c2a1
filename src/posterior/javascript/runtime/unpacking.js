// What the model knows, with numbers that are written as bytes.

const BYTES = {
  f64: (view, i) => view.getFloat64(8 * i, true),
  u16: (view, i) => view.getUint16(2 * i, true),
  u8: (view, i) => view.getUint8(i),
};

function numbersOf(text, kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer), length = bytes.length / (parseInt(kind.slice(1), 10) / 8);
  return Array.from({ length }, (_, i) => BYTES[kind](view, i));
}

function unpacked(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(unpacked);
  const [kind] = Object.keys(value);
  if (Object.hasOwn(BYTES, kind ?? "") && typeof value[kind] === "string") return numbersOf(value[kind], kind);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unpacked(each)]));
}
