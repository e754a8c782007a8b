#!/usr/bin/python3

"""A stand-in for perftest's ib_write_bw: both ends connect over TCP, and the rate is read from a file.

Usage: ``ib_write_bw -d DEVICE -p PORT … [ADDRESS]``; without the address it is the server. The lower /srv/rate is
reported.
"""

import argparse
import socket
import sys
from pathlib import Path

TABLE = """\
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      928000           0.00               {:.2f}             0.185547
"""


def main() -> None:
    """Connect to the other end and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-d", required=True)
    parser.add_argument("-p", type=int, required=True)
    for name in ("-i", "-q", "-D", "-x"):
        parser.add_argument(name)
    parser.add_argument("-F", action="store_true")
    parser.add_argument("--report_gbits", action="store_true")
    parser.add_argument("address", nargs="?")
    options = parser.parse_args()
    mine = Path("/srv/rate").read_text().strip()
    if options.address:
        try:
            meeting = socket.create_connection((options.address, options.p), timeout=10)
        except OSError:
            sys.exit(f" Couldn't connect to {options.address}:{options.p}")
    else:
        with socket.create_server(("", options.p)) as server:
            meeting, _ = server.accept()
    with meeting:
        meeting.sendall(mine.encode() + b"\n")
        theirs = meeting.makefile().readline()
    sys.stdout.write(TABLE.format(min(float(mine), float(theirs))))


if __name__ == "__main__":
    main()
