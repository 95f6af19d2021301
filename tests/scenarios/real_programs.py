#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs that people use print the same, end the same, and leave a sound
recording: compilers with their children, interpreters, run-time compilers, a database, a shell,
Python's own tests. All of them are to be there: scripts/bootstrap installs them."""
# timeout: 600
import os
import shutil

from support import Check, native, put, record

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

NODE = """const { Worker, isMainThread, parentPort } = require('worker_threads');
if (!isMainThread) {
  parentPort.once('message', i => {
    const a = {};
    for (let k = 0; k < 100000; k++) a['k' + k % 5000] = [k, String(k * i)];
    parentPort.postMessage(Object.values(a).reduce((sum, v) => sum + v[1].length, 0));
  });
} else {
  let done = 0, sum = 0;
  for (let i = 0; i < 4; i++) {
    const w = new Worker(__filename);
    w.postMessage(i);
    w.on('message', m => {
      sum += m;
      if (++done < 4) return;
      console.log(sum, require('child_process').execFileSync('printf', ['%s', 'child']).toString());
      process.exit(5);
    });
  }
}
"""
# The virtual machine catches SIGSEGV for null pointers and the end of the stack.
JAVA = """import java.util.*;
public class Main {
  static String s;
  static int deeper(int n) { return deeper(n + 1) + 1; }
  public static void main(String[] arguments) throws Exception {
    int caught = 0;
    for (int i = 0; i < 100000; i++) {
      s = i % 2 == 0 ? null : "x";
      try { caught += s.length() > 5 ? 1 : 0; } catch (NullPointerException e) { caught++; }
    }
    try { deeper(0); } catch (StackOverflowError e) { System.out.println("overflow " + caught); }
    Thread[] threads = new Thread[4];
    long[] sizes = new long[4];
    for (int i = 0; i < 4; i++) {
      final int k = i;
      threads[i] = new Thread(() -> {
        Map<String, Integer> m = new HashMap<>();
        for (int j = 0; j < 100000; j++) m.merge("k" + j % 777, j, Integer::sum);
        sizes[k] = m.size();
      });
      threads[i].start();
    }
    for (Thread t : threads) t.join();
    System.gc();
    System.out.println(Arrays.toString(sizes));
    System.exit(3);
  }
}
"""
MAKE = """all: program
\t./program
program: $(patsubst %,part%.o,1 2 3 4 5 6 7 8)
\tgcc -o $@ $^
%.o: %.c
\tgcc -O1 -c $< -o $@
"""

put("program.cc", COMPILED.encode())
put("n.js", NODE.encode())
put("Main.java", JAVA.encode())
os.mkdir("tree")
put("tree/Makefile", MAKE.encode())
for part in range(2, 9):
    put(f"tree/part{part}.c", b"#include <stdlib.h>\nint part%d(void) { return abs(-%d); }\n" % (part, part))
put("tree/part1.c", b"#include <stdio.h>\n" + b"".join(b"int part%d(void);\n" % n for n in range(2, 9)) +
    b'int main(void) { printf("the sum is %d\\n", ' + b" + ".join(b"part%d()" % n for n in range(2, 9)) + b"); return 0; }\n")
programs = {
    "g++": ["g++", "-O1", "-c", "-frandom-seed=1", "program.cc", "-o", "program.o"],
    "python3": ["/usr/bin/python3", "-c", PYTHON],
    "sqlite3": ["sqlite3", ":memory:", SQL],
    "bash": ["bash", "-c", BASH],
    "perl": ["perl", "-e", PERL],
    "git": ["git", "-C", "repository", "log", "--stat", "--all"],
    "git clone": ["sh", "-c", "rm -rf copy && git clone -q repository copy && cd copy && git gc -q && git fsck --full --no-progress "
                  "&& git log --format='%T %s' --stat"],
    "make": ["sh", "-c", "rm -f tree/*.o tree/program && make -s -j2 -C tree | grep sum"],
    "node": ["node", "n.js"],
    "java": ["java", "Main"],
    "python's tests": ["sh", "-c", "/usr/bin/python3 -m test test_json test_ctypes test_fork1 test_weakref test_thread 2>&1 | "
                       "grep -E '^(All|Tests result|Result)'"],
    "sort": ["sh", "-c", "seq 200000 | sort -R --random-source=/bin/sh | sha256sum"],
}
check = Check()
for needed in ("git", "g++", "node", "java", "javac", "sqlite3", "perl", "make"):
    check.holds(shutil.which(needed), f"{needed} is not installed; scripts/bootstrap check installs it.")
check.equal("javac", 0, native(["javac", "Main.java"]).status)
identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
            "GIT_CONFIG_NOSYSTEM": "1", "HOME": os.getcwd()}
native(["sh", "-c", "git init -q repository && cd repository && for i in 1 2 3 4 5 6 7 8 9; do seq $i 400 >f; "
        "git add f; git commit -q -m \"number $i\"; done"], identity)

for name, argv in programs.items():
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
