// Finds the page of two runs in the table's own data; it judges nothing. Without it the table says the same.
"use strict";
const pairs = JSON.parse(document.getElementById("pairs").textContent);
const [base, fresh, outcome] = ["base", "new", "outcome"].map(name => document.getElementById(name));
function show() {
  const swapped = !(`${base.value}-${fresh.value}` in pairs);
  const found = pairs[swapped ? `${fresh.value}-${base.value}` : `${base.value}-${fresh.value}`];
  outcome.textContent = "";
  if (base.value === fresh.value) {
    outcome.textContent = "This is one and the same run.";
  } else if (found === undefined) {
    outcome.textContent = "These two have no page here: they have no case in common, or are too old. " +
      "convladder compare BASE.json NEW.json says more.";
  } else {
    const link = document.createElement("a");
    link.href = found[0];
    link.textContent = found[1];
    outcome.append(swapped ? "The other way around, with the older one as the base: " : "", link);
  }
}
base.addEventListener("change", show);
fresh.addEventListener("change", show);
document.querySelector("form").addEventListener("submit", event => event.preventDefault());
document.querySelector("form").hidden = false;
show();
