"use strict";
// A hierarchy as a tree one can edit with keys or mouse. The text below it is what is sent.

const place = document.querySelector("[data-tree]");
const form = document.querySelector("[data-tree-form]");
const words = JSON.parse(place.dataset.texts);
const PAGE = 200; // children shown at once
let root = number(JSON.parse(form.elements.tree.value));
let chosen = new Set();
let opened = new Set([root]);
let shownOf = new Map();
let current = root;
const past = [];

const tools = make("div", { className: "tools" });
const asking = make("div", { className: "asking", hidden: true });
const said = make("p", { className: "quiet" });
said.setAttribute("role", "status");
const list = make("ul", { className: "tree" });
list.setAttribute("role", "tree");
list.setAttribute("aria-label", words.tree);
list.setAttribute("aria-multiselectable", "true");
const buttons = Object.fromEntries(
  [["rename", rename], ["group", group], ["move", move], ["dissolve", dissolve], ["undo", undo]].map(([name, act]) => {
    const button = make("button", { type: "button", className: "second", textContent: words[name] });
    button.addEventListener("click", act);
    tools.append(button);
    return [name, button];
  }),
);
place.append(make("p", { className: "quiet", textContent: words.help }), tools, asking, list, said);
draw();

function make(kind, traits) {
  return Object.assign(document.createElement(kind), traits);
}

function number(node, parent = null) {
  const one = { label: node.label, parent, children: null };
  if (node.children && node.children.length) one.children = node.children.map((child) => number(child, one));
  return one;
}

function plain(node) {
  return node.children ? { label: node.label, children: node.children.map(plain) } : { label: node.label };
}

function leaves(node) {
  return node.children ? node.children.reduce((sum, child) => sum + leaves(child), 0) : 1;
}

function draw(focus = false) {
  list.replaceChildren(item(root, 1));
  const active = [...chosen];
  buttons.rename.disabled = current === root || !current.children;
  buttons.group.disabled = active.length === 0;
  buttons.move.disabled = active.length === 0;
  buttons.dissolve.disabled = current === root || !current.children;
  buttons.undo.disabled = past.length === 0;
  const counted = active.length ? words.selected.replace("{number}", active.length) : words.none_selected;
  said.textContent = past.length ? `${counted}. ${words.changed}` : counted;
  if (focus) list.querySelector('[tabindex="0"]')?.focus();
}

function item(node, level) {
  const entry = make("li", {});
  entry.node = node;
  entry.setAttribute("role", "treeitem");
  entry.setAttribute("aria-level", level);
  entry.setAttribute("aria-selected", String(chosen.has(node)));
  entry.tabIndex = node === current ? 0 : -1;
  const open = opened.has(node);
  const line = make("span", { className: "node" });
  const mark = make("span", { className: "mark", textContent: node.children ? (open ? "▾" : "▸") : "·" });
  mark.setAttribute("aria-hidden", "true");
  line.append(mark, make("span", { className: "label", textContent: node === root ? words.everything : node.label }));
  if (node.children) {
    entry.setAttribute("aria-expanded", String(open));
    line.append(make("small", { textContent: words.holds.replace("{number}", leaves(node)) }));
  }
  entry.append(line);
  line.draggable = node !== root;
  if (node.children && open) {
    const inner = make("ul", {});
    inner.setAttribute("role", "group");
    const most = shownOf.get(node) ?? PAGE;
    for (const child of node.children.slice(0, most)) inner.append(item(child, level + 1));
    if (node.children.length > most) {
      const more = make("li", {});
      more.setAttribute("role", "none");
      const button = make("button", { type: "button", className: "plain", tabIndex: -1 });
      button.textContent = words.more.replace("{number}", node.children.length - most);
      button.addEventListener("click", () => { shownOf.set(node, most + PAGE); draw(true); });
      more.append(button);
      inner.append(more);
    }
    entry.append(inner);
  }
  return entry;
}

list.addEventListener("click", (event) => {
  const entry = event.target.closest('[role="treeitem"]');
  if (!entry || event.target.closest("button")) return;
  current = entry.node;
  if (event.target.closest(".mark") && current.children) toggle(current);
  else pick(current);
  draw(true);
});
list.addEventListener("dblclick", () => { if (current.children) rename(); });

list.addEventListener("keydown", (event) => {
  const rows = [...list.querySelectorAll('[role="treeitem"]')];
  const at = rows.findIndex((row) => row.node === current);
  const go = (node) => { if (node) current = node; };
  const acts = {
    ArrowDown: () => go(rows[at + 1]?.node),
    ArrowUp: () => go(rows[at - 1]?.node),
    Home: () => go(rows[0].node),
    End: () => go(rows.at(-1).node),
    ArrowRight: () => {
      if (!current.children) return;
      if (opened.has(current)) go(current.children[0]);
      else opened.add(current);
    },
    ArrowLeft: () => {
      if (current.children && opened.has(current) && current !== root) opened.delete(current);
      else go(current.parent);
    },
    Enter: () => { if (current.children) toggle(current); },
    " ": () => pick(current),
    F2: () => rename(),
  };
  if (event.ctrlKey || event.altKey || event.metaKey) {
    if (event.key === "z" && past.length) { event.preventDefault(); undo(); }
    return;
  }
  if (!(event.key in acts)) return;
  event.preventDefault();
  acts[event.key]();
  if (event.key !== "F2") draw(true);
});

