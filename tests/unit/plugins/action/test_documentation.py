"""The actions on the controller take their arguments from their documentation; ansible-test checks modules."""

import importlib
import pathlib

from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.action import OnController

PLUGINS = "ansible_collections.sparkforge.dgx_spark.plugins"
COLLECTION = pathlib.Path(__file__).parents[4]


def test_every_action_of_the_controller_takes_what_its_documentation_has_and_nothing_else() -> None:
    names = [path.stem for path in sorted((COLLECTION / "plugins/action").glob("*.py"))]
    found = [importlib.import_module(f"{PLUGINS}.action.{name}").ActionModule for name in names]
    specs = {action.__module__.rpartition(".")[2]: action.spec for action in found if issubclass(action, OnController)}
    assert {"stack_facts", "stack_lock", "wheelhouse_manifest", "fleet_report"} <= set(specs)
    # Of the module's own text, of a fragment, and of a variant of one.
    assert specs["stack_lock"]["parts"]["choices"] == ["archives", "wheels", "sources", "requirements"]
    assert specs["stack_lock"]["name"] == {"type": "str", "required": True}
    assert specs["stack_mirror"]["nvidia_url"]["default"] == "https://developer.download.nvidia.com"
    assert not [name for name, spec in specs.items() for option in spec.values() if "type" not in option]
    # What the documentation cannot say, or says of what the action refuses by a message of its own.
    assert specs["wheelhouse_manifest"]["password"]["no_log"]
    assert "choices" not in specs["stack_facts"]["method"]
