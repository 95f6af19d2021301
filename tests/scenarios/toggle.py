#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recording is switched off and on again and again while threads make, grow, hand over and
release blocks: whatever was recorded is known to be released, whenever that was."""
import os
import subprocess
import time

from support import HEAPWAKE, Check, Ledger, events, record, tool, workload


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return int(f.read().split()[0])


if __name__ == "__main__":
    check = Check()
    for threads in (1, 4):
        check.about(f"{threads} threads")
        recorder = subprocess.Popen([HEAPWAKE, "record", "-q", "-o", "churn.wake", "--", workload("churn"), "5000", str(threads)],
                                    stdout=subprocess.PIPE, env=os.environ)
        recorder.stdout.readline()
        pid = child_of(recorder.pid)
        for pause in (0.02, 0.3, 0.01, 1.4, 0.1, 0.05, 0.02, 1.3, 0.3, 0.01):  # a second makes off of fading
            check.equal("toggle", 0, tool("ctl", pid, "toggle").status)
            time.sleep(pause)
        recorder.communicate()
        check.equal("exit status", 0, recorder.returncode)
        facts = check.sound("churn.wake")
        ledger = Ledger(events("churn.wake"))
        check.pairs(ledger)
        check.equal("switches", 10, sum(e.event == "tag" for e in ledger.others))
        check.holds(ledger.made[7071] > 1000 and ledger.made[7072] > 100, "Next to nothing was recorded.")
        check.equal("blocks left", (0, 0), (ledger.left(7071), ledger.left(7072)))
        check.equal("frees of blocks never seen", 0, facts["unknown_frees"])
        check.equal("addresses handed out again without a free", 0, facts["implied_frees"])
    check.about("reallocs of other threads' blocks")
    check.equal("exit status", 0, record([workload("bazaar"), "1500"], "bazaar.wake").status)
    check.sound("bazaar.wake")
    ledger = Ledger(events("bazaar.wake"))
    check.holds(ledger.made[7023] > 10000 and ledger.made[7025] > 10000, "Next to nothing was recorded.")
    check.equal("blocks left", (0, 0), (ledger.left(7023), ledger.left(7025)))
    check.done()
