// Other shares of the classes, and what mistakes cost.

import { make, percent } from "./dom.js";

const MOST_CLASSES = 8; // that controls are drawn for

export function settingsForm(model, changed) {
  const { classes } = model;
  const many = classes.length > MOST_CLASSES;
  const sliders = {}, shown = {}, prices = {};
  let moved = false, priced = false;

  const shares = () => {
    const sum = classes.reduce((s, label) => s + Number(sliders[label].value), 0);
    return Object.fromEntries(classes.map((label) => [label, sum > 0 ? Number(sliders[label].value) / sum : 1 / classes.length]));
  };
  const show = () => {
    for (const [label, share] of Object.entries(shares())) shown[label].textContent = percent(share);
  };
  const reset = () => {
    for (const label of classes) sliders[label].value = Math.round(1000 * model.priors[label]);
    moved = false;
    for (const label of classes) shown[label].textContent = percent(model.priors[label]);
  };
  const priors = model.priors === null || many ? null : make("div", {},
    make("h3", {}, "How common each class is"),
    make("div", { className: "prior" }, classes.map((label, k) => {
      sliders[label] = make("input", { type: "range", min: 0, max: 1000, "aria-label": `share of ${label}`, id: `share-${k}`,
        oninput: () => { moved = true; show(); changed(); } });
      shown[label] = make("span", { className: "n" });
      return [make("span", { className: "label", title: label }, label), sliders[label], shown[label]];
    })),
    make("p", { className: "note" }, "Where the model is used, classes may be rarer or more common than in the training data. "),
    make("button", { onclick: () => { reset(); changed(); } }, "As learned"));

  const unit = (truth, answer) => (truth === answer ? 0 : 1);
  const clear = () => {
    for (const truth of classes) for (const answer of classes) prices[truth][answer].value = unit(truth, answer);
    priced = false;
  };
  const costs = many ? null : make("div", {},
    make("h3", {}, "Cost of each error"),
    make("div", { className: "scroll" }, make("table", { className: "costs" },
      make("thead", {}, make("tr", {}, make("th", {}, "true class ↓  predicted →"), classes.map((label) => make("th", {}, label)))),
      make("tbody", {}, classes.map((truth, i) => {
        prices[truth] = {};
        return make("tr", {}, make("td", {}, truth), classes.map((answer, j) => {
          const input = make("input", { type: "number", step: "any", value: unit(truth, answer), id: `cost-${i}-${j}`,
            "aria-label": `cost of predicting ${answer} where the class is ${truth}`, oninput: () => { priced = true; changed(); } });
          prices[truth][answer] = input;
          return make("td", {}, input);
        }));
      })))),
    make("p", { className: "note" }, "The class of least expected cost is predicted. "),
    make("button", { onclick: () => { clear(); changed(); } }, "Same cost for all errors"));

  if (priors) reset();
  return {
    node: many ? null : make("details", { className: "card settings" },
      make("summary", {}, "Class shares and costs"), priors, costs),
    priors: () => (moved ? shares() : null),
    costs: () => (!priced ? null : Object.fromEntries(classes.map((truth) => [truth,
      Object.fromEntries(classes.map((answer) => [answer, Number(prices[truth][answer].value) || 0]))]))),
  };
}
