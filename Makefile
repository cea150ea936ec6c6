# Every command of the repository. `make help` lists them from the comments behind the targets.

PYTHON ?= python3
BIN := .venv/bin
UV := .tools/bin/uv
MEMBERS := $(patsubst %/pyproject.toml,%,$(wildcard packages/*/pyproject.toml))
STAMP := .venv/.stamp
export UV_PYTHON_DOWNLOADS := never
export UV_NO_PROGRESS := 1

.DEFAULT_GOAL := gates
.PHONY: gates setup test contract demo site bench fmt lock generate dist release clean help

gates: $(STAMP) ## check everything that needs no test run (the default)
	@$(BIN)/python scripts/gates.py

setup: $(STAMP) ## install the locked tools and the packages into .venv

test: $(STAMP) ## run the tests (ARGS="-k name" narrows them)
	@$(BIN)/python -m pytest -q -n 2 --dist loadgroup $(ARGS)

contract: $(STAMP) ## run the persistence contract alone, on every backend
	@$(BIN)/python -m pytest -q tests/persistence/test_contract_memory.py tests/jsonl/test_contract.py tests/sqlite/test_contract.py $(ARGS)

demo: $(STAMP) ## watch an agent being killed and resumed
	@$(BIN)/python -m dsh_agent.demo

site: $(STAMP) ## build the site and serve it on loopback with live reload
	@$(BIN)/python scripts/site.py serve

bench: $(STAMP) ## print product, floor and ratio of each measured path (ARGS=stage: the site)
	@$(BIN)/python bench/run.py $(ARGS)

fmt: $(STAMP) ## format and fix what can be fixed
	@$(BIN)/ruff format -q .
	@$(BIN)/ruff check -q --fix . || true

generate: $(STAMP) ## write the generated parts of the documentation
	@$(BIN)/dsh-rfc generate

dist: $(STAMP) ## build sdist and wheel of every distribution into dist/
	@$(BIN)/python scripts/dist.py

release: $(STAMP) ## everything up to the tag (VERSION=1.2.3; DRY=0 does it)
	@$(BIN)/python scripts/release.py $(if $(filter 0,$(DRY)),--no-dry-run) "$(VERSION)"

# The one place that asks an index for versions. Exports carry hashes and no host.
lock: $(UV) ## renew the locked versions
	@rm -f uv.lock
	@$(UV) lock --quiet
	@$(UV) export --quiet --no-emit-workspace --all-packages --all-extras --all-groups \
	  --no-header --no-annotate --no-emit-index-url -o requirements/dev.txt
	@echo uv | $(UV) pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url -o requirements/uv.txt -
	@! grep -nE '://' requirements/*.txt

clean: ## remove what was installed and built
	@rm -rf .venv .tools build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## list these commands
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

$(UV): requirements/uv.txt
	@rm -rf .tools
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-input --require-hashes \
	  --no-deps --root-user-action ignore --target .tools -r requirements/uv.txt
	@touch $(UV)

$(STAMP): $(UV) requirements/dev.txt pyproject.toml $(MEMBERS:%=%/pyproject.toml)
	@$(UV) venv --quiet --clear --python $(PYTHON) .venv
	@$(UV) pip install --quiet --python $(BIN)/python --require-hashes --no-deps --compile-bytecode \
	  -r requirements/dev.txt
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation \
	  -e . $(MEMBERS:%=-e ./%)
	@$(BIN)/python -m compileall -q scripts packages
	@touch $(STAMP)
