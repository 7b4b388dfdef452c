"use strict";
// Whole numbers as a line with cuts: dragging a cut, or arrow keys on it, moves the end of two ranges.
// What is cut becomes groups of the tree beside it; finer groups go, and Undo brings them back.

const values = wholeNumbers(root);
if (values) beginCuts();

// Codes are no numbers, be they digits: 01234 has a nought in front, 34*** hides its end.
function wholeNumbers(node) {
  const found = [], masked = [];
  const walk = (one) => {
    if (!one.children) { found.push(one); return; }
    if (one.label.includes("*")) masked.push(one);
    one.children.forEach(walk);
  };
  node.children?.forEach(walk);
  const numbers = found.map((one) => Number(one.label));
  const written = numbers.every((one, at) => Number.isSafeInteger(one) && String(one) === found[at].label.trim());
  return found.length > 1 && !masked.length && written ? numbers.sort((a, b) => a - b) : null;
}

// The ends of a range such as [20, 39]; nothing where a group is called otherwise.
function ends(label) {
  const found = /^\[(-?\d+), (-?\d+)\]$/.exec(label);
  return found ? [Number(found[1]), Number(found[2])] : null;
}

function beginCuts() {
  const track = make("div", { className: "cuts" });
  track.setAttribute("role", "group");
  track.setAttribute("aria-label", words.cuts);
  const add = make("button", { type: "button", className: "second small", textContent: words.new_cut });
  const about = make("p", { className: "quiet", textContent: words.cuts_about });
  const box = make("div", { className: "cutting" });
  box.append(make("h3", { textContent: words.cuts }), about, track, add);
  place.before(box);
  const outer = (root.children || []).map((child) => ends(child.label));
  const known = outer.length > 0 && outer.every(Boolean);
  // A group may be called otherwise than what it holds: no value lies outside.
  const low = Math.min(values[0], ...(known ? outer.map(([first]) => first) : []));
  const high = Math.max(values.at(-1), ...(known ? outer.map(([, last]) => last) : []));

  // Where ranges begin, but the first; read off the tree, so that Undo and the tree's own buttons count.
  function cuts() {
    const ranges = root.children.map((child) => ends(child.label));
    return ranges.every(Boolean) ? ranges.map(([first]) => first).sort((a, b) => a - b).slice(1) : [];
  }

  function set(wanted) {
    const begins = [low, ...new Set(wanted)].sort((a, b) => a - b);
    const leaves = [];
    const walk = (one) => { if (one.children) one.children.forEach(walk); else leaves.push(one); };
    walk(root);
    change(() => {
      root.children = begins.map((first, at) => {
        const last = at + 1 < begins.length ? begins[at + 1] - 1 : high;
        const group = { label: `[${first}, ${last}]`, parent: root, children: [] };
        group.children = leaves.filter((leaf) => Number(leaf.label) >= first && Number(leaf.label) <= last);
        for (const leaf of group.children) leaf.parent = group;
        return group;
      });
      current = root;
    });
    draw();
    show();
  }

  function show(focus = -1) {
    const now = cuts();
    track.replaceChildren(...now.map((cut, at) => handle(cut, at, now)));
    if (focus >= 0) track.children[focus]?.focus();
  }

  function share(value) { return (value - low) / Math.max(high + 1 - low, 1); }

  function handle(cut, at, now) {
    const one = make("span", { className: "cut", tabIndex: 0 });
    const least = (at ? now[at - 1] : low) + 1;
    const most = at + 1 < now.length ? now[at + 1] - 1 : high;
    one.setAttribute("role", "slider");
    one.setAttribute("aria-label", words.cut.replace("{number}", at + 1));
    const tell = (value) => {
      one.style.left = `${100 * share(value)}%`;
      one.dataset.value = value;
      one.setAttribute("aria-valuenow", value);
    };
    one.setAttribute("aria-valuemin", least);
    one.setAttribute("aria-valuemax", most);
    tell(cut);
    const go = (value) => {
      const there = Math.max(least, Math.min(most, value));
      if (there === cut) return;
      set(now.map((other, place_) => (place_ === at ? there : other)));
      show(at);
    };
    one.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
      if (event.key in steps) go(cut + steps[event.key]);
      else if (event.key === "Home") go(least);
      else if (event.key === "End") go(most);
      else if (event.key === "Delete" || event.key === "Backspace") { set(now.filter((_, place_) => place_ !== at)); show(0); }
      else return;
      event.preventDefault();
    });
    one.addEventListener("pointerdown", (event) => {
      one.setPointerCapture(event.pointerId);
      const size = track.getBoundingClientRect();
      const value = (moved) => Math.max(least, Math.min(most, Math.round(low + (moved.clientX - size.left) / size.width * (high + 1 - low))));
      one.onpointermove = (moved) => tell(value(moved));
      one.onpointerup = (moved) => { one.onpointermove = null; go(value(moved)); };
    });
    return one;
  }

  add.addEventListener("click", () => {
    const begins = [low, ...cuts()];
    const widths = begins.map((first, at) => (begins[at + 1] ?? high + 1) - first);
    const at = widths.indexOf(Math.max(...widths));
    if (widths[at] < 2) return;
    set([...cuts(), begins[at] + Math.floor(widths[at] / 2)]);
    show(at);
  });
  list.addEventListener("changed", () => show());
  show();
}
