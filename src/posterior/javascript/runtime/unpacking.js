// What the model knows, with numbers that are written as the bytes of doubles.

function doubles(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
}

function unpacked(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(unpacked);
  if (typeof value.f64 === "string") return doubles(value.f64);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unpacked(each)]));
}
