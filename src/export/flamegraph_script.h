/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * flamegraph_script: what makes the picture of flamegraph.c move: zoom and
 * search.  Lines of JavaScript, for a CDATA section.
 *
 * A box is a <g class="box"> with where it begins (data-from), how much it has
 * (data-value) and its depth (data-depth), in the unit of the measure: exact
 * numbers, so that "lies within" is a plain comparison; and where the name in its title is
 * long, a shorter one to show (data-brief).  Texts of the program are read
 * and set as text, never as markup.
 */
#ifndef HW_EXPORT_FLAMEGRAPH_SCRIPT_H
#define HW_EXPORT_FLAMEGRAPH_SCRIPT_H

static const char *const flamegraph_script[] = {
    "'use strict';",
    "const WIDTH = 1200, LETTER = 6.7;",
    "const root = document.getElementById('heapwake');",
    "const found = document.getElementById('found');",
    "const search = document.getElementById('search');",
    "const total = Number(root.dataset.total);",
    "const boxes = Array.from(root.getElementsByTagName('g'), function (g) {",
    "  const part = function (name) { return g.getElementsByTagName(name)[0]; };",
    "  const name = part('title').textContent.split('\\n')[0];",
    "  return {g: g, rect: part('rect'), text: part('text'), name: name, label: g.dataset.brief || name,",
    "    from: Number(g.dataset.from), value: Number(g.dataset.value), depth: Number(g.dataset.depth)};",
    "});",
    "",
    "function place(box, x, width) {",
    "  const letters = Math.floor((width - 6) / LETTER);",
    "  box.rect.setAttribute('x', x);",
    "  box.rect.setAttribute('width', Math.max(width - 0.5, 0.1));",
    "  box.text.setAttribute('x', x + 3);",
    "  const cut = box.label.length > letters ? box.label.slice(0, letters - 1) + '\\u2026' : box.label;",
    "  box.text.textContent = letters < 3 ? '' : cut;",
    "}",
    "",
    "/* Shows what lies within a box in full width, and the boxes that it lies in. */",
    "function zoom(to) {",
    "  const from = to ? to.from : 0, value = to ? to.value : total, depth = to ? to.depth : 0;",
    "  for (const box of boxes) {",
    "    const end = box.from + box.value;",
    "    const inside = box.from >= from && end <= from + value && box.depth >= depth;",
    "    const around = box.from <= from && end >= from + value && box.depth < depth;",
    "    box.g.style.display = inside || around ? '' : 'none';",
    "    box.g.style.opacity = around ? '0.5' : '';",
    "    if (around) place(box, 0, WIDTH);",
    "    else if (inside) place(box, (box.from - from) / value * WIDTH, box.value / value * WIDTH);",
    "  }",
    "}",
    "",
    "/* Marks boxes whose name has the words; the share counts what is below a match once. */",
    "function mark(words) {",
    "  let sum = 0, end = -1;",
    "  const wanted = words.toLowerCase();",
    "  const hits = [];",
    "  for (const box of boxes) {",
    "    const hit = wanted !== '' && box.name.toLowerCase().includes(wanted);",
    "    box.g.classList.toggle('hit', hit);",
    "    if (hit) hits.push(box);",
    "  }",
    "  hits.sort(function (a, b) { return a.from - b.from || a.depth - b.depth; });",
    "  for (const box of hits) {",
    "    if (box.from >= end) {",
    "      sum += box.value;",
    "      end = box.from + box.value;",
    "    }",
    "  }",
    "  found.textContent = wanted === '' ? '' : (total ? 100 * sum / total : 0).toFixed(2) + ' % has it';",
    "}",
    "",
    "for (const box of boxes) box.g.addEventListener('click', function () { zoom(box); });",
    "document.getElementById('reset').addEventListener('click', function () { zoom(null); });",
    "document.addEventListener('keydown', function (e) { if (e.key === 'Escape') zoom(null); });",
    "search.addEventListener('input', function () { mark(search.value); });",
};

#endif
