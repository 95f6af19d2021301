#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the inputs of the real programs: the same bytes on every machine.

make_inputs.py FOLDER [SCALE] leaves there

  big.c     a large C file for cc1: records, tables, loops, switches, strings
  mix.sql   a script for sqlite3 that fills, indexes, joins, updates and deletes
  mix.cc    a C++ file for clang: iostream, map, regex, variant, templates
  sites.cc  a C++ program that allocates in 100,000 places, half of them inlined; it is compiled in
            parts, -DPART=0 to 19, of which 0 has main
"""
import os
import sys


class Dice:
    """A generator of its own: that of Python may change between versions."""

    def __init__(self, seed):
        self.state = seed

    def roll(self, sides):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % sides


TYPES = ["int", "unsigned", "long", "short", "unsigned char", "double", "unsigned long long"]
OPERATORS = ["+", "-", "*", "^", "|", "&"]


def c_expression(dice, names, depth):
    if depth == 0 or dice.roll(4) == 0:
        return names[dice.roll(len(names))] if dice.roll(3) else f"{dice.roll(100000)}UL"
    left = c_expression(dice, names, depth - 1)
    right = c_expression(dice, names, depth - 1)
    return f"({left} {OPERATORS[dice.roll(len(OPERATORS))]} {right})"


def c_statement(dice, number, names):
    target = names[2 + dice.roll(len(names) - 2)]
    value = c_expression(dice, names, 2)
    kind = dice.roll(7)
    if kind == 0:
        return [f"    if ({c_expression(dice, names, 2)} > {dice.roll(500)}) {{", f"        {target} = {value};",
                "    } else {", f"        {target} -= {dice.roll(90)};", "    }"]
    if kind == 1:
        return [f"    for (long i = 0; i < {1 + dice.roll(64)}; i++)", f"        {target} += i * ({value});"]
    if kind == 2:
        lines = [f"    switch ({c_expression(dice, names, 1)} & 7) {{"]
        for case in range(2 + dice.roll(5)):
            lines += [f"    case {case}:", f"        {target} = {c_expression(dice, names, 2)};", "        break;"]
        return lines + ["    default:", f"        {target}++;", "    }"]
    if kind == 3 and number > 0:
        return [f"    {target} += function_{dice.roll(number)}({value}, {names[1]});"]
    if kind == 4:
        return [f'    log_line("function {number}: a message about {target} and %lu", {value});']
    return [f"    {target} = {value};"]


def big_c(out, lines_wanted):
    dice = Dice(1)
    out.write("void log_line(const char *format, ...);\n")
    lines, number = 1, 0
    while lines < lines_wanted:
        body = []
        if number % 8 == 0:
            body.append(f"struct record_{number} {{")
            body += [f"    {TYPES[dice.roll(len(TYPES))]} field_{i};" for i in range(3 + dice.roll(12))]
            body += ["};", f"static const int table_{number}[] = {{"]
            for _ in range(2 + dice.roll(10)):
                body.append("    " + ", ".join(str(dice.roll(1 << 20)) for _ in range(8)) + ",")
            body.append("};")
        owner = number - number % 8
        body += [f"long function_{number}(long a, long b)", "{",
                 f"    struct record_{owner} r = {{0}};", f"    long c = a + (long)r.field_{dice.roll(3)};",
                 f"    long d = b ^ table_{owner}[{dice.roll(8)}];"]
        for _ in range(4 + dice.roll(14)):
            body += c_statement(dice, number, ["a", "b", "c", "d"])
        body += ["    return c + d;", "}", ""]
        out.write("\n".join(body) + "\n")
        lines += len(body) + 1
        number += 1


def mix_sql(out, rows):
    out.write(f"""
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, place TEXT, price REAL, note BLOB);
CREATE TABLE sale(item INTEGER, day INTEGER, pieces INTEGER);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO item SELECT i, 'item number ' || (i * 7919 % 100003), 'shelf ' || (i % 97), i % 1009 / 7.0,
    printf('%0*d', 20 + i % 100, i) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows * 2})
