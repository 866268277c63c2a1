// Sliders: what a threshold gives on held-out rows, at another class share and cost of a miss.
(() => {
  const known = JSON.parse(document.getElementById("held-out-counts").textContent);
  const chosen = document.getElementById("class-of-interest");
  let { name, rows, positives, thresholds, predicted, hits } = known[0];
  const RATIOS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
  const [cut, share, ratio] = ["cut", "share", "ratio"].map((key) => document.getElementById(`move-${key}`));
  const place = (key) => document.getElementById(`moved-${key}`);
  let heldOut = positives / rows;
  const logit = (p) => Math.log(p / (1 - p));
  const expit = (z) => 1 / (1 + Math.exp(-z));
  const digits = (x, n = 3) => String(Number(x.toPrecision(n)));
  const percent = (p) => (Number.isFinite(p) ? `${(100 * p).toFixed(1)} %` : "-");

  // Rows of each kind, as many of them as there would be at that share; i of the thresholds are passed.
  function counted(i, classShare) {
    const found = i === 0 ? 0 : hits[i - 1], taken = i === 0 ? 0 : predicted[i - 1];
    const own = classShare / heldOut, other = (1 - classShare) / (1 - heldOut);
    return {
      hit: own * found, missed: own * (positives - found),
      alarm: other * (taken - found), passed: other * (rows - positives - taken + found),
    };
  }

  const cost = ({ missed, alarm }, price) => (price * missed + alarm) / rows;

  function cheapest(classShare, price) {
    let best = 0;
    for (let i = 1; i <= thresholds.length; i++) {
      if (cost(counted(i, classShare), price) < cost(counted(best, classShare), price)) best = i;
    }
    return best;
  }

  const shareNow = () => (Number(share.value) === 0 ? heldOut : expit(logit(heldOut) + Number(share.value)));
  const from = (i) => (i === 0 ? "never" : `from ${digits(thresholds[i - 1])}`);

  function write(key, value, text) {
    place(key).textContent = text;
    place(key).dataset.value = value;
  }

  function show() {
    const i = Number(cut.value), classShare = shareNow(), price = RATIOS[Number(ratio.value)];
    const found = counted(i, classShare), best = cheapest(classShare, price);
    const said = { cut: from(i), share: percent(classShare), ratio: `${price} false alarm${price === 1 ? "" : "s"}` };
    const values = { cut: i === 0 ? Infinity : thresholds[i - 1], share: classShare, ratio: price };
    for (const [key, input] of Object.entries({ cut, share, ratio })) {
      write(key, values[key], said[key]);
      input.setAttribute("aria-valuetext", said[key]);
    }
    for (const [key, n] of Object.entries(found)) write(key, n, Math.round(n).toLocaleString("en"));
    const rates = {
      precision: found.hit / (found.hit + found.alarm),
      recall: found.hit / (found.hit + found.missed),
      accuracy: (found.hit + found.passed) / rows,
    };
    for (const [key, p] of Object.entries(rates)) write(key, p, percent(p));
    write("cost", cost(found, price), cost(found, price).toFixed(3));
    write("least", cost(counted(best, classShare), price),
      `${cost(counted(best, classShare), price).toFixed(3)} (${from(best)})`);
    const moved = i > 0 && Number(share.value) !== 0 && thresholds[i - 1] > 0 && thresholds[i - 1] < 1;
    const there = moved ? expit(logit(thresholds[i - 1]) + Number(share.value)) : 0;
    place("there").textContent = moved
      ? `At a share of ${said.share}, a probability of ${digits(thresholds[i - 1])} of this model means ${digits(there)}.` : "";
  }

  const half = () => thresholds.filter((t) => t >= 0.5).length;
  cut.addEventListener("input", show);
  for (const input of [share, ratio]) {
    input.addEventListener("input", () => {
      cut.value = String(cheapest(shareNow(), RATIOS[Number(ratio.value)]));
      show();
    });
  }

  function back() {
    cut.max = String(thresholds.length);
    share.value = "0";
    ratio.value = String(RATIOS.indexOf(1));
    cut.value = String(half());
    show();
  }

  // Another class of interest: its pictures, its costs, its counts.
  function choose() {
    ({ name, rows, positives, thresholds, predicted, hits } = known[Number(chosen.value)]);
    heldOut = positives / rows;
    for (const part of document.querySelectorAll("[data-interest]")) part.hidden = part.dataset.interest !== chosen.value;
    for (const said of document.querySelectorAll("[data-interest-name]")) {
      const most = Number(said.dataset.interestName);
      said.textContent = name.length > most ? `${name.slice(0, most - 1)}…` : name;
      said.title = name;
    }
    back();
  }

  document.getElementById("move-back").addEventListener("click", back);
  if (chosen) {
    chosen.addEventListener("change", choose);
    document.getElementById("choose-class").hidden = false;
  }
  back();
  document.getElementById("sliders").hidden = false;
})();
