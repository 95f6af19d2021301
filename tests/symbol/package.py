# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes a package (.dwp) of .dwo files, for what no packager of the system makes: those of binutils 2.40 and of LLVM 14
fail for DWARF 5 by gcc. One compile unit a file, ELF64, little-endian."""
import os
import re
import struct
import subprocess

# Numbers of the index's columns, by its version.
COLUMNS = {2: {1: ".debug_info", 3: ".debug_abbrev", 4: ".debug_line", 5: ".debug_loc", 6: ".debug_str_offsets"},
           5: {1: ".debug_info", 3: ".debug_abbrev", 4: ".debug_line", 5: ".debug_loclists", 6: ".debug_str_offsets",
               8: ".debug_rnglists"}}


def halves_of(program):
    """(id, path) of the .dwo files that a program names, which was compiled here."""
    units = subprocess.run(["readelf", "--debug-dump=info,no-follow-links", program], capture_output=True, text=True,
                           check=True).stdout.split("Compilation Unit @")
    names = [re.search(r"DW_AT_(?:GNU_)?dwo_name *:.*?([^\s:]+\.dwo)", unit) for unit in units]
    ids = [re.search(r"(?:DWO ID|dwo_id) *: +0x([0-9a-f]+)", unit) for unit in units]
    return [(int(i.group(1), 16), os.path.abspath(n.group(1))) for n, i in zip(names, ids) if n]


def sections_of(data):
    """name without .dwo -> bytes"""
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    texts = data[headers[names][4]:headers[names][4] + headers[names][5]]
    found = {}
    for header in headers:
        name = texts[header[0]:texts.index(b"\0", header[0])].decode()
        if name.endswith(".dwo"):
            found[name[:-4]] = data[header[4]:header[4] + header[5]]
    return found


def elf_of(sections):
    names, body, headers = b"\0", b"", [bytes(64)]
    for name, data in [*sections.items(), (".shstrtab", None)]:
        at = len(names)
        names += name.encode() + b"\0"
        data = names if data is None else data
        headers.append(struct.pack("<IIQQQQIIQQ", at, 3 if name == ".shstrtab" else 1, 0, 0, 64 + len(body), len(data), 0, 0, 1, 0))
        body += data
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(headers),
                       len(headers) - 1)
    return head + body + b"".join(headers)


def index_of(version, ids, columns, rows):
    """rows: a list of (offset, length) by column, for each id."""
    slots = 2
    while slots < 2 * len(ids):
        slots *= 2
    table = [(0, 0)] * slots
    for row, id_ in enumerate(ids, 1):
        at, step = id_ & (slots - 1), ((id_ >> 32) & (slots - 1)) | 1
        while table[at][1] != 0:
            at = (at + step) & (slots - 1)
        table[at] = (id_, row)
    words = [version, len(columns), len(ids), slots]
    out = struct.pack("<4I", *words) + b"".join(struct.pack("<Q", t[0]) for t in table)
    out += b"".join(struct.pack("<I", t[1]) for t in table) + struct.pack(f"<{len(columns)}I", *columns)
    for part in (0, 1):
        out += b"".join(struct.pack("<I", cell[part]) for row in rows for cell in row)
    return out


def make(path, halves):
    """halves: (id of the unit, path of its .dwo file). The bytes of the index."""
    parts, texts, rows = {}, bytearray(), []
    version = None
    for _, half in halves:
        with open(half, "rb") as f:
            own = sections_of(f.read())
        version = 5 if struct.unpack_from("<H", own[".debug_info"], 4)[0] >= 5 else 2
        skip = 8 if version == 5 else 0
        offsets = own[".debug_str_offsets"]
        moved = [at + len(texts) for at in struct.unpack(f"<{(len(offsets) - skip) // 4}I", offsets[skip:])]
        own[".debug_str_offsets"] = offsets[:skip] + struct.pack(f"<{len(moved)}I", *moved)
        texts += own[".debug_str"]
        row = []
        for name in COLUMNS[version].values():
            whole = parts.setdefault(name, bytearray())
            row.append((len(whole), len(own.get(name, b""))))
            whole += own.get(name, b"")
        rows.append(row)
    sections = {name + ".dwo": bytes(data) for name, data in parts.items() if data}
    sections[".debug_str.dwo"] = bytes(texts)
    sections[".debug_cu_index"] = index_of(version, [id_ for id_, _ in halves], list(COLUMNS[version]), rows)
    with open(path, "wb") as f:
        f.write(elf_of(sections))
    return sections[".debug_cu_index"]