// Dragged onto a group, or onto a value of it, what is selected moves there; so does what was not selected.
let dragged = [];
list.addEventListener("dragstart", (event) => {
  const { node } = event.target.closest('[role="treeitem"]');
  dragged = chosen.has(node) ? [...chosen] : [node];
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", "");
});
list.addEventListener("dragover", (event) => { if (target(event)) event.preventDefault(); });
list.addEventListener("drop", (event) => {
  const group = target(event);
  if (!group) return;
  event.preventDefault();
  change(() => put(dragged, group));
  draw(true);
});

function target(event) {
  const node = event.target.closest('[role="treeitem"]')?.node;
  const group = node?.children ? node : node?.parent;
  return group && !inside(group, dragged) && dragged.some((one) => one.parent !== group) ? group : null;
}

function put(taken, group) {
  for (const node of taken) {
    node.parent.children = node.parent.children.filter((child) => child !== node);
    group.children.push(node);
    node.parent = group;
  }
  opened.add(group);
  current = group;
}

function toggle(node) {
  if (opened.has(node)) opened.delete(node);
  else opened.add(node);
}

function pick(node) {
  if (node === root) return;
  if (chosen.has(node)) chosen.delete(node);
  else chosen.add(node);
}

// Ask for a name or a place; nothing pops up, the question stands above the tree.
function ask(label, field, done) {
  const named = make("label", { textContent: `${label} ` });
  named.append(field);
  const fine = make("button", { type: "button", textContent: words.apply });
  const leave = make("button", { type: "button", className: "second", textContent: words.cancel });
  const end = () => { asking.hidden = true; asking.replaceChildren(); draw(true); };
  const go = () => { if (field.value.trim() === "") return; done(field.value); end(); };
  fine.addEventListener("click", go);
  leave.addEventListener("click", end);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); go(); }
    if (event.key === "Escape") end();
  });
  asking.replaceChildren(named, fine, leave);
  asking.hidden = false;
  field.focus();
  field.select?.();
}

function change(act) {
  past.push(JSON.stringify(plain(root)));
  act();
  tidy(root);
  keep();
}

function tidy(node) {
  if (!node.children) return;
  for (const child of node.children) tidy(child);
  node.children = node.children.filter((child) => child.children === null || child.children.length > 0);
}

function keep() {
  form.elements.tree.value = JSON.stringify(plain(root), null, 1);
  chosen = new Set();
  let kept = current;
  while (kept !== root && !(kept.parent && kept.parent.children.includes(kept))) kept = kept.parent ?? root;
  current = kept;
  list.dispatchEvent(new Event("changed"));
}

function rename() {
  if (current === root || !current.children) return;
  const node = current;
  ask(words.name, make("input", { value: node.label }), (name) => change(() => { node.label = name.trim(); }));
}

function group() {
  const taken = [...chosen];
  const parent = taken[0].parent;
  if (taken.some((node) => node.parent !== parent)) { said.textContent = words.same_level; return; }
  ask(words.name, make("input", { value: words.new_name }), (name) => change(() => {
    const made = { label: name.trim(), parent, children: taken };
    const first = parent.children.indexOf(taken[0]);
    parent.children.splice(first, 0, made);
    parent.children = parent.children.filter((child) => !taken.includes(child));
    for (const node of taken) node.parent = made;
    opened.add(made);
    current = made;
  }));
}

function inside(node, others) {
  for (let above = node; above; above = above.parent) if (others.includes(above)) return true;
  return false;
}

function move() {
  const taken = [...chosen];
  const field = make("select", {});
  const targets = [];
  const walk = (node, depth) => {
    if (!node.children || inside(node, taken)) return;
    field.append(make("option", { value: String(targets.length), textContent: "\u2003".repeat(depth) + (node === root ? words.everything : node.label) }));
    targets.push(node);
    for (const child of node.children) walk(child, depth + 1);
  };
  walk(root, 0);
  ask(words.move_to, field, (value) => change(() => put(taken, targets[Number(value)])));
}

function dissolve() {
  const node = current;
  change(() => {
    const { parent } = node;
    parent.children.splice(parent.children.indexOf(node), 1, ...node.children);
    for (const child of node.children) child.parent = parent;
    current = parent;
  });
  draw(true);
}

function undo() {
  const path = [...opened].map((node) => node.label);
  root = number(JSON.parse(past.pop()));
  opened = new Set([root]);
  const again = (node) => { if (node.children) { if (path.includes(node.label)) opened.add(node); node.children.forEach(again); } };
  again(root);
  shownOf = new Map();
  current = root;
  keep();
  draw(true);
}
