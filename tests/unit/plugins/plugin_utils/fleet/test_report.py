"""Reports: their format, their files, a fleet's merged report, and the pages."""

import base64
import hashlib
import html.parser
import json
import re
import typing as t
from pathlib import Path

import jsonschema
import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.sanitize import text as clean
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import schema
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet import report as _report
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet.report import fleet as _fleet, form as _form
from sparkforge_proof.page import draw as _page

from tests import example_reports as examples

SCHEMA = schema.document("report")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EXAMPLES = {
    "healthy": examples.healthy(), "warned": examples.warned(), "broken": examples.broken(),
    "unproven": examples.unproven(), "hostile": examples.hostile(),
}  # fmt: skip
each_example = pytest.mark.parametrize("report", EXAMPLES.values(), ids=EXAMPLES)


def small_report() -> dict[str, t.Any]:
    """Return a short report with every kind of value."""
    report = examples.broken()
    names = ["attention.efficient_float32", "storage.gds", "speed.copy"]
    report["checks"] = [check for check in report["checks"] if check["name"] in names]
    report["drift"]["changes"] = report["drift"]["changes"][:1]
    return examples.counted(report)


def save(directory: Path, report: t.Any, host: str | None = None, check_mode: bool = False) -> None:
    stem = _fleet.file_stem(host or report["host"], check_mode)
    (directory / f"{stem}.json").write_text(json.dumps(report))


def test_the_schema_is_valid_strict_and_describes_each_key() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for part in (SCHEMA, SCHEMA["$defs"]["check"], SCHEMA["properties"]["summary"], SCHEMA["properties"]["drift"]):
        assert part["additionalProperties"] is False
        # Reports from earlier versions lack reasons, firmware and the survey's numbers; most checks lack the others.
        optional = {"reason", "accepted", "covered", "firmware", "mismatched", "compared", "coverage", "core_seconds"}
        optional |= {"blocks", "selected"}
        assert set(part["required"]) == set(part["properties"]) - optional
    for name, value in SCHEMA["properties"].items():
        assert value["description"], name


@each_example
def test_an_example_is_a_report(report: dict[str, t.Any]) -> None:
    VALIDATOR.validate(report)
    assert _form.report_problems(report) == []


def value_at(value: t.Any, path: t.Sequence[t.Any]) -> t.Any:
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("checks", 1, "status"), "maybe", "checks[1].status is 'maybe', write it as pass or warn or fail or skip"),
        (("checks", 2, "remedy"), "", "checks[2].remedy is empty"),
        (("checks", 1, "cause"), "", "checks[1].cause is empty"),
        (("checks", 1, "ratio"), float("inf"), "checks[1].ratio must be a number, not inf"),
        (("checks", 0, "seconds"), -1, "checks[0].seconds is -1 but must be 0 or more"),
        (("checks", 0, "colour"), "red", "checks[0].colour is not a"),
        (("verdict",), "proven", "summary.fail is 2 but must be 0"),
        (("summary", "pass"), 7, "summary does not"),
        (("checks", 0, "name"), "storage.gds", "entries named storage.gds"),
        (("started",), "yesterday", "started is 'yesterday', write it as 2026-"),
    ],
)
def test_problems_of_a_report_name_their_path(path: tuple[t.Any, ...], value: t.Any, message: str) -> None:
    report = examples.changed(small_report(), "speed.copy", status="fail", cause="Slow.", remedy="Look.")
    value_at(report, path[:-1])[path[-1]] = value
    assert message in "; ".join(_form.report_problems(report))


def test_a_run_with_check_is_never_proven() -> None:
    report = {**examples.healthy(), "check_mode": True}
    assert any("check_mode" in problem for problem in _form.report_problems(report))


