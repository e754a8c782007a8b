// Without this every square is a link to its check. With it the check is shown beside the square.
"use strict";
(() => {
  const panel = document.getElementById("panel");
  const cells = [...document.querySelectorAll(".cell")];
  let shown = null;

  const target = (cell) => document.getElementById(cell.hash.slice(1));
  const element = (name, text, className) => {
    const made = document.createElement(name);
    made.textContent = text;
    made.className = className || "";
    return made;
  };

  function fill(cell) {
    const check = target(cell);
    const copy = check.cloneNode(true);
    const group = check.closest(".group");
    const go = element("p", "", "go");
    const link = element("a", "Show it in the list");
    const close = element("button", "Close");
    link.href = cell.hash;
    link.addEventListener("click", () => reveal(check));
    close.type = "button";
    close.addEventListener("click", hide);
    go.append(link, close);
    const host = (check.closest(".one") || document).querySelector("h1, h2");
    panel.replaceChildren(element("p", host.textContent, "host"), ...copy.childNodes);
    if (group) panel.append(element("p", group.querySelector(".reason").textContent, "cause"));
    panel.append(go);
  }

  function place(cell) {
    const at = cell.getBoundingClientRect();
    const width = panel.offsetWidth;
    const height = panel.offsetHeight;
    const left = Math.min(Math.max(12, at.left - 24), innerWidth - width - 12);
    const below = at.bottom + 10 + height < innerHeight;
    panel.style.left = `${left}px`;
    panel.style.top = `${below ? at.bottom + 10 : Math.max(12, at.top - 10 - height)}px`;
  }

  function show(cell, pinned) {
    if (shown) shown.classList.remove("open");
    fill(cell);
    shown = cell;
    cell.classList.add("open");
    panel.classList.toggle("pinned", pinned);
    panel.hidden = false;
    place(cell);
  }

  function hide() {
    if (!shown) return;
    const cell = shown;
    const inside = panel.contains(document.activeElement);
    cell.classList.remove("open");
    shown = null;
    panel.hidden = true;
    if (inside) cell.focus({ preventScroll: true });
  }

  const pinned = () => shown && panel.classList.contains("pinned");

  // Opens what it lies in: not every browser does so for a fragment.
  function reveal(check) {
    for (let outer = check.parentElement; outer; outer = outer.parentElement) {
      if (outer.tagName === "DETAILS") outer.open = true;
    }
    hide();
  }

  // One tab stop for all squares, and the arrows between them.
  function step(from, key) {
    const at = from.getBoundingClientRect();
    const x = (box) => (box.left + box.right) / 2;
    const y = (box) => (box.top + box.bottom) / 2;
    let best = null;
    let least = Infinity;
    for (const cell of cells) {
      const box = cell.getBoundingClientRect();
      if (cell === from || !box.width || getComputedStyle(cell).visibility === "hidden") continue;
      const across = x(box) - x(at);
      const down = y(box) - y(at);
      const along = { ArrowLeft: -across, ArrowRight: across, ArrowUp: -down, ArrowDown: down }[key];
      const aside = Math.abs(key === "ArrowLeft" || key === "ArrowRight" ? down : across);
      const distance = along + 4 * aside;
      if (along > 2 && distance < least) [best, least] = [cell, distance];
    }
    return best;
  }

  function stop(cell) {
    for (const other of cells) other.tabIndex = other === cell ? 0 : -1;
  }

  document.addEventListener("mouseover", (event) => {
    const cell = event.target.closest(".cell");
    if (pinned()) return;
    if (cell && matchMedia("(hover: hover)").matches) show(cell, false);
    else if (!event.target.closest(".panel")) hide();
  });
  document.addEventListener("focusin", (event) => {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    stop(cell);
    if (cell.matches(":focus-visible")) show(cell, pinned());
  });
  document.addEventListener("focusout", (event) => {
    if (!pinned() && !panel.contains(event.relatedTarget)) hide();
  });
  document.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell");
    if (cell && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      if (pinned() && shown === cell) hide();
      else show(cell, true);
    } else if (pinned() && !panel.contains(event.target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const cell = event.target.closest(".cell");
    if (!cell || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const next = step(cell, event.key);
    if (next) next.focus();
  });
  addEventListener("resize", hide);
  addEventListener("scroll", () => shown && place(shown), { passive: true, capture: true });
  const go = () => {
    const check = location.hash && document.getElementById(location.hash.slice(1));
    if (!check) return;
    if (check.matches("section.one")) check.firstElementChild.open = true;
    reveal(check);
    check.scrollIntoView();
  };
  addEventListener("hashchange", go);
  go();
  if (cells.length) stop(cells[0]);
})();
