"""The list of mutants, ``tests/mutants/*.yml``: guards, each with the text that breaks it and the tests that notice.

::

    - id: a pin is compared by its first digits alone   # the guard that is broken
      file: plugins/module_utils/_fetch/http.py
      text: digest == pin                                # stands there once, or the list is refused
      becomes: digest[:8] == pin[:8]
      tests:
        - tests/unit/…/test_http.py::test_all_digits_of_pin_are_compared
      survives: why no test can notice                   # only of one that does survive
"""

import ast
import dataclasses
import re
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).parents[2]


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A guard and the way in which it is broken.

    :ivar area: the name of the file that lists it.
    :ivar tests: pytest node ids, of which at least one must fail.
    :ivar survives: why no test fails; '' if one does.
    """

    area: str
    id: str
    file: str
    text: str
    becomes: str
    tests: tuple[str, ...]
    survives: str = ""

    def broken(self) -> str:
        """Return the content of the file with the guard broken.

        :raises ValueError: if the text does not occur exactly once.
        """
        content = (CHECKOUT / self.file).read_text(encoding="utf-8")
        count = content.count(self.text)
        if count != 1:
            raise ValueError(f"{self.area}: {self.id}: the text stands {count} times in {self.file}")
        return content.replace(self.text, self.becomes)

    def problem(self) -> str:
        """Return the reason why the mutant would prove nothing, or ''."""
        try:
            broken = self.broken()
            if self.file.endswith(".py"):
                ast.parse(broken)
            elif self.file.endswith(".yml"):
                yaml.safe_load(broken)
        except (OSError, ValueError, SyntaxError, yaml.YAMLError) as error:
            return str(error)
        if self.text == self.becomes:
            return f"{self.area}: {self.id}: nothing is changed"
        for test in self.tests:
            file, _colons, name = test.partition("::")
            path, function = CHECKOUT / file, name.partition("[")[0]
            if not path.is_file() or not re.search(rf"^def {re.escape(function)}\(", path.read_text(), re.M):
                return f"{self.area}: {self.id}: there is no test {test}"
        return "" if self.tests or self.survives else f"{self.area}: {self.id}: no test is named"


def load() -> list[Mutant]:
    """Return all mutants, area by area.

    :raises TypeError: for an unknown or missing key.
    """
    return [
        Mutant(path.stem, **{**row, "tests": tuple(row["tests"])})
        for path in sorted(Path(__file__).parent.glob("*.yml"))
        for row in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]