def test_optional_keys_of_a_report_are_filled_in() -> None:
    partial = {"stack": "s", "method": "wheel", "profile": "generic", "lock": None, "gpu_required": False}
    partial.update(verdict="unproven", checks=[{"name": "driver", "status": "pass"}])
    report = _form.complete(partial, "spark01", True)
    VALIDATOR.validate(report)
    assert (report["host"], report["check_mode"], report["format"]) == ("spark01", True, 3)
    assert report["summary"] == {"pass": 1, "warn": 0, "fail": 0, "skip": 0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 1}, "format is 1 but must be 3"),
        ({"level": "host"}, "level is not a"),
        ({"checks": ["torch"]}, "checks[0]"),
        ({"checks": {"torch": "pass"}}, "checks"),
        ({"verdict": None}, "verdict is empty"),
    ],
)
def test_an_invalid_report_is_refused(change: dict[str, t.Any], message: str) -> None:
    with pytest.raises(SparkforgeError) as failure:
        _form.complete({**examples.healthy(), **change}, "spark01", False)
    assert message in failure.value.cause and "cuda_proof" in failure.value.remedy


def test_every_host_has_its_own_file_and_none_has_the_fleets() -> None:
    names = ["a", "A", "a/b", "a_b", "a b", ".a", "..a", "a.check", "[::1]:2222", "x" * 400]
    names += ["fleet", "Fleet", "index", "forecast", "../../etc/passwd", "/etc/passwd", "..hidden", "a\x00b", "\ud800"]
    stems = [_fleet.file_stem(name, check_mode) for name in names for check_mode in (False, True)]
    assert len(set(stems)) == len(stems)
    assert all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}", stem) for stem in stems)
    assert not {"fleet", "index", "forecast", "fleet.check", "index.check"} & {stem.lower() for stem in stems}
    assert _fleet.file_stem("spark01.example.com") == "spark01.example.com"


@pytest.mark.parametrize(
    ("content", "cause", "remedy"),
    [
        (None, "no report", "playbooks/verify.yml -l spark01"),
        (b"", "is damaged: Expecting value", "verify.yml"),
        (b'{"format": 3,', "is damaged", "verify.yml"),
        (b"\xff\xfe\x00", "is damaged", "verify.yml"),
        (b'{"format": NaN}', "NaN is not", "verify.yml"),
        (b"[" * 100_000, "is damaged", "verify.yml"),
        (b"[]", "has no format", "verify.yml"),
        (b'{"hello": "world"}', "has no format", "verify.yml"),
        (b'{"format": 1, "host": "spark01"}', "reads format 3", "verify.yml"),
        (b'{"format": true}', "has format True", "verify.yml"),
        (b'{"format": 3, "host": "spark01"}', "is damaged: stack is missing", "verify.yml"),
    ],
)
def test_a_report_that_cannot_be_used_is_named_with_cause_and_remedy(tmp_path, content: bytes | None, cause, remedy):
    path = tmp_path / "spark01.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SparkforgeError) as failure:
        _fleet.load(str(path), "spark01")
    assert str(path) in failure.value.cause and cause in failure.value.cause
    assert remedy in failure.value.remedy


def test_a_report_that_is_a_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "spark01.json").mkdir()
    with pytest.raises(SparkforgeError, match="cannot be read: Is a directory"):
        _fleet.load(str(tmp_path / "spark01.json"), "spark01")


def test_a_report_of_another_host_is_refused(tmp_path: Path) -> None:
    save(tmp_path, examples.healthy("spark02"), "spark01")
    with pytest.raises(SparkforgeError, match=r"belongs to spark02\."):
        _fleet.load(str(tmp_path / "spark01.json"), "spark01")


def fleet(directory: Path, *more: str, **options: t.Any) -> dict[str, t.Any]:
    hosts = ["spark10", "spark2", "spark1", *more]
    save(directory, examples.healthy("spark1"))
    save(directory, examples.healthy("spark10"))
    save(directory, examples.broken("spark2"))
    return _fleet.merge(str(directory), hosts, **options)


