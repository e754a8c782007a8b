# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stands for a model server: takes vLLM's command line, answers /health, and says at / what it was started with."""

from __future__ import annotations

import argparse
import http.server
import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Serve until it is ended; a model without config.json ends it at once, as it does an engine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("model")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--gpu-memory-utilization", type=float)
    parser.add_argument("--served-model-name")
    options = parser.parse_args()
    if not (Path(options.model) / "config.json").exists():
        sys.exit(f"ValueError: no config.json in {options.model}")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            started = {**vars(options), "prefix": sys.prefix, "uid": os.getuid(), "environment": dict(os.environ)}
            body = b"" if self.path == "/health" else json.dumps(started).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    http.server.ThreadingHTTPServer((options.host, options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
