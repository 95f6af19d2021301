#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What is shipped beside the code is sound: manual pages, completions, links, the picture."""
import glob
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import xml.dom.minidom

os.chdir(os.environ["ROOT"])
os.environ["PATH"] = os.path.dirname(os.environ["HEAPWAKE"]) + ":" + os.environ["PATH"]
problems = []


def quiet(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def check_manual():
    for page in sorted(glob.glob("man/*.1")):
        done = quiet("mandoc", "-T", "lint", "-W", "warning", page)
        if done.returncode != 0:
            problems.append(done.stdout.strip())
        if f"'{page}'" not in open("meson.build").read():
            problems.append(f"{page} is not installed by meson.build.")
    commands = re.findall(r"man/heapwake-(\w+)\.1", " ".join(glob.glob("man/*.1")))
    for command in commands:
        if not re.search(rf"\b{command}\b", open("man/heapwake.1").read()):
            problems.append(f"man/heapwake.1 does not know the command {command}.")
        if command not in complete(""):
            problems.append(f"bash does not complete the command {command}.")


def check_commands():
    """Each documented command exists, and says how it is used."""
    for page in glob.glob("man/heapwake-*.1"):
        command = re.fullmatch(r"man/heapwake-(\w+)\.1", page).group(1)
        done = quiet(os.environ["HEAPWAKE"], command, "--help")
        if done.returncode != 0 or command not in done.stdout:
            problems.append(f"heapwake {command} --help does not say how it is used.")
        for option in re.findall(r"^\.It (?:.* , )?Fl -([a-z]+)", open(page).read(), re.M):
            if f"--{option}" not in done.stdout:
                problems.append(f"{page} has --{option}, heapwake {command} --help does not.")


def check_width():
    """Help fits a screen of 80 columns."""
    listed = quiet(os.environ["HEAPWAKE"], "help").stdout
    commands = re.findall(r"^  (\w+)  ", listed, re.M)
    if len(commands) < 15:
        problems.append(f"heapwake help lists {commands}.")
    for command in ["help", "where", *commands]:
        for line in quiet(os.environ["HEAPWAKE"], "help", command).stdout.splitlines():
            if len(line) > 80:
                problems.append(f"'heapwake help {command}' has a line of {len(line)} columns: {line}")


def check_completions():
    for shell, file in [("bash", "heapwake.bash"), ("zsh", "_heapwake"), ("fish", "heapwake.fish")]:
        if shutil.which(shell):
            done = quiet(shell, "-n", os.path.join("completions", file))
            if done.returncode != 0:
                problems.append(done.stdout.strip())


def complete(*words):
    """What bash offers."""
    script = ("source completions/heapwake.bash; COMP_WORDS=(heapwake \"$@\"); COMP_CWORD=$#; _heapwake 2>/dev/null; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    return subprocess.run(["bash", "-c", script, "-", *words], stdout=subprocess.PIPE, text=True).stdout.split()


def complete_by_zsh(line):
    """What zsh, at a terminal, makes of a line when Tab is pressed."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe("zsh", ["zsh", "-f"], {"PATH": os.environ["PATH"], "TERM": "dumb", "PS1": ""})
    os.write(fd, b"fpath=($PWD/completions $fpath); autoload -U compinit; compinit -D -u; print rea''dy\n")
    said, is_asked, patience = b"", False, 10
    while select.select([fd], [], [], patience)[0]:
        said += os.read(fd, 4096)
        if b"ready" in said and not is_asked:
            said, is_asked, patience = b"", True, 2
            os.write(fd, line.encode() + b"\t")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)
    return said.decode(errors="replace")


def check_completed_programs():
    if set(complete("record", "--", "mkfif")) != {"mkfifo"} or set(complete("record", "-q", "mkfif")) != {"mkfifo"}:
        problems.append("bash does not complete the program of record.")
    if shutil.which("zsh") and "mkfifo" not in complete_by_zsh("heapwake record -q mkfif"):
        problems.append("zsh does not complete the program of record.")
    if not shutil.which("fish"):
        return
    for line, expected in (("record -o x mkfif", "mkfifo"), ("record -- mkfif", "mkfifo"), ("ctl 1 en", "enable")):
        offered = quiet("fish", "-c", f"source completions/heapwake.fish; complete -C 'heapwake {line}'").stdout.split()
        if offered[:1] != [expected]:
            problems.append(f"fish completes heapwake {line} by {offered[:4]}.")
    if "enable" in quiet("fish", "-c", "source completions/heapwake.fish; complete -C 'heapwake ctl '").stdout.split():
        problems.append("fish offers a command of ctl in the place of the process.")


def check_completed_options():
    """All options that the help of a command lists are completed; after an option without a value, too."""
    for page in glob.glob("man/heapwake-*.1"):
        command = re.fullmatch(r"man/heapwake-(\w+)\.1", page).group(1)
        listed = quiet(os.environ["HEAPWAKE"], command, "--help").stdout
        options = set(re.findall(r"--[a-z][a-z0-9-]+", " ".join(re.findall(r"^  (-.*?)(?:  |$)", listed, re.M))))
        if options - set(complete(command, "--")):
            problems.append(f"bash does not complete {sorted(options - set(complete(command, '--')))} of heapwake {command}.")
    for words, expected in ((["report", "--maps", "--so"], {"--sort"}),
                            (["report", "--by", "f"], {"function", "file"}), (["report", "--by", "=", "f"], {"function", "file"}),
                            (["record", "--logfile", "READ"], {"README.md"}), (["ctl", "1", "en"], {"enable"}),
                            (["ctl", ""], set()), (["export", "-f", "pp"], {"pprof"}), (["report", "--where", "size-m"], {"size-min=", "size-max="}),
                            (["extract", "-C", "sr"], {"src"}), (["check", "--max-growth-vs", "READ"], {"README.md"})):
        if set(complete(*words)) != expected:
            problems.append(f"bash completes heapwake {' '.join(words)} by {complete(*words)}.")


def check_links():
    listed = quiet("scripts/files", r"\.md$").stdout.split()
    for document in listed:
        for target in re.findall(r"\]\(([^)#: ]+)(?:#[^)]*)?\)", open(document).read()):
            if not os.path.exists(os.path.join(os.path.dirname(document), target)):
                problems.append(f"{document} points to {target}, which is not there.")


def check_design():
    """docs/design.md is short, and the files that it names are there."""
    text = open("docs/design.md").read()
    lines = text.splitlines()
    if len(lines) > 350 or max(map(len, lines)) > 130:
        problems.append(f"docs/design.md has {len(lines)} lines of up to {max(map(len, lines))} columns; 350 and 130 are the limits.")
    sources = {os.path.basename(path) for path in quiet("scripts/files", r"^src/.*\.[ch]$").stdout.split()}
    named = set(re.findall(r"`([a-z0-9_]+\.[ch])`", text)) | {f"{test}.c" for test in re.findall(r"`([a-z0-9_]+_test)`", text)}
    for name in sorted(named - sources):
        problems.append(f"docs/design.md names {name}, which is not there.")


def check_picture():
    xml.dom.minidom.parse("docs/overview.svg")


check_manual()
check_commands()
check_width()
check_completions()
check_completed_options()
check_completed_programs()
check_links()
check_design()
check_picture()
print("\n".join(problems))
sys.exit(1 if problems else 0)
