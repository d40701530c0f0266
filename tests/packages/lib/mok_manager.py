#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Boot a guest and enroll its new key in MokManager, as an administrator does at the console.

usage: mok_manager.py CONSOLE PASSWORD SECONDS COMMAND...
COMMAND is an emulator whose standard input and output are the serial console; CONSOLE gets a copy. It must end
by itself: MokManager reboots the machine.
"""
import os
import re
import select
import signal
import subprocess
import sys
import time

DOWN = b"\033[B"
# What the screen shows, and the keys that an administrator presses then.
DIALOG = [
    (rb"Press any key to perform MOK management", b" "),
    (rb"Enroll MOK", DOWN + b"\r"),
    (rb"View key 0", DOWN + b"\r"),
    (rb"Enroll the key\(s\)\?", DOWN + b"\r"),
    (rb"Password:", None),
    (rb"Reboot", b"\r"),
]


def main():
    log = open(sys.argv[1], "wb", buffering=0)
    password, limit = sys.argv[2].encode() + b"\r", time.time() + int(sys.argv[3])
    guest = subprocess.Popen(sys.argv[4:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    seen, steps = b"", list(DIALOG)
    while time.time() < limit and guest.poll() is None:
        if select.select([guest.stdout], [], [], 1)[0]:
            data = os.read(guest.stdout.fileno(), 65536)
            log.write(data)
            seen += data
        # The firmware draws letter by letter, with positions and colors in between.
        text = re.sub(rb"\033\[[0-9;]*[A-Za-z]", b"", seen)
        if steps and re.search(steps[0][0], text):
            # The screen is drawn to its end before it takes keys.
            for key in re.findall(rb"\033\[.|.", steps[0][1] or password, re.S):
                time.sleep(0.5)
                guest.stdin.write(key)
            seen = b""
            del steps[0]
    if guest.poll() is None:
        guest.send_signal(signal.SIGTERM)
        print("the guest did not end in time")
    if steps:
        print("MokManager did not show:", steps[0][0].decode())
    return bool(steps) or bool(guest.wait())


sys.exit(main())
