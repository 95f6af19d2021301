/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The report page (src/export/html.c writes it, with the data in one block of
 * JSON).  No library, no network: everything it shows is in the page.  Foreign
 * texts only ever become text nodes.
 *
 *   data.measures   [{key, title, unit, total: [bytes, blocks]}]
 *   data.timeline   [[from_ns, live_bytes, rss_bytes, allocations]]
 *   data.frames     [[function, file, line, module, own, brief name]]
 *   data.nodes      [[parent, frame]], node 0 above all; parents come first
 *   data.sites      [[node, [bytes, blocks] of each measure ...]]
 *   data.functions  [[frame, [self, all] of each measure ...]]
 */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const state = { measure: 0, list: "sites", search: "", root: 0, sort: { key: "weight", down: true }, shown: 100 };

const $ = (id) => document.getElementById(id);

function make(name, attributes, ...children) {
  const svg = ["svg", "path", "line", "text", "g", "rect"].includes(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

/* ---------------------------------------------------------------------- units */

function bytes(n) {
  if (n < 1024) return n + " B";
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = -1;
  do { n /= 1024; i++; } while (n >= 1023.95 && i < units.length - 1);
  return n.toFixed(1) + " " + units[i];
}
const count = (n) => n.toLocaleString("en-US");
function time(ns) {
  if (ns < 1e3) return ns + " ns";
  if (ns < 1e6) return (ns / 1e3).toPrecision(3) + " µs";
  if (ns < 1e9) return (ns / 1e6).toPrecision(3) + " ms";
  if (ns < 60e9) return (ns / 1e9).toPrecision(3) + " s";
  const minutes = Math.floor(ns / 60e9);
  return minutes < 60 ? minutes + " min " + Math.floor((ns % 60e9) / 1e9) + " s"
    : Math.floor(minutes / 60) + " h " + (minutes % 60) + " min";
}
const byBlocks = (m) => data.measures[m].unit === "blocks";
const amount = (m, n) => (byBlocks(m) ? count(n) : bytes(n));
const total = (m) => data.measures[m].total[byBlocks(m) ? 1 : 0];
const weight = (m, pair) => pair[byBlocks(m) ? 1 : 0];
const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(1) : "0.0") + " %";

const base = (path) => path.slice(path.lastIndexOf("/") + 1);
function place(f) {
  return f[1] ? base(f[1]) + (f[2] ? ":" + f[2] : "") : base(f[3]);
}

/* A few lines up to the highest value, round in their unit. */
function lines(highest) {
  const least = Math.max(1, highest / 4), unit = 1024 ** Math.floor(Math.log2(least) / 10);
  const step = unit * [1, 2, 5, 10, 20, 50, 100, 256, 512, 1024].find((n) => n * unit >= least);
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, i) => i * step);
}

/* ------------------------------------------------------------------- timeline */

function drawTimeline() {
  const t = data.timeline, wide = 1000, high = 210, left = 64, bottom = 22, top = 10;
  if (t.length < 2) { $("timeline").hidden = true; return; }
  const first = t[0][0], last = data.end, levels = lines(Math.max(1, ...t.map((x) => Math.max(x[1], x[2]))));
  const highest = levels[levels.length - 1];
  const x = (ns) => left + (wide - left - 8) * (ns - first) / (last - first || 1);
  const y = (n) => high - bottom - (high - bottom - top) * n / highest;
  const svg = make("svg", { viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img",
    "aria-label": "Heap and resident set over time" });
  for (const n of levels) {
    svg.append(make("line", { class: "grid", x1: left, x2: wide - 8, y1: y(n), y2: y(n) }),
      make("text", { x: left - 8, y: y(n) + 4, "text-anchor": "end" }, bytes(Math.round(n)).replace(".0 ", " ")));
  }
  for (let i = 0; i <= 5; i++) {
    const ns = first + (last - first) * i / 5;
    svg.append(make("text", { x: x(ns), y: high - 5, "text-anchor": i === 0 ? "start" : i === 5 ? "end" : "middle" },
      time(Math.round(ns))));
  }
  let heap = `M${x(first)},${y(0)}`, rss = "", latest = 0;
  t.forEach((p, i) => {
    const next = i + 1 < t.length ? t[i + 1][0] : last;
    heap += `L${x(p[0])},${y(p[1])}L${x(next)},${y(p[1])}`;
    if (p[2]) {
      rss += (rss ? "L" : `M${x(first)},${y(p[2])}L`) + `${x((p[0] + next) / 2)},${y(p[2])}`;
      latest = p[2];
    }
  });
  if (rss) rss += `L${x(last)},${y(latest)}`;
  svg.append(make("path", { class: "heap", d: heap + `L${x(last)},${y(0)}Z`, "vector-effect": "non-scaling-stroke" }));
  if (rss) svg.append(make("path", { class: "rss", d: rss, "vector-effect": "non-scaling-stroke" }));
  const peak = make("line", { class: "peak", x1: x(data.peak), x2: x(data.peak), y1: top, y2: high - bottom });
  const cursor = make("line", { class: "cursor", y1: top, y2: high - bottom, visibility: "hidden" });
  svg.append(peak, cursor);
  svg.addEventListener("mousemove", (e) => {
    const box = svg.getBoundingClientRect(), at = (e.clientX - box.left) / box.width * wide;
    const ns = first + (at - left) / (wide - left - 8) * (last - first);
    let i = t.findIndex((p, k) => k + 1 === t.length || t[k + 1][0] > ns);
    if (ns < first || ns > last) return;
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, at);
    cursor.setAttribute("visibility", "visible");
    $("moment").textContent = `at ${time(Math.round(ns))}: heap ${bytes(t[i][1])}` +
      (t[i][2] ? `, resident ${bytes(t[i][2])}` : "") + `, ${count(t[i][3])} allocations in this stretch`;
  });
  svg.addEventListener("mouseleave", () => {
    cursor.setAttribute("visibility", "hidden");
    $("moment").textContent = `the peak is at ${time(data.peak)}`;
  });
  $("moment").textContent = `the peak is at ${time(data.peak)}`;
  $("plot").append(svg);
}

