// Draws every specification of the page. Where that fails the drawings say the same, so nothing is shown.
"use strict";
const tooltip = {theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"};
for (const holder of document.querySelectorAll(".explorer")) {
  const specification = JSON.parse(holder.querySelector("script").textContent);
  const view = holder.querySelector(".view");
  holder.hidden = false;
  const columns = Math.max(1, Math.floor(view.clientWidth / 280));
  vegaEmbed(view, specification, {mode: "vega-lite", renderer: "svg", actions: false, ast: true, logLevel: 0, tooltip,
    config: {font: "system-ui, 'DejaVu Sans', Verdana, sans-serif", axis: {labelFontSize: 12, titleFontSize: 12},
      legend: {labelFontSize: 12, columns}}})
    .then(() => { holder.dataset.drawn = ""; }, () => { holder.hidden = true; });
}
