#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for from_dhat_fuzz: JSON files of DHAT."""
import os
import sys

SEEDS = [
    '{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":true,"tu":"instrs","Mtu":"Minstr","tuth":500,'
    '"cmd":"./app \\"x\\"","pid":77,"te":718279,"tg":179844,"pps":[{"tb":12000,"tbk":300,"tl":5,"mb":9,"mbk":9,"gb":9000,"gbk":200,'
    '"eb":100,"ebk":2,"rb":0,"wb":0,"acc":[-40,0],"fs":[1,2,3]},{"tb":50,"tbk":2,"gb":40,"gbk":1,"eb":30,"ebk":2,"fs":[]},'
    '{"tb":10,"tbk":9,"gb":10,"gbk":1,"eb":0,"ebk":8,"fs":[3]}],"ftbl":["[root]","0x48: malloc (in /lib/v.so)",'
    '"0x10: f (a.c:64)","0x20: \\u00e4\\n (a.c:9)"]}\n',
    '{ "dhatFileVersion" : 2, "mode":"rust-heap", "bklt":true, "tu":"\u00b5s", "te":1.5, "tg":1, "ftbl":["[root]", "x"],'
    ' "pps":[ {"tb":1,"tbk":1,"gb":5,"gbk":0,"eb":9,"ebk":1,"fs":[0,1]} ] , "more": {"a":[1,{"b":"}"}]} }',
    '{"dhatFileVersion":2,"bklt":false,"mode":"copy","pps":[],"ftbl":[]}',
]
for number, text in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"seed{number}"), "w", encoding="utf-8", newline="") as f:
        f.write(text)
