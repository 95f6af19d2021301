#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Servers that people run, recorded with all their children, answer as they do alone, end alike, and leave a
sound recording: redis (jemalloc linked in, threads, a fork for a snapshot), nginx (workers, a reload) and
PostgreSQL (a process for each connection, not as root). All of them are to be there: scripts/bootstrap
installs them. They listen on sockets of the file system, so nobody's ports are taken."""
# timeout: 600
import glob
import hashlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from support import HEAPWAKE, PROBE, TIMEOUT_S, Check, put

POSTGRES = sorted(glob.glob("/usr/lib/postgresql/[0-9]*/bin"))[-1]
# The database does not run as root, and whom it runs as has to reach the tool.
HOME = tempfile.mkdtemp(prefix="heapwake-servers-", dir="/tmp")
TOOL = os.path.join(HOME, "tool", "heapwake")
AS = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
check = Check()


def until(what, condition):
    """Waits for evidence; how long that takes is the machine's business."""
    last = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > last:
            raise SystemExit(f"{what}: nothing after {TIMEOUT_S} s.")
        time.sleep(0.02)


def ask(*argv):
    done = subprocess.run([str(a) for a in argv], capture_output=True, timeout=TIMEOUT_S, cwd=HOME, **AS)
    return done.stdout + done.stderr


def can_connect(path):
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(path) == 0


def forget(path):
    """What the run before has left."""
    if os.path.exists(path):
        os.unlink(path)


class Server:
    """One run of one server, in a folder of its own."""

    def __init__(self, argv, is_recorded):
        self.wake = os.path.join(HOME, "out.wake") if is_recorded else None
        words = [TOOL, "record", "-q", "-o", self.wake, "--", *argv] if is_recorded else argv
        with open(os.path.join(HOME, "log"), "wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=HOME, **AS)

    def status(self):
        return self.process.wait(TIMEOUT_S)


def redis(is_recorded):
    path = os.path.join(HOME, "redis.sock")
    forget(os.path.join(HOME, "dump.rdb"))
    server = Server(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--enable-debug-command", "yes",
                     "--io-threads", "2"], is_recorded)
    until("redis", lambda: os.path.exists(path) and can_connect(path))
    call = ["redis-cli", "-s", path]
    commands = b"".join(b"SET key%d %s\r\nLPUSH list%d %d\r\nHSET hash%d f%d %d\r\n" %
                        (i, b"x" * (i % 300 + 1), i % 7, i, i % 50, i, i * 7) for i in range(4000))
    piped = subprocess.run([*call, "--pipe"], input=commands, capture_output=True, timeout=TIMEOUT_S, check=False)
    seen = [piped.stdout.splitlines()[-1:], ask(*call, "DEBUG", "DIGEST"), ask(*call, "DBSIZE")]
    loaded = ask("redis-benchmark", "-s", path, "-q", "-n", "5000", "-c", "8", "-t", "set,get,incr,lpush")
    seen.append(loaded.count(b"requests per second") > 3)
    seen.append(ask(*call, "BGSAVE"))
    until("the snapshot", lambda: b"rdb_bgsave_in_progress:0" in ask(*call, "INFO", "persistence"))
    seen.append(b"rdb_last_bgsave_status:ok" in ask(*call, "INFO", "persistence"))
    return server, seen + [ask(*call, "SHUTDOWN", "NOSAVE"), server.status()]


NGINX = b"""daemon off; worker_processes 2; pid nginx.pid; error_log error.log;
events { worker_connections 64; }
http { access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
       server { listen unix:nginx.sock; root html; gzip on; gzip_types *; gzip_min_length 1; } }
"""