INSERT INTO sale SELECT i * 31 % {rows} + 1, i % 365, i % 11 FROM n;
COMMIT;
CREATE INDEX item_name ON item(name);
CREATE INDEX sale_item ON sale(item, day);
SELECT place, count(*), sum(price * pieces) FROM item JOIN sale ON item.id = sale.item GROUP BY place ORDER BY 3;
SELECT substr(name, 1, 14) AS start, group_concat(place, ',') FROM item WHERE id % 50 = 0 GROUP BY start LIMIT 50;
UPDATE item SET note = note || name || upper(place) WHERE id % 3 = 0;
SELECT count(DISTINCT name), avg(length(note)) FROM item;
SELECT day, total FROM (SELECT day, sum(pieces) AS total FROM sale GROUP BY day) ORDER BY total DESC LIMIT 20;
""")
    # Many small statements: parsing and planning, which is where sqlite3 allocates.
    for i in range(rows // 10):
        out.write(f"SELECT name, price FROM item WHERE id BETWEEN {i * 3} AND {i * 3 + 4} AND price > {i % 100};\n")
        if i % 4 == 0:
            out.write(f"INSERT INTO sale VALUES({i}, {i % 365}, {i % 13});\n")
    out.write("DELETE FROM item WHERE id % 2 = 0;\nSELECT count(*) FROM item;\n")


def mix_cc(out, classes):
    out.write("#include <algorithm>\n#include <iostream>\n#include <map>\n#include <memory>\n#include <regex>\n"
              "#include <sstream>\n#include <string>\n#include <unordered_map>\n#include <variant>\n#include <vector>\n")
    for k in range(classes):
        out.write(f"""
template <typename T> struct Shelf{k} {{
    std::map<std::string, std::vector<T>> items;
    std::unordered_map<int, std::shared_ptr<T>> shared;
    void add(const std::string &name, T value)
    {{
        items[name + "{k}"].push_back(value);
        shared.emplace(static_cast<int>(items.size()), std::make_shared<T>(value));
    }}
    std::string text() const
    {{
        std::ostringstream s;
        for (const auto &[name, values] : items)
            for (const auto &value : values)
                s << name << '=' << value << ';';
        return s.str();
    }}
}};
using Any{k} = std::variant<int, double, std::string, std::vector<int>>;
std::string run{k}(int n)
{{
    Shelf{k}<long> longs;
    Shelf{k}<std::string> words;
    for (int i = 0; i < n; i++) {{
        longs.add(std::to_string(i), i * {k + 3}L);
        words.add("w" + std::to_string(i), std::string(static_cast<size_t>(i % 17), 'x'));
    }}
    std::vector<Any{k}> any{{n, n * 0.5, std::string("a"), std::vector<int>{{n, n}}}};
    std::sort(any.begin(), any.end(), [](const auto &a, const auto &b) {{ return a.index() > b.index(); }});
    std::regex e("(w[0-9]+)=(x*);");
    return std::regex_replace(longs.text() + words.text(), e, "$2:$1");
}}
""")
    out.write("int main()\n{\n")
    for k in range(classes):
        out.write(f"    std::cout << run{k}({k + 5}) << std::endl;\n")
    out.write("}\n")


SITES_PARTS, SITES_EACH = 20, 10


def sites_cc(out, places):
    """Functions with SITES_EACH places each, in SITES_PARTS translation units."""
    functions = max(1, places // SITES_PARTS // SITES_EACH)
    out.write(f"""#include <map>
#include <string>
#include <vector>
#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)
using function = void(int);
template <int N> struct shelf {{
    std::map<std::string, std::vector<int>> *items = nullptr;
    static inline void *take(int n) {{ return ::operator new(static_cast<size_t>(N + n)); }}
}};
namespace NAME(part, PART) {{
""")
    for i in range(functions):
        out.write(f"static void work{i}(int n)\n{{\n    void *volatile p;\n")
        for k in range(SITES_EACH):
            out.write(f"    p = {'::operator new(%d + n)' % (k + 8) if k % 2 else 'shelf<%d>::take(n)' % (k + 1)};\n")
        out.write("    ::operator delete(p);\n}\n")
    out.write("}\nextern function *const NAME(table, PART)[];\nfunction *const NAME(table, PART)[] = {\n")
    out.write("".join(f"    NAME(part, PART)::work{i},\n" for i in range(functions)))
    out.write("};\n#if PART == 0\n")
    out.write("".join(f"extern function *const table{k}[];\n" for k in range(1, SITES_PARTS)))
    out.write(f"int main()\n{{\n    for (int i = 0; i < {functions}; i++) {{\n")
    out.write("".join(f"        table{k}[i](i);\n" for k in range(SITES_PARTS)))
    out.write("    }\n}\n#endif\n")


def main():
    folder = sys.argv[1]
    scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    os.makedirs(folder, exist_ok=True)
    for name, make, amount in [("big.c", big_c, 100000), ("mix.sql", mix_sql, 100000), ("mix.cc", mix_cc, 3),
                               ("sites.cc", sites_cc, 100000)]:
        with open(os.path.join(folder, name), "w", encoding="ascii") as out:
            make(out, max(1, int(amount * scale)))


if __name__ == "__main__":
    main()
