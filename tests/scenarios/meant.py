#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Who gives a word that heapwake does not know is told which one is near, or the command for what the word names: a
recording, a program, a format. One sentence, and exit status 2."""
import os
import shutil
import subprocess
import time

from support import Check, record, tool

check = Check()
with open("small.c", "w", encoding="ascii") as f:
    f.write("#include <stdlib.h>\nvoid *volatile kept;\nint main(void) { kept = malloc(1000); return 0; }\n")
subprocess.run(["gcc", "-o", "app", "small.c"], check=True)
record(["./app"], "x.wake")


def says(argv, sentence, status=2):
    done = tool(*argv)
    check.about(" ".join(argv))
    check.equal("exit status", status, done.status)
    check.equal("standard output", b"", done.out)
    check.equal("standard error", f"heapwake: {sentence}\n", done.err.decode())


# Commands.
says(["recrod", "ls"], "There is no command 'recrod'; did you mean record?")
says(["rep"], "There is no command 'rep'; did you mean report or replay?")
says(["help", "exprot"], "There is no command 'exprot'; did you mean export?")
says(["colour"], "There is no command 'colour'; 'heapwake help' lists those there are.")
says(["colect"], "There is no command 'colect'; 'heapwake help' lists those there are.")  # that one is not for people

# What stands there is no command, but says what is wanted.
says(["x.wake"], "There is no command 'x.wake'; to read it: heapwake report x.wake")
says(["gone.wake"], "There is no command 'gone.wake'; to read it: heapwake report gone.wake")
shutil.copy("x.wake", "renamed")
os.chmod("renamed", 0o755)
says(["./renamed"], "There is no command './renamed'; to read it: heapwake report ./renamed")
says(["./app"], "There is no command './app'; to record it: heapwake record ./app")
says(["ls", "-l"], "There is no command 'ls'; to record it: heapwake record ls")
says(["view", "x.wake"], "There is no command 'view', but there is one for that: heapwake report x.wake")
says(["print", "x.wake"], "There is no command 'print', but there is one for that: heapwake report x.wake")
says(["analyze"], "There is no command 'analyze', but there is one for that: heapwake report FILE")
says(["run", "./app"], "There is no command 'run', but there is one for that: heapwake record ./app")
says(["flamegraph", "x.wake"], "There is no command 'flamegraph', but a format: heapwake export -f flamegraph x.wake")
says(["ps", "x.wake"], "There is no command 'ps', but a format: heapwake export -f ps x.wake")

# Options.
for command, given, near in (("report", "--leak", "--leaks"), ("report", "--leaked", "--leaks"), ("report", "--top", "--top-down"),
                             ("report", "-leaks", "--leaks"), ("report", "--treshold=3", "--threshold"), ("report", "--n", "-n"),
                             ("check", "--max-leaks", "--max-leak"), ("export", "--formta", "--format"),
                             ("export", "--were", "--where"), ("diff", "--svgg", "--svg"), ("info", "--jsn", "--json"),
                             ("strip", "--treshold", "--threshold"), ("merge", "--outptu", "--output"),
                             ("replay", "--run", "--runs"), ("dump", "--stack", "--stacks"), ("history", "--pidd", "--pid"),
                             ("extract", "--froce", "--force"), ("anonymize", "--levle", "--level"),
                             ("symbolize", "--map", "--maps"), ("record", "--dept", "--depth"), ("import", "--symbol", "--symbols")):
    says([command, given], f"'heapwake {command}' has no option '{given}'; did you mean {near}?")
for words, given in ((["0x10", "x.wake"], "x.wake"), (["x.wake", "zz"], "zz")):
    says(["history", *words], f"'{given}' is no address: heapwake history FILE ADDRESS, in hexadecimal as 0x5581f0.")
says(["history", "x.wake", "10", "11"], "One address is looked for; '11' is another.")
says(["report", "--colour"], "'heapwake report' has no option '--colour'; 'heapwake help report' lists them.")
says(["report", "-x"], "'heapwake report' has no option '-x'; 'heapwake help report' lists them.")
says(["check", "--max"], "'heapwake check' has no option '--max'; 'heapwake help check' lists them.")  # five begin so
says(["verify", "--jsno"], "'heapwake verify' has no option '--jsno'.")

# A program in the place of a recording.
says(["report", "app"], "app is a program and not a recording; to record it: heapwake record ./app", 1)
says(["info", "./app"], "./app is a program and not a recording; to record it: heapwake record ./app", 1)
says(["check", "app"], "app is a program and not a recording; to run it: heapwake check --max-leak 0 -- ./app")
says(["check", "--max-peak", "1M", "./app"], "./app is a program and not a recording; to run it: heapwake check --max-leak 0 -- ./app")
os.chmod("small.c", 0o755)  # as on a file system without rights
says(["report", "small.c"], "small.c is not a heapwake recording.", 1)

# A format in the place of a recording.
says(["export", "html", "x.wake"], "The format stands behind -f: heapwake export -f html x.wake")
says(["export", "x.wake", "html"], "The format stands behind -f: heapwake export -f html x.wake")
says(["export", "html"], "The format stands behind -f: heapwake export -f html FILE")
shutil.copy("x.wake", "html")
check.equal("a recording with the name of a format", 0, tool("export", "-f", "folded", "html").status)

# Which recording there is.
time.sleep(0.05)
shutil.copy("x.wake", "later.wake")
newest = tool("report", "--leaks")
check.equal("standard error", "heapwake: No recording given: this is later.wake, the newest one here.\n", newest.err.decode())
check.equal("the newest", (0, tool("report", "--leaks", "later.wake").out), (newest.status, newest.out))
says(["report", "--leaks", "--since", "1s"], "--since and --until make a list of their own; no other can be with it.")
os.mkdir("empty")
os.chdir("empty")
says(["report"], "No recording given: heapwake report [OPTION...] FILE...")
check.done()
