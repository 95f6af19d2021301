#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs that people use print the same, end the same, and leave a sound
recording: a compiler with its children, interpreters, a database, a shell."""
import os
import shutil

from support import Check, native, record, skip

SQL = """create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
insert into t select i, hex(i * 7919) || 'wake' from n;
create index tb on t(b);
select count(*), sum(length(b)), min(b), max(b) from t;
select substr(b, 1, 2), count(*) from t group by 1 order by 2 desc limit 5;"""
PYTHON = """import json, re, collections, subprocess, threading
d = {str(i): [j * i for j in range(20)] for i in range(3000)}
assert json.loads(json.dumps(d)) == d
print(collections.Counter(re.findall(r'[0-9]', json.dumps(d))).most_common(3))
t = [threading.Thread(target=lambda: sorted(map(str, range(20000)))) for _ in range(4)]
[x.start() for x in t]; [x.join() for x in t]
print(subprocess.run(['printf', '%s', 'child'], capture_output=True).stdout)
try: raise ValueError('x' * 1000)
except ValueError as e: print(len(str(e)))"""
BASH = """f() { local i; for i in {1..200}; do echo $((i * i)) | tr 0-9 a-j; done; }
f | sort | uniq -c | sort -rn | head -5; printf '%s\\n' "${BASH_VERSINFO[0]}"; (exit 3); echo $?"""
PERL = r"""my %h; for my $i (1..20000) { $h{$i % 977} .= chr(65 + $i % 26); }
print join(',', map { length } @h{1..20}), "\n"; my $s = join "", map { $h{$_} } sort keys %h; my $n = () = $s =~ /A+/g; print "$n\n";"""
COMPILED = """#include <map>
#include <string>
#include <iostream>
int main() { std::map<std::string, int> m; for (int i = 0; i < 100; i++) m[std::to_string(i)] = i;
try { m.at("x"); } catch (const std::exception &e) { std::cout << m.size() << "\\n"; } }"""

with open("program.cc", "w", encoding="utf-8") as f:
    f.write(COMPILED)
programs = {
    "g++": ["g++", "-O1", "-c", "-frandom-seed=1", "program.cc", "-o", "program.o"],
    "python3": ["/usr/bin/python3", "-c", PYTHON],
    "sqlite3": ["sqlite3", ":memory:", SQL],
    "bash": ["bash", "-c", BASH],
    "perl": ["perl", "-e", PERL],
    "git": ["git", "-C", "repository", "log", "--stat", "--all"],
    "sort": ["sh", "-c", "seq 200000 | sort -R --random-source=/bin/sh | sha256sum"],
}
there = {name: argv for name, argv in programs.items() if shutil.which(argv[0])}
if not there:
    skip("None of the programs is installed.")
identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
            "GIT_CONFIG_NOSYSTEM": "1", "HOME": os.getcwd()}
if "git" in there:
    native(["sh", "-c", "git init -q repository && cd repository && for i in 1 2 3 4 5 6 7 8 9; do seq $i 400 >f; "
            "git add f; git commit -q -m \"number $i\"; done"], identity)

check = Check()
for name, argv in there.items():
    check.about(name)
    alone = native(argv, identity)
    made = open("program.o", "rb").read() if name == "g++" else b""
    run = record(argv, env=identity)
    check.equal("exit status", alone.status, run.status)
    check.equal("stdout", alone.out, run.out)
    check.equal("stderr", alone.err, run.err)
    if name == "g++":
        check.holds(len(made) > 1000 and made == open("program.o", "rb").read(), "the object file differs.")
    else:
        check.holds(len(alone.out) > 8, "it prints nothing alone.")
    facts = check.sound("out.wake")
    check.holds(facts["allocations"] > 20, f"only {facts['allocations']} allocations were seen.")
    check.equal("frees of blocks never seen", 0, facts["unknown_frees"])
check.done()
