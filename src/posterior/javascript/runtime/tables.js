// Tables that are looked up by the cells of some columns: T_k[group of each cell].

// 3, 0, 2, 1 is 0 0 0 1 1
function unrolled(runs) {
  const out = [];
  for (let i = 0; i < runs.length; i += 2) {
    for (let n = 0; n < runs[i]; n++) out.push(runs[i + 1]);
  }
  return out;
}

// A table by its steps: their sums along all axes.
function stepped({ at, steps }, sizes, outputs) {
  const values = new Array(sizes.reduce((n, size) => n * size, outputs)).fill(0);
  let place = 0;
  at.forEach((gap, i) => {
    place += gap;
    for (let o = 0; o < outputs; o++) values[place * outputs + o] = steps[i * outputs + o];
  });
  let stride = outputs;
  for (const size of [...sizes].reverse()) {
    for (let i = stride; i < values.length; i++) {
      if (Math.floor(i / stride) % size) values[i] += values[i - stride];
    }
    stride *= size;
  }
  return values;
}

PARTS.tables = ({ tables, outputs }) => {
  const made = tables.map(({ name, cells, groups, ...table }) => {
    const own = groups.map(unrolled), sizes = own.map((group) => Math.max(...group) + 1);
    return { name, cells, own, sizes, values: table.values ?? stepped(table, sizes, outputs) };
  });
  return (at, tell) => {
    for (const { name, cells, values, own, sizes } of made) {
      let place = 0;
      for (let a = 0; a < cells.length; a++) place = place * sizes[a] + own[a][at.cell(cells[a])];
      const scores = values.slice(place * outputs, (place + 1) * outputs);
      tell(name, outputs === 1 ? [0, ...scores] : scores);
    }
  };
};
