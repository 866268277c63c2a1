// The token, where the server wants one: asked for once, and kept for this tab.

import { make, put, told } from "./dom.js";
import * as server from "./server.js";

// Do something that needs the token; ask for it first if the server says so.
export async function withToken(place, act) {
  for (let tried = false; ; tried = true) {
    try {
      return await act();
    } catch (error) {
      if (error.status !== 401) throw error;
      server.remember(await typed(place, tried));
    }
  }
}

function typed(place, wrong) {
  return new Promise((done) => {
    const input = make("input", { type: "password", id: "token-input", autocomplete: "off" });
    const problem = make("div");
    const form = make("form", { className: "card form", onsubmit: (event) => {
      event.preventDefault();
      if (input.value.trim() === "") return;
      put(place);
      done(input.value.trim());
    } }, make("label", { htmlFor: "token-input" }, make("span", {}, "Token of this server"), input),
    make("div", {}, make("button", { className: "main", type: "submit" }, "Continue")), problem);
    put(place, form);
    if (wrong) told(problem, "This is not the token of the server.");
    input.focus();
  });
}
