#!/usr/bin/env python3
"""Acts as systemd for sd_notify: _notify.py SOCKET FILE MICROSECONDS

Appends each message of the daemon to FILE, a line each. Appends FIRED if no WATCHDOG=1 came for that long after
the first message: systemd would then end the process. The program ends with the test."""
import socket
import sys

from _steady import steady

heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1])
period = int(sys.argv[3]) / 1e6
with open(sys.argv[2], "w", buffering=1) as out:
    fed = fired = None
    print("LISTENING", file=out)
    while True:
        heard.settimeout(None if fed is None or fired else 0.05)
        try:
            message = heard.recv(4096).decode()
        except TimeoutError:
            if steady() >= fed + period:
                fired = True
                print("FIRED", file=out)
            continue
        print(message, file=out)
        if fed is None or "WATCHDOG=1" in message:
            fed, fired = steady(), False