def get(path, body):
    """One request; true: the answer is 200 and has this body."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(TIMEOUT_S)
        s.connect(path)
        s.sendall(b"GET /page HTTP/1.0\r\nHost: here\r\n\r\n")
        answer = b"".join(iter(lambda: s.recv(65536), b""))
    return answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"\r\n\r\n" + body)


def workers(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return set(f.read().split())


def nginx(is_recorded):
    os.chdir(HOME)  # names of sockets have to be short
    body = b"".join(b"line %d\n" % i for i in range(5000))
    os.makedirs("html", exist_ok=True)
    put("html/page", body)
    put("nginx.conf", NGINX)
    path = os.path.join(HOME, "nginx.sock")
    forget(path)
    server = Server(["nginx", "-e", "error.log", "-p", HOME, "-c", "nginx.conf"], is_recorded)
    until("nginx", lambda: os.path.exists(path) and can_connect(path) and os.path.exists("nginx.pid"))
    with open("nginx.pid", encoding="ascii") as f:
        pid = int(f.read())
    until("the workers", lambda: len(workers(pid)) == 2)
    rights = []

    def many():
        rights.extend(get(path, body) for _ in range(200))

    for _ in range(2):
        threads = [threading.Thread(target=many) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        before = workers(pid)
        os.kill(pid, signal.SIGHUP)  # new workers, and the old ones end
        until("the new workers", lambda: len(workers(pid) - before) == 2 and not workers(pid) & before)
    os.kill(pid, signal.SIGQUIT)
    status = server.status()
    with open("error.log", "rb") as f:
        bad = [line for line in f if b"[alert]" in line or b"[emerg]" in line or b"[crit]" in line]
    return server, [len(rights), all(rights), status, bad]


def postgres(is_recorded):
    data = os.path.join(HOME, "data")
    if not os.path.exists(data + ".first"):
        subprocess.run([POSTGRES + "/initdb", "-D", data + ".first", "-A", "trust", "-U", "me", "-N"], check=True,
                       stdout=subprocess.DEVNULL, cwd=HOME, timeout=TIMEOUT_S, **AS)
    shutil.rmtree(data, ignore_errors=True)
    subprocess.run(["cp", "-a", data + ".first", data], check=True)
    server = Server([POSTGRES + "/postgres", "-D", data, "-k", HOME, "-h", "", "-p", "5499", "-F"], is_recorded)
    who = ["-h", HOME, "-p", "5499", "-U", "me"]
    until("postgres", lambda: b"accepting" in ask(POSTGRES + "/pg_isready", *who))
    seen = [b"done" in ask(POSTGRES + "/pgbench", *who, "-i", "-q", "postgres")]
    load = ask(POSTGRES + "/pgbench", *who, "-c", "4", "-j", "2", "-t", "50", "postgres")
    seen.append(b"processed: 200/200" in load)
    for question in ("select count(*), sum(delta) = (select sum(abalance) from pgbench_accounts) from pgbench_history",
                     "select md5(string_agg(md5(i::text || repeat('x', i % 50)), '' order by i)) from generate_series(1, 20000) i",
                     "select 1 / 0"):
        seen.append(hashlib.sha256(ask("psql", *who, "-Atc", question, "postgres")).hexdigest())
    ask(POSTGRES + "/pg_ctl", "-D", data, "-m", "fast", "stop")
    return server, seen + [server.status()]


for needed in ("redis-server", "redis-cli", "redis-benchmark", "nginx", "psql", POSTGRES + "/postgres"):
    check.holds(shutil.which(needed, path=os.environ["PATH"] + ":/usr/sbin"),
                f"{needed} is not installed; scripts/bootstrap check installs it.")
try:
    os.environ["PATH"] += ":/usr/sbin"
    os.chmod(HOME, 0o755)
    os.mkdir(os.path.dirname(TOOL))
    shutil.copy(HEAPWAKE, TOOL)
    shutil.copy(PROBE, os.path.dirname(TOOL))
    if AS:
        shutil.chown(HOME, AS["user"], AS["group"])
    for serve, processes in {redis: 2, nginx: 7, postgres: 8}.items():
        check.about(serve.__name__)
        _, alone = serve(False)
        recorded, seen = serve(True)
        check.equal("what it answers, and its end", alone, seen)
        check.equal("status", 0, seen[-2] if serve is nginx else seen[-1])
        facts = check.sound(recorded.wake)
        check.holds(facts["processes"] >= processes, f"only {facts['processes']} processes were seen.")
        check.holds(facts["allocations"] > 1000, f"only {facts['allocations']} allocations were seen.")
finally:
    os.chdir("/")
    shutil.rmtree(HOME, ignore_errors=True)
check.done()
