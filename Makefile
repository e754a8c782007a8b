# Two commands do everything: `make spark` and `make test`. `make help` lists the rest.
# The first Python that is new enough; PYTHON=/path/to/python3 names another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)
NEW_PYTHON = python="$(PYTHON)"; "$${python:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
  echo "make: Python 3.11 or newer is needed, and this is $$("$${python:-python3}" -V 2>&1). Install one, or name it:" \
  "make PYTHON=/path/to/python3.12" >&2; exit 1; }
VENV := .venv
BIN := $(VENV)/bin
# The bench of `make demo` and `make lab`: its name, and arm64 (emulated elsewhere) or native, which is quick.
BENCH := demo
PLATFORM := arm64
# What `make fuzz` tries of each parser.
EXAMPLES := 2000
# What `make mutants` and `make chaos` run side by side.
JOBS := 1
# Which of the proof's faults `make test` plants, and which sample of the chaos: every worker has to know the day.
export SPARKFORGE_DAY ?= $(shell date +%-j)
export SPARKFORGE_CACHE ?= $(HOME)/.cache/sparkforge
# The lab starts containers and registers an emulator, which takes root.
ROOT := lab/as_root
# Three on 2 cores, since those that use containers wait half of their time. A file's tests stay in one worker, in the
# order of their paths.
WORKERS := -n 3 --dist loadfile --no-loadscope-reorder
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export PATH := $(CURDIR)/$(BIN):$(PATH)
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
# As `sparkforge setup` does it: the lab's tests want NVIDIA's libraries and the compilers as well.
LAB_PLAY = $(BIN)/ansible-playbook -i inventory/lab.yml site.yml -l spark01 -e stack_libraries=auto

.DEFAULT_GOAL := help
.PHONY: help machine spark setup fast demo test test-fleet test-long test-pytorch fuzz guided-fuzz mutants chaos proof guard record lint unit integration molecule lab
.PHONY: lab-down bench build docs nox recording release-notes release-check release github-release publish

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

spark: $(VENV)/.command ## set up the Sparks in your network, or where there is none, a simulated one (ARGS="--host NAME")
	@$(BIN)/python -m lab.spark $(ARGS)

setup: $(VENV)/.ready ## make .venv with Ansible, the command sparkforge and the test tools

# What sets Sparks up, real or simulated, and no more, so that an owner does not wait for the test tools.
$(VENV)/.command: requirements.txt
	@$(NEW_PYTHON)
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { $(ROOT) apt-get update -q && $(ROOT) apt-get install -y -q \
	  "$$("$(PYTHON)" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"; }
	@echo "setup: making $(VENV) (half a minute)"
	"$(PYTHON)" -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -r requirements.txt -e . || { echo "make: pip could not install Ansible; its" \
	  "reason is above. 'from versions: none' means that it reached no package index: connect this machine, log in to the" \
	  "network, or set HTTPS_PROXY. Then run the same command again." >&2; exit 1; }
	touch $@

$(VENV)/.ready: requirements-dev.txt $(VENV)/.command
	@echo "setup: adding the test tools (a minute)"
	$(BIN)/pip install -q --disable-pip-version-check -r requirements-dev.txt
	touch $@

lab: machine $(VENV)/.command ## bring up the lab: spark01 (ARM64; PLATFORM=native) and the mirror; HOSTS=16: a native fleet
	$(ROOT) $(BIN)/python -m lab up $(if $(HOSTS),--bench fleet --count $(HOSTS),--bench $(BENCH) --platform $(PLATFORM))

machine:
	@$(ROOT)

demo: lab ## provision a simulated Spark twice, say what that has shown, and open the page of it
	@mkdir -p reports
	@echo "demo: step 1 of 2: provision spark01"
	$(LAB_PLAY)
	@echo "demo: step 2 of 2: again, to show that nothing changes"
	$(LAB_PLAY) | tee reports/second-run.log
	@$(BIN)/python -m lab.demo

lab-down: ## end what `make demo` and `make lab` started and put binfmt back as it was
	$(ROOT) $(BIN)/python -m lab down --bench $(BENCH)
	$(ROOT) $(BIN)/python -m lab down --bench fleet

# What differs from where this branch left main; the linters look at all files where nothing does.
CHANGED = $(shell { git diff --name-only --diff-filter=d "$$(git merge-base HEAD main 2>/dev/null || echo HEAD)"; \
	git ls-files --others --exclude-standard; } | grep -E '\.py$$' | sort -u)

fast: setup ## while you work, under a minute: ruff on changed files, and every unit test that starts no program
	$(BIN)/ruff check $(or $(CHANGED),.)
	$(BIN)/ruff format --check $(or $(CHANGED),.)
	$(BIN)/pytest -q -r fE $(WORKERS) --no-programs tests/unit tests/golden guard/tests/unit proof/tests/unit

# Tests start some thousand processes that import these.
COMPILED = cli guard/src lab plugins proof tests

# The containers' image is built while pip waits for the package index. If that fails, the first test that needs the
# image says why.
IMAGE = from lab import host, image; image.build(host.native_architecture())

test: $(VENV)/.command ## every test but the long ones: lint, unit, containers
	$(ROOT) $(BIN)/python -c "$(IMAGE)" & make --no-print-directory setup && wait
	$(BIN)/python -m compileall -q -j 2 $(COMPILED)
	$(ROOT) $(BIN)/pytest $(WORKERS) -m "not long" --durations=15 tests guard/tests proof/tests

