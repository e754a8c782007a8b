# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The arguments of the actions on the controller are those of their documentation; ansible-test checks modules."""

from __future__ import annotations

import importlib
import pathlib
import typing as t

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.action import OnController
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack.load import SHIPPED

PLUGINS = "ansible_collections.sparkforge.dgx_spark.plugins"
COLLECTION = pathlib.Path(__file__).parents[4]


def actions() -> dict[str, type[OnController]]:
    """Return the actions that have no module behind them, by name."""
    names = [path.stem for path in sorted((COLLECTION / "plugins/action").glob("*.py"))]
    found = {name: importlib.import_module(f"{PLUGINS}.action.{name}").ActionModule for name in names}
    return {name: action for name, action in found.items() if issubclass(action, OnController)}


def described(argument: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return what an argument and its documentation must agree on."""
    default = argument.get("default")
    return {
        "type": argument.get("type", "str"),
        "elements": argument.get("elements"),
        "required": argument.get("required", False),
        "choices": list(argument["choices"]) if "choices" in argument else None,
        # Where this collection lies is not the same on two controllers.
        "default": None if default == SHIPPED else list(default) if isinstance(default, tuple) else default,
    }


def test_every_action_of_the_controller_is_looked_at() -> None:
    assert {"stack_facts", "stack_lock", "wheelhouse_manifest", "fleet_report"} <= set(actions())


def documented(name: str) -> dict[str, t.Any]:
    """Return the options of a module's documentation, those of its fragments included."""
    module = importlib.import_module(f"{PLUGINS}.modules.{name}")
    found = yaml.safe_load(module.DOCUMENTATION)
    options = dict(found["options"])
    for fragment in found["extends_documentation_fragment"]:
        file, _dot, variant = fragment.removeprefix("sparkforge.dgx_spark.").partition(".")
        texts = importlib.import_module(f"{PLUGINS}.doc_fragments.{file}").ModuleDocFragment
        options.update(yaml.safe_load(getattr(texts, variant.upper() or "DOCUMENTATION"))["options"])
    return options


@pytest.mark.parametrize("name", sorted(actions()))
def test_the_arguments_are_those_of_the_documentation(name: str) -> None:
    options = {key: described(value) for key, value in documented(name).items()}
    arguments = {key: described(value) for key, value in actions()[name].ARGUMENTS.items()}
    if name == "stack_facts":
        # It refuses another method itself, and says which name is nearest.
        assert options["method"].pop("choices") == ["wheel", "build"] and not arguments["method"].pop("choices")
    assert arguments == options
