// Draws the charts one after another, so that the page can be read meanwhile.
(async () => {
  const specs = JSON.parse(document.getElementById("drawings").textContent);
  const font = getComputedStyle(document.body).fontFamily;
  const config = {
    background: null,
    font,
    axis: { labelFont: font, titleFont: font },
    style: { "guide-label": { font }, "guide-title": { font } },
  };
  for (const [key, spec] of Object.entries(specs)) {
    const place = document.getElementById("chart-" + key);
    if (!place) continue;
    try {
      await vegaEmbed(place, spec, { actions: false, renderer: "svg", config, tooltip: { theme: "page" } });
      place.querySelector("svg")?.setAttribute("aria-hidden", "true"); // the figure says it in words
    } catch (error) {
      place.textContent = "This chart could not be drawn.";
      console.error(key, error);
    }
  }
  document.documentElement.dataset.drawn = "yes";
})();
