// Numbers as people write them: $5,993.00, 1.026,00 €, (120), 1.2k.

function writtenNumber(text, spec) {
  const { pattern, signs, decimal, scales } = spec.written;
  const match = new RegExp(`^(?:${pattern})$`).exec(text);
  if (match === null) throw refused("a number", spec.column, text);
  const { open, sign, inner, body, scale } = match.groups;
  let digits = body;
  for (const mark of signs) digits = digits.replaceAll(mark, "");
  const value = Number(digits.replaceAll(decimal, ".")) * (scales[scale] ?? 1);
  return open || sign === "-" || sign === "\u2212" || inner === "-" ? -value : value;
}
