"use strict";
// Tries what the form says while it is being moved; the newest answer counts, older ones are dropped.

const explorer = document.querySelector("[data-explore]");
if (explorer) begin(explorer);

function begin(root) {
  const form = root.querySelector("form.controls");
  const found = root.querySelector("[data-found]");
  const spoken = document.querySelector("[data-spoken]");
  const beside = new URLSearchParams(location.search).get("beside") || "";
  let asking = null, timer = 0, rest = 0, watch = 0;

  for (const range of form.querySelectorAll("input[type=range]")) {
    const field = form.elements[range.dataset.for];
    const stops = range.dataset.stops?.split("|");
    range.hidden = false;
    range.addEventListener("input", () => { field.value = stops ? stops[range.value] : range.value; soon(); });
    const tell = () => {
      range.parentElement.classList.toggle("unsaid", !field.value);
      if (stops) range.setAttribute("aria-valuetext", field.value || "–");
    };
    field.addEventListener("input", () => {
      if (stops) range.value = Math.max(0, stops.indexOf(field.value));
      else if (field.value) range.value = field.value;
      tell();
    });
    range.addEventListener("input", tell);
    tell();
  }
  form.addEventListener("input", (event) => { if (event.target.type !== "range") soon(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); attempt(); });

  function soon() {
    clearTimeout(timer);
    clearTimeout(rest);
    clearTimeout(watch);
    timer = setTimeout(attempt, 60);
  }

  async function attempt() {
    asking?.abort();
    asking = new AbortController();
    const mine = asking;
    root.classList.add("busy");
    const waiting = found.querySelector("[data-waiting]");
    if (waiting) waiting.textContent = root.dataset.trying;
    try {
      const said = new URLSearchParams(new FormData(form));
      const answer = await fetch(`${form.action}/try?beside=${beside}`, { method: "POST", body: said, signal: mine.signal });
      if (!form.isConnected || mine.signal.aborted) return;
      const text = await answer.text();
      if (answer.status === 409 && text.includes("data-superseded")) return;
      put(text);
    } catch (error) {
      if (error.name !== "AbortError") spoken.textContent = root.dataset.lost;
    } finally {
      if (asking === mine) root.classList.remove("busy");
    }
  }

  function put(text) {
    const open = found.querySelector(".candidates")?.open;
    found.innerHTML = text;
    if (open) found.querySelector(".candidates").open = true;
    const now = found.querySelector("[data-candidate]");
    if (!now) return;
    const figures = [...now.querySelectorAll(".tiles > div")].slice(0, 2);
    spoken.textContent = figures.map((one) => `${one.querySelector("dt").textContent}: ${one.querySelector("strong").textContent}`).join(". ");
    clearTimeout(rest);
    if (!now.dataset.exact && !now.querySelector("[data-job-of]")) rest = setTimeout(exactly, 1200, now.dataset.candidate);
    follow();
  }

  async function exactly(candidate) {
    const answer = await fetch(`${form.action}/${candidate}/exact`, { method: "POST", redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.ok) refresh(candidate);
  }

  async function refresh(candidate) {
    if (found.querySelector("[data-candidate]")?.dataset.candidate !== candidate) return;
    const answer = await fetch(`${form.action}/part?candidate=${candidate}&beside=${beside}`);
    if (answer.ok && found.querySelector("[data-candidate]")?.dataset.candidate === candidate && !found.contains(document.activeElement)) put(await answer.text());
  }

  function follow() {
    const job = found.querySelector("[data-job-of]");
    const now = found.querySelector("[data-candidate]");
    if (!job || !now) return;
    clearTimeout(watch);
    watch = setTimeout(async () => {
      try {
        const answer = await fetch(job.dataset.jobOf, { headers: { accept: "application/json" } });
        const state = answer.ok ? (await answer.json()).state : "gone";
        if (["queued", "running"].includes(state)) follow();
        else refresh(now.dataset.candidate);
      } catch { follow(); }
    }, 500);
  }

  follow();
  const now = found.querySelector("[data-candidate]");
  if (root.dataset.fresh) attempt();
  else if (now && !now.dataset.exact && !now.querySelector("[data-job-of]")) rest = setTimeout(exactly, 1200, now.dataset.candidate);
}
