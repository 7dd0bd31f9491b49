# make alone lists what there is to make.
PYTHON ?= python3

help:            ## this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: +##/ -/; s/:[^#]*## / - /'

check:           ## format, lint, types, layers, the fast suite
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	lint-imports
	$(PYTHON) -m pytest

test:            ## every test; of sweeps over catalogues, a part
	$(PYTHON) -m pytest -m ""

thorough:        ## every test and all of every sweep, with other random examples each time, ten times as many where it does not say how many (hours)
	$(PYTHON) -m pytest -m "" --hypothesis-profile thorough

format:          ## put the code in form
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

samples:         ## make output/samples anew
	$(PYTHON) docs/make/samples.py

gallery:         ## make docs/gallery.md and its pictures anew: every layout, problem type and mechanism (three minutes)
	$(PYTHON) docs/make/gallery.py

handwriting:     ## fill worksheets in by hand: the pictures in docs/pages.md, with Debian's fonts-breip installed
	$(PYTHON) docs/make/handwriting.py

reference:       ## make docs/reference.md anew, from docstrings and what mechanisms say of themselves
	$(PYTHON) docs/make/reference.py

fonts:           ## make the fonts that are shipped anew, with fontTools and Debian's fonts installed
	$(PYTHON) docs/make/math_font.py
	$(PYTHON) docs/make/han_font.py

messages:        ## bring the language files up to date with the sources, and say how much is translated
	$(PYTHON) docs/make/messages.py

bench:           ## what everyday work costs, beside its goals, plain SymPy and the run before (ten minutes)
	$(PYTHON) tests/bench/speed.py --history .bench.jsonl

mutants:         ## plant one fault after the other and see whether the fast suite finds each (an hour)
	$(PYTHON) tests/bench/mutants.py

release:         ## everything that a release needs: every message in every language, every test, the wheel
	$(PYTHON) docs/make/messages.py --all
	$(MAKE) test wheel

wheel:           ## build the wheel and the source distribution
	$(PYTHON) -m pip wheel --no-deps --wheel-dir dist .

.PHONY: help check test thorough format samples gallery handwriting reference fonts messages bench mutants release wheel
