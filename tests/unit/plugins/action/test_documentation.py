"""The controller's actions take their arguments from their documentation; ansible-test checks modules."""

import importlib
import pathlib

from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.action import OnController

PLUGINS = "ansible_collections.sparkforge.dgx_spark.plugins"
COLLECTION = pathlib.Path(__file__).parents[4]


def test_options_of_controller_actions_come_from_their_documentation() -> None:
    names = [path.stem for path in sorted((COLLECTION / "plugins/action").glob("*.py"))]
    actions = [importlib.import_module(f"{PLUGINS}.action.{name}").ActionModule for name in names]
    specs = {
        action.__module__.rpartition(".")[2]: action.spec for action in actions if issubclass(action, OnController)
    }
    assert {"stack_facts", "stack_lock", "wheelhouse_manifest", "fleet_report"} <= set(specs)
    # The options come from the module's own documentation and from fragments.
    assert specs["stack_lock"]["parts"]["choices"] == ["archives", "wheels", "sources", "requirements"]
    assert specs["stack_lock"]["name"] == {"type": "str", "required": True}
    assert specs["stack_mirror"]["nvidia_url"]["default"] == "https://developer.download.nvidia.com"
    assert not [name for name, spec in specs.items() for option in spec.values() if "type" not in option]
    # no_log is not in the documentation, and invalid choices are refused by the action itself.
    assert specs["wheelhouse_manifest"]["password"]["no_log"]
    assert "choices" not in specs["stack_facts"]["method"]