def test_every_host_is_listed_once_and_the_worst_come_first(tmp_path: Path) -> None:
    save(tmp_path, examples.unproven("spark3"))
    (tmp_path / "spark5.json").write_text("garbage")
    merged = fleet(tmp_path, "spark3", "spark4", "spark5", "spark1", "..")
    assert [(row["host"], row["verdict"]) for row in merged["hosts"]] == [
        ("spark2", "fail"), ("..", "no report"), ("spark4", "no report"), ("spark5", "no report"),
        ("spark3", "unproven"), ("spark1", "proven"), ("spark10", "proven"),
    ]  # fmt: skip
    assert merged["summary"] == {"hosts": 7, "proven": 2, "unproven": 1, "no report": 3, "fail": 1}
    causes = {row["host"]: row["cause"] for row in merged["hosts"]}
    assert "no report" in causes["spark4"] and "damaged" in causes["spark5"]
    assert all(row["remedy"] for row in merged["hosts"] if row["verdict"] == "no report")
    assert json.loads(_report.text(merged)) == merged


def test_reports_of_check_mode_and_real_runs_are_kept_apart(tmp_path: Path) -> None:
    save(tmp_path, {**examples.unproven("spark4"), "check_mode": True}, check_mode=True)
    real = fleet(tmp_path, "spark4")
    checked = fleet(tmp_path, "spark4", check_mode=True)
    assert {row["host"] for row in real["hosts"] if row["report"]} == {"spark1", "spark10", "spark2"}
    assert {row["host"] for row in checked["hosts"] if row["report"]} == {"spark4"}


@pytest.mark.parametrize(("require", "unmet"), [
    ("none", set()),
    ("unproven", {"spark2", "spark4"}),
    ("proven", {"spark2", "spark3", "spark4"}),
])  # fmt: skip
def test_hosts_below_the_required_verdict_are_unmet(tmp_path: Path, require: str, unmet: set[str]) -> None:
    save(tmp_path, examples.unproven("spark3"))
    rows = fleet(tmp_path, "spark3", "spark4")["hosts"]
    assert {row["verdict"] for row in rows} == {"fail", "no report", "unproven", "proven"}
    problems = {row["host"]: problem for row in rows if (problem := _fleet.unmet(row, require))}
    assert set(problems) == unmet and all(host in problem for host, problem in problems.items())


def test_an_unmet_requirement_names_checks_or_a_remedy(tmp_path: Path) -> None:
    save(tmp_path, examples.unproven("spark3"))
    problems = {row["host"]: _fleet.unmet(row, "proven") for row in fleet(tmp_path, "spark3", "spark4")["hosts"]}
    assert "matmul.fp8_rowwise" in problems["spark2"]
    assert "selected: cpu.matmul.float32." in problems["spark3"]
    assert "report_require: unproven" in problems["spark3"]
    assert "verify.yml -l spark4" in problems["spark4"]


def test_verdict_mentions_wrong_cpu_results_and_unjudged_checks(tmp_path: Path) -> None:
    report = examples.changed(
        examples.healthy("spark8"), "linalg.solve", status="warn", reason="unjudged", cause="First run.", remedy="Look."
    )
    save(tmp_path, report)
    row = next(row for row in fleet(tmp_path, "spark8")["hosts"] if row["host"] == "spark8")
    remark = _fleet.line(row).partition("spark8: proven on the GPU; ")[2].partition(" (")[0]
    assert remark.startswith("not judged") and remark.endswith(": linalg.solve")
    assert not _fleet.unmet(row, "proven")
    assert f"{remark}." in Page(_page.fleet_page(fleet(tmp_path, "spark8"), str(tmp_path))).text
    wrong = {"status": "fail", "reason": "wrong", "cause": "It is off.", "remedy": "Use another."}
    report = {**examples.changed(report, "cpu.matmul.float32", **wrong), "verdict": "fail"}
    row = {**row, "verdict": "fail", "report": report}
    cpu = "on the CPU matmul.float32 is wrong: It is off; "
    assert _fleet.line(row).startswith("spark8: fail; ") and cpu in _fleet.line(row) and remark in _fleet.line(row)
    unmet = _fleet.unmet(row, "proven")
    assert unmet.startswith("spark8 computes wrong numbers: cpu.matmul.float32 (") and cpu in unmet and remark in unmet


