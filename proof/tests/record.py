"""Update the RECORD of an installed package after a file was changed.

With it, a planted fault is a package that was built wrong, not a package that was damaged after its installation.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import typing as t

if t.TYPE_CHECKING:
    from proof.tests.environment import Environment


def rewrite(environment: Environment, *paths: str) -> None:
    """Write the hash and size of files in site-packages to the RECORD of their package.

    :raises LookupError: no package has such a file.
    """
    missing = set(paths)
    for record in environment.site_packages.glob("*.dist-info/RECORD"):
        rows = list(csv.reader(record.read_text().splitlines()))
        if missing.isdisjoint(row[0] for row in rows):
            continue
        for row in rows:
            if row[0] in missing:
                content = (environment.site_packages / row[0]).read_bytes()
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                row[1:] = [f"sha256={digest}", str(len(content))]
                missing.discard(row[0])
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        # The RECORD is a hard link to the healthy environment's file.
        record.unlink()
        record.write_text(text.getvalue())
    if missing:
        raise LookupError(f"no RECORD has {sorted(missing)}")
