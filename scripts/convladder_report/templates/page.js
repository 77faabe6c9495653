// What the page does where scripts run: links open the chapter that they lead into, one button opens or folds them all,
// and the contents show where the reader is. Without it everything can still be opened and read.
"use strict";
(() => {
  const chapters = [...document.querySelectorAll("details.chapter")];
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.matches("details")) one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  const contents = document.getElementById("contents");
  contents.addEventListener("click", event => {
    const link = event.target.closest("a");
    if (!link) return;
    if (contents.matches(":popover-open")) contents.hidePopover();
    if (link.hash === location.hash) reveal();
  });
  const button = document.getElementById("fold");
  const all = () => chapters.every(one => one.open);
  const name = () => { button.textContent = all() ? "Fold all chapters" : "Open all chapters"; };
  button.hidden = chapters.length < 2;
  button.addEventListener("click", () => { const open = !all(); for (const one of chapters) one.open = open; });
  for (const one of chapters) one.addEventListener("toggle", name);
  name();
  const links = new Map([...contents.querySelectorAll("a")].map(link => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver(entries => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.dataset.chapter)?.setAttribute("aria-current", "true");
    }
  }, {rootMargin: "-10% 0px -80% 0px"});
  for (const one of document.querySelectorAll("[data-chapter]")) seen.observe(one);
  reveal();
})();