/* ---------------------------------------------------------------- flame graph */

const ROW = 19;
let tree = null, boxes = [];

/* The nodes with calls from several lines of a function as one: of[node] is where it went. */
const merged = (() => {
  const of = [0], nodes = [[0, 0]], known = new Map();
  for (let i = 1; i < data.nodes.length; i++) {
    const parent = of[data.nodes[i][0]], f = data.frames[data.nodes[i][1]];
    const key = JSON.stringify([parent, f[0], f[3]]);
    if (!known.has(key)) known.set(key, nodes.push([parent, data.nodes[i][1]]) - 1);
    of.push(known.get(key));
  }
  return { of, nodes };
})();

/* What nodes and all below them have of the measure.  Node 0 has what is not in the page too, so that boxes are as wide as their share. */
function buildTree() {
  const values = new Array(merged.nodes.length).fill(0), children = merged.nodes.map(() => []);
  for (const s of data.sites) values[merged.of[s[0]]] += weight(state.measure, s[1][state.measure]);
  for (let i = merged.nodes.length - 1; i > 0; i--) {
    values[merged.nodes[i][0]] += values[i];
    if (values[i]) children[merged.nodes[i][0]].push(i);
  }
  for (const list of children) list.sort((a, b) => values[b] - values[a] || a - b);
  const missing = Math.max(0, total(state.measure) - values[0]);
  values[0] += missing;
  tree = { values, children, missing };
}

function nodeName(i) {
  return i === 0 ? "all" : data.frames[merged.nodes[i][1]][0];
}
function matches(frame) {
  const f = data.frames[frame], s = state.search;
  return s !== "" && (f[0].toLowerCase().includes(s) || f[1].toLowerCase().includes(s) || f[3].toLowerCase().includes(s));
}

/* Callers of the root stand above it, whole; below it everything that is a pixel wide. */
function layout(width) {
  boxes = [];
  const above = [];
  for (let i = state.root; i !== 0; i = merged.nodes[i][0]) above.push(merged.nodes[i][0]);
  above.reverse().forEach((node, depth) => boxes.push({ node, x: 0, w: width, depth, above: true }));
  const pending = [{ node: state.root, x: 0, w: width, depth: above.length }];
  while (pending.length) {
    const box = pending.pop();
    boxes.push(box);
    let x = box.x;
    for (const child of tree.children[box.node]) {
      const w = box.w * tree.values[child] / tree.values[box.node];
      if (w < 0.6) break;
      pending.push({ node: child, x, w, depth: box.depth + 1 });
      x += w;
    }
  }
}

function tone(i, style) {
  if (i === 0) return style.getPropertyValue("--line");
  const f = data.frames[merged.nodes[i][1]];
  if (matches(merged.nodes[i][1])) return style.getPropertyValue("--match");
  return style.getPropertyValue(f[4] ? "--own" : "--library");
}

