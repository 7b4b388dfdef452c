"use strict";
// The picture of the lattice: arrows go from node to node, + and - come nearer, dragging moves it.

for (const figure of document.querySelectorAll("[data-lattice]")) begin(figure);

function begin(figure) {
  const svg = figure.querySelector("svg");
  const nodes = new Map([...svg.querySelectorAll("[data-levels]")].map((one) => [one.dataset.levels, one]));
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  const levels = (one) => one.dataset.levels.split(",").map(Number);
  let seen = [...whole];
  let current = svg.querySelector("[aria-current]") || nodes.values().next().value;
  for (const one of nodes.values()) one.tabIndex = -1;
  current.tabIndex = 0;
  figure.querySelector(".tools").hidden = false;

  function show() { svg.setAttribute("viewBox", seen.join(" ")); }

  function middle(one) {
    const circle = one.querySelector("circle");
    return [Number(circle.getAttribute("cx")), Number(circle.getAttribute("cy"))];
  }

  function zoom(by, [x, y] = middle(current)) {
    if (!by) seen = [...whole];
    else {
      const wide = Math.min(whole[2], Math.max(160, seen[2] / by));
      const high = wide * whole[3] / whole[2];
      seen = [hold(x - wide / 2, whole[2] - wide), hold(y - high / 2, whole[3] - high), wide, high];
    }
    show();
  }

  function hold(value, most) { return Math.max(0, Math.min(value, most)); }

  function go(one) {
    if (!one) return;
    current.tabIndex = -1;
    current = one;
    current.tabIndex = 0;
    current.focus();
    const [x, y] = middle(current);
    if (x < seen[0] || x > seen[0] + seen[2] || y < seen[1] || y > seen[1] + seen[3]) zoom(1, [x, y]);
  }

  // Up and down change the height by one step, left and right stay on it.
  function step(by) {
    const here = levels(current);
    for (let column = 0; column < here.length; column += 1) {
      const there = nodes.get(here.map((level, at) => (at === column ? level + by : level)).join(","));
      if (there) return there;
    }
    return null;
  }

  function along(by) {
    const [, y] = middle(current);
    const row = [...nodes.values()].filter((one) => middle(one)[1] === y).sort((a, b) => middle(a)[0] - middle(b)[0]);
    return row[row.indexOf(current) + by];
  }

  svg.addEventListener("keydown", (event) => {
    const acts = {
      ArrowUp: () => go(step(1)),
      ArrowDown: () => go(step(-1)),
      ArrowLeft: () => go(along(-1)),
      ArrowRight: () => go(along(1)),
      "+": () => zoom(1.5),
      "-": () => zoom(1 / 1.5),
      0: () => zoom(0),
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  });
  for (const button of figure.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
  }

  let from = null, moved = false;
  svg.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY, seen[0], seen[1]]; moved = false; });
  svg.addEventListener("pointermove", (event) => {
    if (!from || seen[2] >= whole[2]) return;
    const scale = seen[2] / svg.clientWidth;
    if (Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 4) moved = true;
    if (!moved) return;
    seen[0] = hold(from[2] - (event.clientX - from[0]) * scale, whole[2] - seen[2]);
    seen[1] = hold(from[3] - (event.clientY - from[1]) * scale, whole[3] - seen[3]);
    show();
  });
  addEventListener("pointerup", () => { from = null; });
  svg.addEventListener("click", (event) => { if (moved && event.detail) event.preventDefault(); }); // Enter has no detail
  svg.addEventListener("dragstart", (event) => event.preventDefault());
}
