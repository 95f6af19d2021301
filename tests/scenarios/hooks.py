#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every function of the malloc family and every form of operator new and delete is
seen once, under its own name, with the size that was asked for, the size that
malloc_usable_size tells the program, and the release that ended it; calls that failed are not seen; the program notices nothing."""
from support import Check, Ledger, events, native, record, truth, workload


def check_blocks(check, run, path, complaints=()):
    told = truth(run)
    check.equal("complaints", list(complaints), told["complaints"])
    check.equal("exit status", 0, run.status)
    ledger = Ledger(events(path))
    check.pairs(ledger)
    for block in told["blocks"]:
        size = block["size"]
        if block["kind"] == "any":  # made by libc, in as many steps as it likes
            check.equal(f"the block of {size}", [size], [e.size for (_, at), e in ledger.live.items() if at == block["address"]])
            continue
        check.equal(f"{block['kind']}({size})", [block["kind"]], ledger.kinds[size])
        check.equal(f"usable size of {block['kind']}({size})", [block["usable"]], ledger.usable[size])
        check.equal(f"blocks of {size} left", int(block["lives"]), ledger.left(size))
        if block["lives"]:
            here = [key for key, e in ledger.live.items() if e.size == size]
            check.equal(f"the block of {size} left", [block["address"]], [address for _, address in here])
    for size in (7151, 1 << 60, (1 << 63) - 1, (1 << 63) - 4097):
        check.equal(f"failed calls for {size}", 0, ledger.made[size])


if __name__ == "__main__":
    check = Check()
    for name in ("hooks", "hooks_cxx"):
        check.about(name)
        check.equal("complaints alone", [], truth(native([workload(name)]))["complaints"])
        run = record([workload(name)])
        check_blocks(check, run, "out.wake")
        check.sound("out.wake")
        check.equal("stderr", b"", run.err)
    check.done()
