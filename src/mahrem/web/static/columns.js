"use strict";
// Says of every column what it adds to singling out and what its cells become, as the form decides now.

const decisions = document.querySelector("form[data-columns]");
if (decisions) watch(decisions);

function watch(form) {
  let asking = null, timer = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 250);
  });
  for (const select of form.querySelectorAll("select[data-role]")) {
    select.addEventListener("change", () => { select.closest(".column").dataset.is = select.value || "undecided"; });
  }
  look();

  async function look() {
    asking?.abort();
    asking = new AbortController();
    const mine = asking;
    try {
      const said = new URLSearchParams(new FormData(form));
      const answer = await fetch(`${form.action}/look`, { method: "POST", body: said, signal: mine.signal });
      if (!answer.ok) return;
      const told = await answer.json();
      for (const card of form.querySelectorAll("[data-column]")) fill(card, told.columns[card.dataset.column]);
    } catch { /* the page says what it knows without it */ }
  }

  function fill(card, told) {
    const live = card.querySelector("[data-live]");
    live.replaceChildren();
    if (!told) return;
    for (const text of [told.adds, told.loss]) {
      if (!text) continue;
      const line = document.createElement("p");
      line.textContent = text;
      live.append(line);
    }
    for (const [before, after] of told.examples || []) {
      const example = document.createElement("span");
      example.className = "example";
      const strong = document.createElement("b");
      strong.textContent = after;
      example.append(`${before} → `, strong);
      live.append(example);
    }
  }
}
