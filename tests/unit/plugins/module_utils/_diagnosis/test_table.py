"""Tests for the reader of rule files, and for explain(), which finds the rule for a short text."""

import types

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.table import Rule, explain, load

TEXT = r"""
# A comment is not a field.
[bulbs]
values =
    bulb of where: cellar => a red bulb

[no-lamp]
keys =
    lamp
    bulb
pattern =
    no lamp in (?P<where1>\w+)
    '(?P<where2>\w+)' has lost its bulb(?: to (?P<thief>\w+))?
unless = WARNING
cause = The room {where} is dark[: {thief} was there].
values =
    bulb of where: attic => a bulb that crows leave
    as in bulbs
    bulb of where: . => a bulb
remedy = Put in
    {bulb}.

[no-door]
keys = door
pattern = no door (\w+)
every = yes
cause = There is no door {found} [of wood].
remedy = Use the window.
"""


def rules(text: str = TEXT) -> tuple[Rule, ...]:
    topic = types.ModuleType("house")
    topic.RULES = text  # type: ignore[attr-defined]
    return load(topic)


def test_rule_file_is_parsed() -> None:
    lamp, door = rules()
    assert (lamp.name, lamp.keys, lamp.remedy) == ("no-lamp", ("lamp", "bulb"), "Put in {bulb}.")
    assert [text for *_pattern, text in lamp.values] == ["a bulb that crows leave", "a red bulb", "a bulb"]
    assert lamp.pattern.endswith(r"|'(?P<where2>\w+)' has lost its bulb(?: to (?P<thief>\w+))?")
    assert (lamp.every, door.every) == (False, True)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("no lamp in hall", "The room hall is dark."),
        ("`attic' has lost its bulb to crow", "The room attic is dark: crow was there."),
        ("no door b, no door a, no door b", "There is no door a, b [of wood]."),
        ("WARNING: no lamp in hall\nno lamp in cellar", "The room cellar is dark."),
    ],
)
def test_explain_uses_first_matching_rule(text: str, cause: str) -> None:
    match = explain(text, rules())
    assert match and match.cause == cause


def test_explain_takes_values_from_the_caller() -> None:
    match = explain("no lamp in hall", rules(), thief="magpie")
    assert match and (match.rule, match.cause) == ("no-lamp", "The room hall is dark: magpie was there.")
    assert match.groups == {"found": "hall", "where": "hall", "thief": "magpie"}
    assert explain("all is bright", rules()) is None
    assert explain("WARNING: no lamp in hall", rules()) is None


def test_values_of_digits_matter_only_to_some_patterns() -> None:
    patterns = {r"line (\d+): [a-z0-9]{2,4}": False, r"Xid 79": True, r"(?P<a2>\w) (?P=a2)": True, r"(\w)\1": True}
    texts = (f"[x]\nkeys = l\npattern = {pattern}\ncause = .\nremedy = .\n" for pattern in patterns)
    assert [rules(text)[0].tells_digits_apart for text in texts] == list(patterns.values())


def test_rule_with_condition_needs_the_other_rule() -> None:
    text = "[draught]\nkeys = wind\npattern = wind\nwhen = no-door\ncause = It draws.\nremedy = Wait.\n"
    both = rules(text + TEXT)
    assert explain("wind", both) is None
    match = explain("wind\nno door b", both)
    assert match and match.rule == "draught"


def test_passwords_of_urls_are_hidden() -> None:
    (rule,) = rules("[x]\nkeys = u\npattern = at (\\S+)\ncause = {found}\nremedy = .\n")
    match = explain("at https://me:p@ss@house/x", [rule])
    assert match and match.cause == "https://house/x"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a]\nkeys = x\n", r"house: rule a: .*missing 3 required"),
        ("[a]\ncolour = red\n", r"rule a: .*unexpected keyword argument 'colour'"),
        ("[a]\nkeys = x\nkeys = y\n", r"house' \[line  3\]: option 'keys' in section 'a' already exists"),
        ("[a]\nnotice = maybe\n", r"rule a: 'maybe'"),
        ("[a]\nkeys = x\ny\n", r"(?s)house.*line  3\]: 'y"),
        ("keys = x\n", r"(?s)no section headers.*house', line: 1"),
    ],
)
def test_mistake_in_rule_file_is_named_with_position(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        rules(text)
