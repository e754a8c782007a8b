"""Update an installed package's RECORD after a file was changed.

With an updated RECORD, a planted fault looks like a faulty build, not like damage after installation.
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
    """Write the hash and size of files in site-packages to their package's RECORD.

    :raises LookupError: if no package has such a file.
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
