// A place to drop a file, or to choose one.

import { make } from "./dom.js";

const KINDS = ".csv,.tsv,.txt,.parquet,.pq,.json,.jsonl,.ndjson,.arrow,.feather,.ipc,"
  + ".xlsx,.xlsm,.xlsb,.xls,.ods,.sqlite,.sqlite3,.db,.zip";

export function filePicker(id, chosen) {
  const input = make("input", { type: "file", id, accept: KINDS, onchange: () => input.files[0] && chosen(input.files[0]) });
  const node = make("div", { className: "drop" },
    make("label", { htmlFor: id }, "A table: CSV, a workbook, Parquet, JSON, Arrow, SQLite or a zip of one. "), input);
  node.addEventListener("dragover", (event) => { event.preventDefault(); node.classList.add("over"); });
  node.addEventListener("dragleave", () => node.classList.remove("over"));
  node.addEventListener("drop", (event) => {
    event.preventDefault();
    node.classList.remove("over");
    if (event.dataTransfer.files.length > 0) { input.files = event.dataTransfer.files; chosen(input.files[0]); }
  });
  return { node, file: () => input.files[0] ?? null };
}
