#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""rewrite_seeds FOLDER: those of store_fuzz."""
import os
import sys

script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "store_seeds.py")
os.execv(script, [script, *sys.argv[1:]])
