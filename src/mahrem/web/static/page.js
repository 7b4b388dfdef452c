"use strict";
// Follows jobs while a page is open; everything else works without it.
for (const shown of document.querySelectorAll("[data-job]")) {
  if (shown.dataset.state === "queued" || shown.dataset.state === "running") follow(shown);
}

async function follow(shown) {
  try {
    const answer = await fetch(shown.dataset.job, { headers: { accept: "application/json" } });
    const job = await answer.json();
    if (!answer.ok || !["queued", "running"].includes(job.state)) return location.reload();
    shown.querySelector("[data-stage]").textContent = job.stage;
    shown.querySelector("[data-seconds]").textContent = (job.seconds ?? 0).toFixed(1);
  } catch {
    shown.querySelector("[data-stage]").textContent = "the server does not answer";
  }
  setTimeout(follow, 700, shown);
}

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!confirm(form.dataset.confirm)) event.preventDefault();
  });
}

for (const form of document.querySelectorAll("form[data-upload]")) {
  form.addEventListener("submit", (event) => {
    const file = form.elements.file.files[0];
    if (file && file.size > Number(form.dataset.max)) {
      event.preventDefault();
      alert("This file is larger than the server takes.");
    }
  });
}
