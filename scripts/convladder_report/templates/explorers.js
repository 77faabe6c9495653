// Draws the figures that a reader chooses. Where that fails the drawing beside it says the same, and stays.
"use strict";
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colours = JSON.parse(document.getElementById("dark").textContent);
  const shaded = text => dark.matches ? text.replace(/#[0-9a-fA-F]{6}/g, one => colours[one.toLowerCase()] ?? one) : text;
  const tables = new Map();
  const rowsOf = name => {
    if (!tables.has(name)) {
      const packed = JSON.parse(document.getElementById(name).textContent);
      tables.set(name, packed.rows.map(cells => Object.fromEntries(
        cells.map((cell, index) => [packed.columns[index], cell]).filter(([, cell]) => cell !== null))));
    }
    return tables.get(name);
  };
  const control = (name, label, options, chosen, changed) => {
    const holder = document.createElement("label");
    const select = document.createElement("select");
    for (const option of options) select.add(new Option(String(option), String(option), false, option === chosen));
    select.addEventListener("change", () => changed(options[select.selectedIndex]));
    holder.append(`${label} `, select);
    holder.dataset.choice = name;
    return holder;
  };
  // Powers of ten between two values; 1-2-5 where these would be too few.
  const round = (low, high, narrow) => {
    const all = [...Array(25).keys()].flatMap(power => [1, 2, 5].map(digit => digit * 10 ** (power - 3)))
      .filter(value => value >= low && value <= high);
    const powers = all.filter(value => /^1(e|0*$)/.test(String(value)));
    return powers.length > 2 || narrow && powers.length > 1 ? powers : all;
  };
  // Numbers that a specification cannot know: the ends of the axis, with room for the text behind the last mark.
  const filled = (look, rows, width) => {
    const values = rows.flatMap(row => [row.time, row.low, row.high, row.line, row.from, row.op]).filter(value => value > 0);
    const least = Math.min(...values), most = Math.max(...values), narrow = width < 500;
    const names = narrow ? 125 : 175;
    const share = Math.min((narrow ? 80 : 145) / Math.max(width - names - 25, 120), 0.6);
    const log = JSON.stringify(look).includes('"$least"');
    const end = log ? least / 1.3 * Math.pow(1.3 * most / least, 1 / (1 - share)) : most / (1 - share);
    const ticks = round(least / 1.3, end, narrow), images = rows.map(row => row.image).filter(value => value > 0);
    const imageTicks = round(Math.min(...images), Math.max(...images), narrow);
    const batches = [...new Set(rows.map(row => row.batch))].sort((a, b) => a - b);
    return JSON.parse(shaded(JSON.stringify(look)).replaceAll('"$least"', least / 1.3).replaceAll('"$most"', end)
      .replaceAll('"$names"', names)
      .replaceAll("$narrow", narrow).replaceAll('"$ticks"', JSON.stringify(ticks))
      .replaceAll('"$imageTicks"', JSON.stringify(imageTicks)).replaceAll('"$batches"', JSON.stringify(batches)));
  };
  class Explorer {
    constructor(holder) {
      this.holder = holder;
      Object.assign(this, JSON.parse(holder.querySelector("script").textContent));
      this.rows = rowsOf(this.data);
      this.look = Object.keys(this.looks)[0];
      this.chosen = {};
      this.drawing = document.getElementById(holder.dataset.insteadOf);
      holder.hidden = false;
      this.drawing?.classList.add("answered");
      this.draw();
      dark.addEventListener("change", () => this.draw());
    }
    // Each choice offers what the choices before it leave.
    choose() {
      let rows = this.rows;
      const controls = [];
      for (const {column, label, first, only} of this.choices) {
        const offered = [...new Set((only ? rows.filter(row => row.kind === only) : rows).map(row => row[column]))];
        if (typeof offered[0] === "number") offered.sort((a, b) => a - b);
        if (!offered.includes(this.chosen[column]))
          this.chosen[column] = offered.includes(first) ? first : offered[typeof offered[0] === "number" ? offered.length - 1 : 0];
        if (offered.length > 1) controls.push(control(column, label, offered, this.chosen[column], value => {
          this.chosen[column] = value;
          this.draw(column);
        }));
        rows = rows.filter(row => row[column] === this.chosen[column]);
      }
      const looks = Object.keys(this.looks);
      if (looks.length > 1) controls.push(control("look", "Show", looks, this.look, value => {
        this.look = value;
        this.draw("look");
      }));
      this.holder.querySelector(".choices").replaceChildren(...controls);
      return rows;
    }
    async draw(changed) {
      const rows = this.choose(), view = this.holder.querySelector(".view");
      if (changed) this.holder.querySelector(`[data-choice="${changed}"] select`)?.focus();
      const columns = Math.max(1, Math.floor(view.clientWidth / 250));
      delete this.holder.dataset.drawn;
      try {
        await vegaEmbed(view, {...filled(this.looks[this.look], rows, view.clientWidth), data: {values: rows}}, {
          mode: "vega-lite", renderer: "svg", actions: false, ast: true, logLevel: 0,
          tooltip: {theme: dark.matches ? "dark" : "light"},
          config: JSON.parse(shaded(JSON.stringify({font: "system-ui, 'DejaVu Sans', Verdana, sans-serif", view: {stroke: null},
            axis: {labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelColor: "#1b1f24",
              titleColor: "#5b636d", gridColor: "#e3e6ea"}, legend: {labelFontSize: 12, labelColor: "#1b1f24", columns}})))});
        this.holder.dataset.drawn = "";
      } catch {
        this.holder.hidden = true;
        this.drawing?.classList.remove("answered");
      }
    }
  }
  // What is folded has no width; it is drawn when it is opened.
  for (const holder of document.querySelectorAll(".explorer")) {
    const chapter = holder.closest("details.chapter:not([open])");
    if (chapter) chapter.addEventListener("toggle", () => new Explorer(holder), {once: true});
    else new Explorer(holder);
  }
})();
