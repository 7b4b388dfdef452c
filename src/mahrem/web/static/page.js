"use strict";
// Follows jobs, says what is being sent, shows a chosen point; every page also works without it.

for (const shown of document.querySelectorAll("[data-job]")) {
  if (["queued", "running"].includes(shown.dataset.state)) follow(shown);
}

// Listens to events of the job; where that does not work it asks now and then.
function follow(shown) {
  const events = new EventSource(`${shown.dataset.job}/events`);
  events.onmessage = (event) => { if (tell(shown, JSON.parse(event.data))) events.close(); };
  events.onerror = () => { events.close(); ask(shown); };
  addEventListener("pagehide", () => events.close(), { once: true });
}

async function ask(shown) {
  try {
    const answer = await fetch(shown.dataset.job, { headers: { accept: "application/json" } });
    if (tell(shown, answer.ok ? await answer.json() : { state: "gone" })) return;
  } catch {
    shown.querySelector("[data-stage]").textContent = shown.dataset.lost;
  }
  setTimeout(ask, 600, shown);
}

function tell(shown, job) {
  if (!["queued", "running"].includes(job.state)) {
    const next = new URL(job.state === "done" ? shown.dataset.next : "", location);
    const here = next.pathname + next.search === location.pathname + location.search;
    if (here) history.replaceState(null, "", next);  // to a place within a page one goes without loading it anew
    if (here) location.reload();
    else location.assign(next);
    return true;
  }
  const stage = shown.querySelector("[data-stage]");
  if (stage.textContent !== job.stage) {
    stage.textContent = job.stage;
    shown.querySelector("[data-spoken]").textContent = job.stage;
  }
  shown.querySelector("[data-seconds]").textContent = job.seconds;
  shown.querySelector("[data-left]").textContent = job.left;
  const bar = shown.querySelector("progress");
  if (job.share === null) bar.removeAttribute("value");
  else bar.value = job.share;
  return false;
}

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!confirm(form.dataset.confirm)) event.preventDefault();
  });
}

for (const form of document.querySelectorAll("form[data-upload]")) {
  form.addEventListener("submit", (event) => {
    const said = form.querySelector("[data-said]");
    const file = form.elements.file.files[0];
    if (file && file.size > Number(form.dataset.max)) {
      event.preventDefault();
      said.textContent = form.dataset.tooLarge;
      said.className = "message bad";
      return;
    }
    const bar = document.createElement("progress");
    said.replaceChildren(form.dataset.sending, bar);
    bar.setAttribute("aria-label", form.dataset.sending);
    form.querySelector("button").disabled = true;
  });
}

// A point of the picture: its run is shown below with its own button, and so are runs it covers.
const picked = document.querySelector("[data-picked]");
const spots = [...document.querySelectorAll("[data-point]")];
const middle = (spot) => ["cx", "cy"].map((name) => Number(spot.querySelector(".dot").getAttribute(name)));
for (const spot of spots) {
  spot.addEventListener("click", (event) => {
    event.preventDefault();
    for (const other of spots) other.removeAttribute("aria-current");
    spot.setAttribute("aria-current", "true");
    const [x, y] = middle(spot);
    const covered = spots.filter((other) => {
      const [across, down] = middle(other);
      return other !== spot && Math.hypot(across - x, down - y) < 6;
    });
    picked.replaceChildren(...[spot, ...covered].map(offer));
    picked.querySelector("button")?.focus();
  });
}

function offer(spot) {
  const row = document.createElement("div");
  row.className = "row";
  const words = document.createElement("p");
  words.textContent = spot.getAttribute("aria-label");
  const cell = document.querySelector(`#run-${spot.dataset.point} td:last-child`);
  row.append(words, cell.firstElementChild.cloneNode(true));
  return row;
}

// A chosen text file fills a field; it is sent as text.
for (const chooser of document.querySelectorAll("input[type=file][data-into]")) {
  chooser.addEventListener("change", async () => {
    const file = chooser.files[0];
    if (file) document.getElementById(chooser.dataset.into).value = await file.text();
  });
}
