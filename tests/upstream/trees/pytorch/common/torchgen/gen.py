# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the registrations of the operators: python -m torchgen.gen --functions FILE --output DIRECTORY."""

import argparse
from pathlib import Path

import yaml

FILES = 4


def _write(path: Path, text: str) -> None:
    """Leave a correct file alone, so that the files that include it are not compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--functions", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    names = [entry["func"] for entry in yaml.safe_load(arguments.functions.read_text())]
    arguments.output.mkdir(parents=True, exist_ok=True)
    signature = "(const double *values, long count);"
    declarations = "".join(f"double {name}{signature}\n" for name in names)
    header = "#pragma once\nstruct Entry { const char *name; double (*function)(const double *, long); };\n"
    _write(arguments.output / "Ops.h", f"{header}namespace at::native {{\n{declarations}}} // namespace at::native\n")
    for number in range(FILES):
        part = names[number::FILES]
        rows = "".join(f'    {{"{name}", at::native::{name}}},\n' for name in part)
        text = "#include <ATen/Ops.h>\n#include <fixture_weight.h>\n"
        text += f"extern const Entry entries{number}[] = {{\n{rows}    {{nullptr, nullptr}},\n}};\n"
        text += f"double registerWork{number}(const double *values, long count) "
        text += f"{{ return fixture::work<{5000 + 100 * number}>(values, count); }}\n"
        if number == 0:
            text += _dispatcher(names)
        _write(arguments.output / f"RegisterCPU_{number}.cpp", text)


def _dispatcher(names: list) -> str:
    declared = "".join(f"extern const Entry entries{number}[];\n" for number in range(FILES))
    listed = "".join(f'    "{name}",\n' for name in names)
    return (
        "#include <cstring>\n#include <initializer_list>\n#include <torch/csrc/torch.h>\n"
        f"{declared}"
        f"static const char *const allNames[] = {{\n{listed}    nullptr,\n}};\n"
        "const char *const *at::operators() { return allNames; }\n"
        "bool at::call(const char *name, const double *values, long count, double *result) {\n"
        f"  for (auto entries : {{{', '.join(f'entries{number}' for number in range(FILES))}}})\n"
        "    for (auto entry = entries; entry->name; ++entry)\n"
        "      if (!std::strcmp(entry->name, name)) {\n"
        "        *result = entry->function(values, count);\n"
        "        return true;\n"
        "      }\n"
        "  return false;\n"
        "}\n"
    )


if __name__ == "__main__":
    main()
