// Tables that are looked up by the cells of some columns: T_k[group of each cell].

// 3, 0, 2, 1 is 0 0 0 1 1
function unrolled(runs) {
  const out = [];
  for (let i = 0; i < runs.length; i += 2) {
    for (let n = 0; n < runs[i]; n++) out.push(runs[i + 1]);
  }
  return out;
}

PARTS.tables = ({ tables, outputs }) => {
  const made = tables.map(({ name, cells, groups, values }) => {
    const own = groups.map(unrolled);
    return { name, cells, values, own, sizes: own.map((group) => Math.max(...group) + 1) };
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