function drawFlame() {
  const canvas = $("flame"), style = getComputedStyle(document.documentElement);
  const width = canvas.parentElement.clientWidth, ratio = window.devicePixelRatio || 1;
  layout(width);
  const rows = 1 + boxes.reduce((most, b) => Math.max(most, b.depth), 0), height = Math.min(rows * ROW, 16000);
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.height = height + "px";
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  c.font = "11.5px system-ui, sans-serif";
  c.textBaseline = "middle";
  for (const b of boxes) {
    const y = b.depth * ROW;
    c.globalAlpha = b.above ? 0.55 : 1;
    c.fillStyle = tone(b.node, style);
    c.fillRect(b.x, y, Math.max(0.5, b.w - 0.8), ROW - 1.5);
    if (b.w < 34) continue;
    c.fillStyle = style.getPropertyValue(b.node !== 0 && matches(merged.nodes[b.node][1]) ? "--card" : "--ink");
    let text = b.node === 0 ? `all: ${amount(state.measure, tree.values[0])}` : data.frames[merged.nodes[b.node][1]][5];
    const room = Math.floor((b.w - 8) / 6.1);
    if (text.length > room) text = text.slice(0, Math.max(0, room - 1)) + "…";
    c.fillText(text, b.x + 5, y + ROW / 2 - 0.5, b.w - 8);
  }
  const part = data.sites.reduce((sum, s) => sum + (touches(s) ? weight(state.measure, s[1][state.measure]) : 0), 0);
  $("found").textContent = state.search === "" ? "" : `${percent(part, total(state.measure))} matches`;
  $("out").hidden = state.root === 0;
  if (tree.values[0] === 0) $("hint").textContent = "There is nothing of this measure.";
  else $("hint").textContent = "Each box is a function, as wide as what was allocated below it. A click zooms." +
    (tree.missing && state.root === 0 ? ` The blank is what is not in this page: ${amount(state.measure, tree.missing)}.` : "");
}

function touches(site) {
  for (let i = site[0]; i !== 0; i = data.nodes[i][0]) if (matches(data.nodes[i][1])) return true;
  return false;
}

function boxAt(e) {
  const area = $("flame").getBoundingClientRect();
  const x = e.clientX - area.left, row = Math.floor((e.clientY - area.top) / ROW);
  return boxes.find((b) => b.depth === row && x >= b.x && x < b.x + b.w);
}

function wireFlame() {
  $("flame").addEventListener("click", (e) => {
    const b = boxAt(e);
    if (b) { state.root = b.node; drawFlame(); }
  });
  $("flame").addEventListener("mousemove", (e) => {
    const b = boxAt(e);
    if (!b) return;
    const v = tree.values[b.node], f = b.node === 0 ? null : data.frames[merged.nodes[b.node][1]];
    $("hint").textContent = `${amount(state.measure, v)} (${percent(v, total(state.measure))})  ${nodeName(b.node)}` +
      (f ? `  ${place(f)}` : "");
  });
  $("flame").addEventListener("mouseleave", drawFlame);
  $("out").addEventListener("click", () => { state.root = 0; drawFlame(); });
  let waiting = 0;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawFlame, 100); });
}

/* --------------------------------------------------------------------- tables */

function stackOf(node) {
  const list = [];
  for (let i = node; i !== 0; i = data.nodes[i][0]) list.push(data.frames[data.nodes[i][1]]);
  return list;
}

/* A site is known by the first frame of its stack that is the program's own. */
function siteRows() {
  const m = state.measure;
  return data.sites.map((s) => {
    const stack = stackOf(s[0]), own = stack.find((f) => f[4]) || stack[0];
    const [b, n] = s[1][m];
    const callers = stack.slice(stack.indexOf(own) + 1).filter((f) => f[4]).slice(0, 4).map((f) => "< " + f[5]);
    return { frame: own, stack, callers: callers.join(" "), name: own ? own[5] : "[no stack]", weight: weight(m, [b, n]),
      cells: [bytes(b), count(n)], keys: [b, n], show: stack.some(frameMatches) };
  }).filter((r) => r.weight > 0);
}
function functionRows() {
  const m = state.measure;
  return data.functions.map((f) => {
    const frame = data.frames[f[0]], [self, all] = f[1][m];
    return { frame, name: frame[5], weight: self, cells: [amount(m, self), amount(m, all)], keys: [self, all],
      show: frameMatches(frame) };
  }).filter((r) => r.keys[1] > 0);
}
function frameMatches(f) {
  const s = state.search;
  return s === "" || f[0].toLowerCase().includes(s) || f[1].toLowerCase().includes(s) || f[3].toLowerCase().includes(s);
}

/* Adds text with what is searched for marked. */
function addMarked(to, text) {
  const at = state.search === "" ? -1 : text.toLowerCase().indexOf(state.search);
  if (at < 0) { to.append(text); return to; }
  to.append(text.slice(0, at), make("mark", {}, text.slice(at, at + state.search.length)), text.slice(at + state.search.length));
  return to;
}

function headOf(columns) {
  const row = make("tr");
  for (const [key, title, kind] of columns) {
    const arrow = state.sort.key === key ? (state.sort.down ? " ▾" : " ▴") : "";
    const button = make("button", { type: "button" }, title + arrow);
    button.addEventListener("click", () => {
      state.sort = { key, down: state.sort.key === key ? !state.sort.down : key !== "name" };
      drawTable();
    });
    row.append(make("th", { class: kind, scope: "col",
      "aria-sort": arrow === "" ? "none" : state.sort.down ? "descending" : "ascending" }, button));
  }
  return make("thead", {}, row);
}