def test_a_hosts_line_contains_no_terminal_sequences() -> None:
    row = {"host": examples.HOSTILE, "verdict": "no report", "report": None, "cause": "\x1b[31mred", "remedy": "\u202e"}
    assert not re.search("[\x00-\x1f\u202e]", _fleet.line(row))


class Page(html.parser.HTMLParser):
    """The elements, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.raw: dict[str, str] = {}
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.raw[self._inside] = self.raw.get(self._inside, "") + data
        else:
            self.text += data

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _tag, attributes in self.tags if "id" in attributes]


def fleet_of(tmp_path: Path) -> str:
    save(tmp_path, examples.hostile())
    save(tmp_path, examples.unproven("spark3"))
    merged = fleet(tmp_path, "spark3", "spark4", examples.HOSTILE, stopped={"spark1": "lost in wave 2"})
    return _page.fleet_page(merged, str(tmp_path))


def test_a_warning_is_shown_counted_and_blocks_nothing(tmp_path: Path) -> None:
    save(tmp_path, examples.warned("spark7"))
    row = next(row for row in fleet(tmp_path, "spark7")["hosts"] if row["host"] == "spark7")
    assert (row["verdict"], row["report"]["summary"]["warn"], _fleet.unmet(row, "proven")) == ("proven", 3, "")
    assert ", 3 warn, 0 fail, " in _fleet.line(row)
    page = Page(_page.host_page(row["report"]))
    assert "3 warned" in page.text and "below its floor: at least 163.8 GB/s" in page.text
    assert "cuDSS is not installed" in page.text
    assert "wrong number" in page.text and "accepted" in page.text and "below a floor" in page.text
    assert [attributes.get("class") for _tag, attributes in page.tags].count("check warn") == 3
    assert "3 warned, " in Page(_page.fleet_page(fleet(tmp_path, "spark7"), str(tmp_path))).text


@pytest.fixture(params=[*EXAMPLES, "fleet"])
def page(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return fleet_of(tmp_path) if request.param == "fleet" else _page.host_page(EXAMPLES[request.param])


def test_a_page_uses_no_network_and_runs_only_its_own_script(page: str) -> None:
    parsed = Page(page)
    policy = next(a["content"] for tag, a in parsed.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy and "default-src 'none'" in policy
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(parsed.raw[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
        assert sum(tag == kind for tag, _attributes in parsed.tags) == 1
    assert not {"img", "iframe", "object", "embed", "base", "form"} & {tag for tag, _attributes in parsed.tags}
    for tag, attributes in parsed.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style", "srcdoc")], tag
        target = attributes.get("href") or "#"
        assert target.startswith("#") or target == "data:," or re.fullmatch(r"[\w.-]+\.html", target), target
    assert not re.search(r"@import|url\(", parsed.raw["style"])


def test_links_of_a_page_have_a_target_and_ids_are_unique(page: str) -> None:
    parsed = Page(page)
    assert len(set(parsed.ids)) == len(parsed.ids)
    for tag, attributes in parsed.tags:
        target = attributes.get("href") or ""
        assert not target.startswith("#") or target[1:] in parsed.ids, (tag, target)


def test_a_page_of_attacks_shows_them_as_text() -> None:
    parsed = Page(_page.host_page(examples.hostile()))
    attack = examples.HOSTILE.replace("\x1b", "\ufffd").replace("\u202e", "\ufffd")
    # The attack is in the host, stack, lock, profile, driver, kernel, device, packages, notices, drift, checks and
    # more.
    assert parsed.text.count(attack) > 30
    assert sum(tag == "script" for tag, _attributes in parsed.tags) == 1


@each_example
def test_a_page_shows_every_value_of_the_report(report: dict[str, t.Any]) -> None:
    text = " ".join(Page(_page.host_page(report)).text.split())

    def is_shown(value: str) -> bool:
        return " ".join(clean(value).split()) in text

    for check in report["checks"]:
        assert is_shown(check["name"])
        # The page shows the reason for a skip once for all checks that share it.
        for key in ("measured", "bound", "cause", "remedy"):
            assert is_shown(check[key]), (check["name"], key)
        for value in check["rates"].values():
            assert is_shown(_page._figure(value))
    versions = (*report["software"].values(), *report.get("firmware", {}).values())
    for value in (*report["notices"], report["lock"], report["kernel"], *versions):
        assert is_shown(value)
    for change in report["drift"]["changes"]:
        assert is_shown(change["before"]) and is_shown(change["now"])
    for count, word in ((report["summary"]["pass"], "passed"), (report["summary"]["fail"], "failed")):
        assert is_shown(f"{count} {word}")


def test_failures_come_before_skips_and_skips_before_passes() -> None:
    text = Page(_page.host_page(examples.broken())).text
    assert -1 < text.index("What to do") < text.index("cuFile is in compatibility") < text.index("4 wheels, sha256")


def test_the_fleets_page_has_a_column_for_each_host_and_links_only_pages_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "spark1.html").write_text("")
    page = Page(fleet_of(tmp_path))
    columns = [
        attributes for tag, attributes in page.tags if tag == "th" and "host" in (attributes.get("class") or "").split()
    ]
    assert len(columns) == 6
    assert [a["href"] for tag, a in page.tags if tag == "a" and str(a.get("href")).endswith(".html")] == ["spark1.html"]
    assert "no report" in page.text
    assert "lost in wave 2" in page.text


def test_a_page_of_many_hosts_details_only_the_worst(tmp_path: Path) -> None:
    names = [f"spark{number:03d}" for number in range(100, 161)]
    for name in names:
        save(tmp_path, examples.healthy(name))
        (tmp_path / f"{name}.html").touch()
    text = _page.fleet_page(fleet(tmp_path, *names), str(tmp_path))
    page = Page(text)
    assert "64 hosts" in page.text and f"the {_page.DETAILED} worst" in page.text
    sections = [str(a["id"]) for tag, a in page.tags if tag == "section" and "one" in str(a.get("class")).split()]
    assert len(sections) == _page.DETAILED
    links = {str(attributes["href"]) for tag, attributes in page.tags if tag == "a"}
    assert {f"#{anchor}" for anchor in sections} | {"spark160.html"} <= links
    assert {link[1:] for link in links if link.startswith("#")} <= set(page.ids)
    # Each further host adds only a card and a row of rates.
    fewer = _page.fleet_page(fleet(tmp_path, *names[:-1]), str(tmp_path))
    assert 0 < len(text) - len(fewer) < 3000


def test_the_next_command_is_shown_for_ready_hosts() -> None:
    rows = [{"host": f"spark{number}", "verdict": "proven"} for number in range(1, 6)]
    script = "/opt/sparkforge/bin/activate-torch"
    first, second = _fleet.next_lines(rows[:1], script)
    assert first == f"next, on spark1: . {script}"
    assert second.endswith('python -c "import torch; print(torch.__version__, torch.cuda.is_available())"')
    line = _fleet.next_lines(rows, script, ["spark2"])[0]
    assert line.startswith("next, on spark1, spark2, spark3 and 2 more, after a new") and line.endswith(f": . {script}")
    # If no verdict is required, a host may have failed and have no environment.
    assert _fleet.next_lines([{"host": "spark1", "verdict": "fail"}], script) == []
    assert _fleet.next_lines(rows, "") == []
