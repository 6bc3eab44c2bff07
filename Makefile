# The two commands of a newcomer are `make demo` and `make test`. Each makes the environment it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LOCKS := $(wildcard requirements/*.txt)
INSTALL := $(BIN)/python -m pip install --quiet --require-hashes --no-deps --no-build-isolation --no-compile
PORT ?= 8000
# How many processes run tests: one more than two cores have, since a test with a browser waits for it.
WORKERS ?= 3
NOT_OURS := --ignore $(VENV) --ignore var --ignore tests --ignore benchmarks --ignore "recipes/*/demo/*"

.PHONY: help client demo demo-reset test coverage test-again test-services test-containers test-slow triton fuzz collect check check-code check-types check-django check-scripts fix messages browser lock audit clean

help:
	@echo "make demo        a study to try, on http://127.0.0.1:$(PORT)/ (PORT=… for another)"
	@echo "make demo-reset  the demo from its beginning"
	@echo "make test        the tests, on SQLite, browser included"
	@echo "make coverage    the same, and which lines and branches they run"
	@echo "make test-slow   all tests, the slow ones too"
	@echo "make fuzz        5,000 requests to the API by its schema, and 50 bad inputs for each form (FUZZ_SEED=… for others)"
	@echo "make test-services DATABASE_URL=postgres://… REDIS_URL=redis://…   the tests that use a database, on these"
	@echo "make test-containers   the image and docker-compose.yml, from the build to a restored backup; needs a Docker engine (BUILD_ARGS=…)"
	@echo "make triton      what the tests of the GPU's kernel need, 0.2 GB; they are skipped without it"
	@echo "make test-again  the tests that failed, one after the other"
	@echo "make check       formatting, lint, types, layers, migrations; scripts too, where Node is; changes nothing"
	@echo "make fix         mends what can be mended by itself"
	@echo "make lock        writes requirements/*.txt after a change of pyproject's dependencies; UPGRADE=1 to newer versions"
	@echo "make audit       a bill of materials, and known weaknesses of what is pinned; needs a network"
	@echo "make client      a typed Python client of the API, generated from its schema into client/"
	@echo "make messages    collects the sentences to translate and compiles the translations; needs GNU gettext"

# Exact versions with hashes, so that no package but the one that was tested is installed; `make lock` writes them. torch's CPU
# build is taken where pip finds it, else the one of the public index. A failed installation leaves no stamp, so the next call
# takes it up again. pip would compile on one processor; some files are of other versions of Python, and are not compiled, and a third
# is tests of libraries and families of models, which are compiled when one is loaded.
$(STAMP): $(LOCKS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -r requirements/build.txt
	$(INSTALL) -r requirements/torch-cpu.txt || $(INSTALL) -r requirements/torch.txt
	$(INSTALL) -r requirements/app.txt -r requirements/dev.txt
	$(BIN)/python -m compileall -qq -j 0 -x '/(tests|testing)/|/transformers/models/' $(VENV)/lib || true
	touch $(STAMP)

lock: $(STAMP)
	$(BIN)/python -m pip install --quiet --group lock
	$(BIN)/python requirements/lock.py $(if $(UPGRADE),--upgrade)

# What is accepted for a while stands in the file of exceptions: an identifier a line, with a date and a reason behind a #. AUDIT=--if-asked
# passes where nobody could be asked.
audit: $(STAMP)
	$(BIN)/python -m pip install --quiet --group audit
	mkdir -p var
	$(BIN)/python requirements/audit.py --pins > var/pins.txt
	$(BIN)/cyclonedx-py requirements var/pins.txt --output-reproducible --of JSON -o var/bom.json
	$(BIN)/python requirements/audit.py $(AUDIT)
	if [ -d .github/workflows ]; then $(BIN)/zizmor .github/workflows; fi

demo: $(STAMP)
	@PALATE_ENV=demo $(BIN)/python -m config.demo --port $(PORT)

demo-reset:
	rm -rf var
	@$(MAKE) --no-print-directory demo

browser: $(STAMP)
	@$(BIN)/python tests/browser.py

test: $(STAMP) browser
	@$(BIN)/python tests/node.py test
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) $(ARGS)

# Of what runs in the tests' own processes, but for those that drive a browser or a model. It takes 1.6 times as long.
coverage:
	@$(MAKE) --no-print-directory test ARGS="--cov --cov-report=term $(ARGS)"

test-slow: $(STAMP) browser
	@$(BIN)/python tests/node.py test
	$(BIN)/python -m pytest $(ARGS)

# Modules are compiled and their asserts rewritten, which else each worker of pytest does by itself.
collect: $(STAMP)
	@$(BIN)/python -m pytest --collect-only -q > $(VENV)/collected.txt || { tail -50 $(VENV)/collected.txt; exit 1; }

# It comes with CUDA builds of torch alone, so its line is in the lock of these.
triton: $(STAMP)
	sed -n '/^triton==/,/[^\\]$$/p' requirements/torch.txt > $(VENV)/triton.txt
	$(INSTALL) --retries 1 --only-binary :all: -r $(VENV)/triton.txt

fuzz: $(STAMP)
	SCHEMA_REQUESTS=5000 FUZZ_EXAMPLES=50 $(BIN)/python -m pytest -n 0 tests/api tests/test_fuzzed_forms.py tests/annotation/test_overlap.py $(ARGS)

test-services: $(STAMP) browser
	DATABASE_URL=$(DATABASE_URL) CELERY_BROKER_URL=$(REDIS_URL) $(BIN)/python -m pytest -m "services and not slow" -n $(WORKERS) $(ARGS)

test-containers: $(STAMP)
	@BUILD_ARGS="$(BUILD_ARGS)" $(BIN)/python tests/containers.py

test-again: $(STAMP)
	$(if $(DATABASE_URL),DATABASE_URL=$(DATABASE_URL) CELERY_BROKER_URL=$(REDIS_URL)) $(BIN)/python tests/again.py

# In parts, so that `make -j check` does the others while mypy is at work.
check: check-code check-types check-django check-scripts

check-code: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

check-types: $(STAMP)
	PALATE_ENV=test $(BIN)/mypy

check-django: $(STAMP)
	PALATE_ENV=test $(BIN)/python manage.py makemigrations --check --dry-run

check-scripts: $(STAMP)
	@$(BIN)/python tests/node.py check

fix: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python tests/node.py fix

messages: $(STAMP)
	PALATE_ENV=test $(BIN)/python manage.py makemessages --locale cs --no-wrap --add-location file --no-obsolete $(NOT_OURS)
	PALATE_ENV=test $(BIN)/python manage.py compilemessages --locale cs $(NOT_OURS)

client: $(STAMP)
	mkdir -p var
	PALATE_ENV=test $(BIN)/python manage.py spectacular --validate --fail-on-warn --file var/openapi.yaml
	$(BIN)/python -m openapi_python_client generate --path var/openapi.yaml --config config/client.yaml --output-path client --overwrite --fail-on-warning

clean:
	rm -rf var staticfiles .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
