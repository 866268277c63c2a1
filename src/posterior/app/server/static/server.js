// What the page asks the server. Errors are sentences.

const state = { model: null }; // name of a model or id of a training, or null for the first
const TOKEN = "posterior-token"; // where this tab keeps it

// The server may live under any path: everything is found from here.
export const base = new URL("../", import.meta.url);

export const using = (model) => { state.model = model; };
export const remember = (token) => sessionStorage.setItem(TOKEN, token);

const address = (path) =>
  state.model === null ? path : `${path}?model=${encodeURIComponent(state.model)}`;

async function asked(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let response;
  try {
    response = await fetch(new URL(path, base), { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  const error = new Error(told.error ?? `The server answered ${response.status}.`);
  error.status = response.status;
  throw error;
}

const json = async (response) => (await response).json();

export const models = () => json(asked("models"));
export const description = () => json(asked("openapi.json"));
export const model = () => json(asked(address("api/model")));

export const explain = (question, signal) =>
  json(asked(address("api/explain"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
    signal,
  }));

function form(fields) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== null && each !== undefined) body.append(name, each);
  return { method: "POST", body };
}

export const batch = (fields) => asked(address("api/batch"), form(fields));
export const columns = (file) => json(asked("api/columns", form({ file })));
export const train = (file, target, bands, columns) => json(asked("api/train", form({ file, target, bands, ...columns })));
export const training = (id) => json(asked(`api/train/${encodeURIComponent(id)}`));
export const trained = (id, what) => new URL(`api/train/${encodeURIComponent(id)}/${what}`, base).href;
