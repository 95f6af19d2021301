#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Servers of debug files that make people wait: Ctrl-C ends the waiting and not the search, whether the server is silent, sends
without saying how much, or sends slowly; then the names are those that this machine knows. So does patience."""
import ctypes.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from support import HEAPWAKE, Check, native

LOCAL = b"kitchen_of_this_machine"
SOURCE = "#include <stdlib.h>\n__attribute__((noinline)) void *%s(void) { return malloc(123); }\nint main(void) { return %s() == NULL; }\n"
LENGTH = b"Content-Length: 100000000\r\n"
check = Check()


def serve(head):
    """Accepts whoever comes; head None: says nothing, else that, and a byte now and then. Gives the socket and what happened."""
    server, came = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def feed(visitor):
        try:
            while True:
                visitor.sendall(b"x")
                time.sleep(0.2)
        except OSError:
            pass

    def accept():
        visitors = []
        while True:
            visitors.append(server.accept()[0])
            if head is not None:
                visitors[-1].recv(4096)
                visitors[-1].sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n")
                threading.Thread(target=feed, args=visitors[-1:], daemon=True).start()
            came.set()

    threading.Thread(target=accept, daemon=True).start()
    return server.getsockname()[1], came


def ask(name, head, command, interrupt):
    """Starts the command and types Ctrl-C once the server has been asked."""
    shutil.copy("plain.wake", "app.wake")
    port, came = serve(head)
    env = {**os.environ, "DEBUGINFOD_URLS": f"http://127.0.0.1:{port}", "DEBUGINFOD_CACHE_PATH": os.path.abspath(f"cache-{name}")}
    process = subprocess.Popen([HEAPWAKE, *command, "app.wake"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    check.holds(came.wait(60), f"{name}: nobody asked the server.")
    if interrupt:
        time.sleep(1)  # until it waits for what comes
        process.send_signal(signal.SIGINT)
    try:
        out, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, said = process.communicate()
        check.holds(False, f"{name}: it went on waiting.")
    check.equal(f"{name}: exit", 0, process.returncode)
    return out, said


if ctypes.util.find_library("debuginfod") is None:
    print("libdebuginfod is not there")
    sys.exit(77)
with open("app.c", "w", encoding="ascii") as f:
    f.write(SOURCE % (LOCAL.decode(), LOCAL.decode()))
check.equal("compiler", 0, native(["gcc", "-O1", "app.c", "-o", "app"]).status)
check.equal("recorder", 0, native([HEAPWAKE, "record", "--symbols", "no", "-o", "plain.wake", "./app"]).status)

for name, head in (("silent", None), ("endless", b""), ("slow", LENGTH)):
    check.about(name)
    _, said = ask(name, head, ["symbolize"], interrupt=True)
    check.holds(b"Interrupted: debug files on servers were left alone" in said, f"It said {said!r}.")
    check.holds(LOCAL in native([HEAPWAKE, "report", "--leaks", "app.wake"]).out, "What this machine knows is not in the recording.")
check.about("report")
out, said = ask("report", b"", ["report", "--leaks"], interrupt=True)
check.holds(LOCAL in out and b"Interrupted: debug files on servers were left alone" in said, f"It said {said!r}, and {out!r}.")
check.holds(b"123 bytes" in out, f"It has read less than all: {out!r}.")
check.about("patience")
_, said = ask("patience", None, ["symbolize"], interrupt=False)
check.holds(b"did not answer in time" in said, f"It said {said!r}.")
check.holds(LOCAL in native([HEAPWAKE, "report", "--leaks", "app.wake"]).out, "What this machine knows is not in the recording.")
check.about("SIGTERM, then SIGKILL in the middle of the search")
port, came = serve(None)
environment = {**os.environ, "DEBUGINFOD_URLS": f"http://127.0.0.1:{port}", "DEBUGINFOD_CACHE_PATH": os.path.abspath("cache-killed")}
recorder = subprocess.Popen([HEAPWAKE, "record", "-q", "-o", "killed.wake", "--", "sh", "-c", "./app; echo; exec sleep 60"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
recorder.stdout.readline()  # it runs
recorder.terminate()
check.holds(came.wait(60), "nobody asked the server.")
recorder.kill()
recorder.communicate(timeout=60)
check.holds(os.path.exists("killed.wake"), f"The recording has no name: {sorted(n for n in os.listdir('.') if n.startswith('killed'))}.")
check.sound("killed.wake")
check.done()