test-long: test-fleet ## the long ones: molecule and builds on ARM64, emulated elsewhere (more than an hour), a fleet of 16
	$(ROOT) $(BIN)/pytest -v -m long --durations=15 --ignore=tests/fleet tests guard/tests proof/tests

test-fleet: setup ## of test-long only the rollout on 16 containers, with faults
	$(ROOT) $(BIN)/pytest -v --durations=15 tests/fleet

fuzz: setup ## every reader of what others write, fed with EXAMPLES=2000 of anything each
	$(BIN)/python -m tests.fuzz $(EXAMPLES)

guided-fuzz: setup ## the same by atheris, which changes what reached something new; installs it
	$(BIN)/pip install -q --disable-pip-version-check atheris==3.0.0
	$(BIN)/python -m tests.fuzz --guided $(EXAMPLES)

PROGRAMS = PYTHONPATH=.collections $(BIN)/python -m ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs

proof: $(VENV)/.command ## make dist/sparkforge-proof.pyz, the proof as one file for any Python that has torch
	$(PROGRAMS) $@ dist/sparkforge-proof.pyz

guard: $(VENV)/.command ## make dist/sparkforge-guard.pyz, the guard as one file for any Python
	$(PROGRAMS) $@ dist/sparkforge-guard.pyz

record: $(VENV)/.command ## make dist/sparkforge-record.pyz, which records the machine that it runs on for who helps its owner
	PYTHONPATH=cli $(BIN)/python -m sparkforge.record dist/sparkforge-record.pyz

mutants: setup ## break each guard of tests/mutants and see a test fail, in containers; writes docs/mutants.md (JOBS=2)
	$(ROOT) $(BIN)/python -m tests.mutants --write -j $(JOBS)

chaos: setup ## break the site on lab hosts at every point of tests/chaos, see it recover; writes docs/chaos.md (JOBS=2)
	$(ROOT) $(BIN)/python -m tests.chaos --write -j $(JOBS)

test-pytorch: setup ## of test-long only PyTorch for the CPU, from Debian's source; interrupted, it goes on
	$(ROOT) $(BIN)/pytest -v -m long --durations=15 tests/long/test_pytorch_cpu.py

# `make nox` for those that need nothing but Python and an index; CI has the others too.
SESSIONS ?= lint docs-check extra-checks build-import-check

nox: setup ## antsibull-nox's sessions (SESSIONS="ansible-test-sanity-2.21 units(core-2.20.10)"); `nox -l` lists them
	$(BIN)/nox --sessions $(foreach session,$(SESSIONS),"$(session)")

lint: setup ## the linters alone
	$(BIN)/pytest tests/lint

unit: setup ## the unit tests alone
	$(BIN)/pytest tests/unit guard/tests/unit proof/tests/unit

integration: setup ## the tests on containers alone
	$(ROOT) $(BIN)/pytest tests/integration

molecule: setup ## the molecule scenarios alone
	$(ROOT) $(BIN)/pytest tests/molecule

bench: setup ## print the figures of benchmarks/, each beside its baseline
	$(ROOT) $(BIN)/python -m benchmarks.noop
	$(BIN)/python -m benchmarks.engine
	$(ROOT) $(BIN)/python -m benchmarks.fleet

build: setup ## build the collection's tarball
	$(BIN)/ansible-galaxy collection build --force

VERSION = $(shell sed -n 's/^version: //p' galaxy.yml)

docs: .venv-docs/.ready ## build the documentation's site in dist/docs/html; a broken link fails it
	.venv-docs/bin/python -m lab.site

recording: setup .venv-docs/.ready ## record `make demo` as docs/demo.cast, demo.svg and demo-report.png (PLATFORM=native; BENCH=recording)
	.venv-docs/bin/python -m lab.recording $(PLATFORM) $(BENCH)

.venv-%/.ready: requirements-%.txt
	@$(NEW_PYTHON)
	"$(PYTHON)" -m venv .venv-$*
	.venv-$*/bin/pip install -q --disable-pip-version-check -r $<
	touch $@

release-notes: setup ## turn the fragments into the chapter of CHANGELOG.rst of the version in galaxy.yml
	$(BIN)/antsibull-changelog release

release-check: build .venv-release/.ready ## whether Galaxy takes the tarball, without a warning
	@mkdir -p dist
	cd dist && PATH="$(CURDIR)/.venv-release/bin:$$PATH" ../.venv-release/bin/python -m galaxy_importer.main \
	  ../sparkforge-dgx_spark-$(VERSION).tar.gz 2>&1 | tee galaxy.log
	@! grep -E 'WARNING|ERROR' dist/galaxy.log

release: setup ## make dist/release: tarball, SHA256SUMS and, with SPARKFORGE_SIGNING_KEY, its signature
	$(BIN)/python -m lab.release

github-release: ## for the workflow: bring dist/release to the repository's page of releases
	gh release create v$(VERSION) --verify-tag --title $(VERSION) --notes-file CHANGELOG.rst dist/release/*

publish: setup ## for the workflow: bring the tarball to Galaxy
	$(BIN)/ansible-galaxy collection publish dist/release/sparkforge-dgx_spark-$(VERSION).tar.gz