function sortRows(rows) {
  const { key, down } = state.sort, sign = down ? -1 : 1;
  const value = { weight: (r) => r.weight, first: (r) => r.keys[0], second: (r) => r.keys[1] }[key];
  rows.sort((a, b) => (value ? sign * (value(a) - value(b)) : 0) ||
    (key === "name" ? 0 : b.keys[1] - a.keys[1]) || (key === "name" ? sign : 1) * a.name.localeCompare(b.name));
}

function rowOf(r, whole, columns) {
  const name = make("td", { class: "name", title: r.frame ? r.frame[0] : "" });
  addMarked(name, r.name || place(r.frame));
  if (r.frame) name.append(" ", addMarked(make("span", { class: "where" }), place(r.frame)));
  if (r.callers) name.append(addMarked(make("div", { class: "where" }), r.callers));
  const meter = make("i");
  meter.style.width = Math.min(100, whole ? 100 * r.weight / whole : 0) + "%";
  const row = make("tr", { class: "row" }, name,
    make("td", {}, make("span", { class: "meter" }, meter), make("span", { class: "percent" }, percent(r.weight, whole))),
    make("td", {}, r.cells[0]), make("td", {}, r.cells[1]));
  if (!r.stack) return row;
  row.tabIndex = 0;
  const toggle = () => {
    if (row.nextSibling && row.nextSibling.classList.contains("open")) { row.nextSibling.remove(); return; }
    const list = make("ol");
    for (const f of r.stack)
      list.append(addMarked(make("li", { class: f[4] ? "own" : "library" }), `${f[0] || "?"}  ${place(f)}`));
    row.after(make("tr", { class: "open" }, make("td", { class: "stack", colspan: columns }, list)));
  };
  row.addEventListener("click", toggle);
  row.addEventListener("keydown", (e) => { if (e.key === "Enter") toggle(); });
  return row;
}

function drawTable() {
  const sites = state.list === "sites", whole = total(state.measure);
  const columns = sites
    ? [["name", "Site", "name"], ["weight", "Share", "share"], ["first", "Bytes", "number"], ["second", "Blocks", "number"]]
    : [["name", "Function", "name"], ["weight", "Share of self", "share"], ["first", "Self", "number"], ["second", "With callees", "number"]];
  const all = (sites ? siteRows() : functionRows()).filter((r) => r.show);
  sortRows(all);
  const body = make("tbody", {}, ...all.slice(0, state.shown).map((r) => rowOf(r, whole, columns.length)));
  $("table").replaceChildren(headOf(columns), body);
  $("more").hidden = all.length <= state.shown;
  $("more").textContent = `Show more of ${count(all.length)}`;
  const left = sites ? data.sites_left_out : data.functions_left_out;
  $("left").textContent = left ? `${count(left)} smaller ones are not in this page.` : "";
}

/* ----------------------------------------------------------------- everything */

/* The address names the view, so that a link shows it: #measure=leaks&list=functions&search=parse */
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  state.measure = Math.max(0, data.measures.findIndex((m) => m.key === asked.get("measure")));
  state.list = asked.get("list") === "functions" ? "functions" : "sites";
  $("search").value = asked.get("search") || "";
  state.search = $("search").value.trim().toLowerCase();
}
function writeAddress() {
  const view = new URLSearchParams({ measure: data.measures[state.measure].key, list: state.list });
  if (state.search) view.set("search", state.search);
  history.replaceState(null, "", "#" + view);
}

function draw() {
  document.querySelectorAll("#measures button").forEach((b, i) => b.setAttribute("aria-pressed", i === state.measure));
  for (const name of ["sites", "functions"]) $(name).setAttribute("aria-pressed", state.list === name);
  writeAddress();
  $("what").textContent = `${data.measures[state.measure].title}: ${amount(state.measure, total(state.measure))}`;
  drawFlame();
  drawTable();
}

function begin() {
  data.measures.forEach((m, i) => {
    const button = make("button", { type: "button" }, m.title);
    button.addEventListener("click", () => { state.measure = i; state.root = 0; buildTree(); draw(); });
    $("measures").append(button);
  });
  for (const name of ["sites", "functions"])
    $(name).addEventListener("click", () => { state.list = name; state.shown = 100; draw(); });
  $("more").addEventListener("click", () => { state.shown += 400; drawTable(); });
  let waiting = 0;
  $("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { state.search = $("search").value.trim().toLowerCase(); draw(); }, 120);
  });
  readAddress();
  drawTimeline();
  buildTree();
  wireFlame();
  draw();
}

begin();
