"""The inventory plugin discover."""

import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.inventory import discover
from ansible_collections.sparkforge.dgx_spark.tools import discovery


def test_the_documented_defaults_are_those_of_the_code() -> None:
    options = yaml.safe_load(discover.DOCUMENTATION)["options"]
    assert tuple(options["names"]["default"]) == discovery.FACTORY_NAMES
    assert tuple(options["services"]["default"]) == discovery.SERVICES
    assert options["wait"]["default"] == discovery.WAIT
