# The two commands of a newcomer are `make demo` and `make test`. Each makes the environment it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LOCKS := $(wildcard requirements/*.txt)
INSTALL := $(BIN)/python -m pip install --quiet --require-hashes --no-deps --no-build-isolation
PORT ?= 8000
# Of what runs in the tests' own processes, but for those that drive a browser or a model; COVERAGE= leaves it out.
COVERAGE ?= --cov --cov-report=term
NOT_OURS := --ignore $(VENV) --ignore var --ignore tests --ignore benchmarks --ignore "recipes/*/demo/*"

.PHONY: help demo demo-reset test test-services test-slow check fix messages browser lock clean

help:
	@echo "make demo        a study to try, on http://127.0.0.1:$(PORT)/ (PORT=… for another)"
	@echo "make demo-reset  the demo from its beginning"
	@echo "make test        the tests, on SQLite, browser included"
	@echo "make test-slow   all tests, the slow ones too"
	@echo "make test-services DATABASE_URL=postgres://… REDIS_URL=redis://…   the tests that use a database, on these"
	@echo "make check       formatting, lint, types, layers, migrations; scripts too, where Node is; changes nothing"
	@echo "make fix         mends what can be mended by itself"
	@echo "make lock        writes requirements/*.txt after a change of pyproject's dependencies; UPGRADE=1 to newer versions"
	@echo "make messages    collects the sentences to translate and compiles the translations; needs GNU gettext"

# Exact versions with hashes, so that no package but the one that was tested is installed; `make lock` writes them. torch's CPU
# build is taken where pip finds it, else the one of the public index. A failed installation leaves no stamp, so the next call
# takes it up again.
$(STAMP): $(LOCKS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -r requirements/build.txt
	$(INSTALL) -r requirements/torch-cpu.txt || $(INSTALL) -r requirements/torch.txt
	$(INSTALL) -r requirements/app.txt -r requirements/dev.txt
	touch $(STAMP)

lock: $(STAMP)
	$(BIN)/python -m pip install --quiet --group lock
	$(BIN)/python requirements/lock.py $(if $(UPGRADE),--upgrade)

demo: $(STAMP)
	@PALATE_ENV=demo $(BIN)/python -m config.demo --port $(PORT)

demo-reset:
	rm -rf var
	@$(MAKE) --no-print-directory demo

browser: $(STAMP)
	@$(BIN)/python tests/browser.py

test: $(STAMP) browser
	@$(BIN)/python tests/node.py test
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadgroup $(COVERAGE) $(ARGS)

test-slow: $(STAMP) browser
	@$(BIN)/python tests/node.py test
	$(BIN)/python -m pytest $(ARGS)

test-services: $(STAMP) browser
	DATABASE_URL=$(DATABASE_URL) CELERY_BROKER_URL=$(REDIS_URL) $(BIN)/python -m pytest -m "services and not slow" -n 2 --dist loadgroup $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PALATE_ENV=test $(BIN)/mypy
	$(BIN)/lint-imports
	PALATE_ENV=test $(BIN)/python manage.py makemigrations --check --dry-run
	PALATE_ENV=test $(BIN)/python manage.py check
	$(BIN)/python tests/node.py check

fix: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python tests/node.py fix

messages: $(STAMP)
	PALATE_ENV=test $(BIN)/python manage.py makemessages --locale cs --no-wrap --add-location file --no-obsolete $(NOT_OURS)
	PALATE_ENV=test $(BIN)/python manage.py compilemessages --locale cs $(NOT_OURS)

clean:
	rm -rf var staticfiles .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
