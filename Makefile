# idlewise: what people run. `make help` lists it.

CARGO     ?= cargo
PREFIX    ?= /usr/local
DISK      ?= maxtor-40g
TRACE     ?= traces/demo.ftrace.zst
SECONDS   ?= 60
# On each of four devices: 1000 of each kind.
SWITCHES  ?= 250
ARGS      ?=

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
BINARY     := $(TARGET_DIR)/release/idlewise

.DEFAULT_GOAL := help
.PHONY: help setup demo build test check format bench front papers selection web web-test fuzz install uninstall clean \
    deb wheel kernel kernel-all kernel-papers kernel-machine kernel-advice kernel-flash kernel-stress kernel-debug kernel-install kernel-uninstall

help: ## list the targets
	@echo "idlewise: which disk scheduler should this disk use?"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'
	@echo
	@echo "Variables: DISK=$(DISK) TRACE=$(TRACE) PREFIX=$(PREFIX) SECONDS=$(SECONDS) ARGS="

setup: ## install what a build needs and is missing (Debian packages)
	@scripts/setup.sh build

demo: build ## replay a recording of real programs under every scheduler
	@echo
	@echo "A trace of tar, git, sqlite3, find and PostgreSQL, replayed under each scheduler on the disk '$(DISK)':"
	@echo "  $(BINARY) compare --trace $(TRACE) --disk $(DISK) $(ARGS)"
	@echo
	@$(BINARY) compare --trace $(TRACE) --disk $(DISK) $(ARGS)

build: setup ## build the program: target/release/idlewise
	@$(CARGO) build --release -p idlewise

test: ## run every test and every check
	@scripts/setup.sh check
	@scripts/test.sh $(ARGS)

check: ## format, lints, documentation and no_std builds, without the tests
	@scripts/setup.sh check
	@scripts/check.sh

format: ## format every source file, also those that rustfmt does not find itself
	@find $(wildcard crates fuzz kernel) -name target -prune -o -name '*.rs' -print0 | \
	    xargs -0 rustfmt --edition "$$(sed -n 's/^edition = "\(.*\)"$$/\1/p' Cargo.toml)"

papers: build ## measure what the papers claim: docs/papers.md
	@scripts/papers.sh $(BINARY) > docs/papers.md.new && mv docs/papers.md.new docs/papers.md

selection: build ## measure what selectors make of loads that change: docs/selection.md
	@scripts/selectors.sh $(BINARY) > docs/selection.md.new && mv docs/selection.md.new docs/selection.md

front: build ## measure which schedulers nobody beats in throughput and latency at once: docs/front.md (hours)
	@{ scripts/front.sh $(BINARY) && echo && scripts/altered.sh $(BINARY) && echo && scripts/target.sh $(BINARY); } > docs/front.md.new && mv docs/front.md.new docs/front.md

web: ## build the page: web/dist, a static folder for any web server (node, npm)
	@scripts/web.sh build

web-test: ## the page in a real browser (chromium): ARGS=--update takes new screenshots
	@scripts/web.sh test $(ARGS)

bench: setup ## measure speed (ARGS="NAME" for one benchmark)
	@$(CARGO) bench --workspace $(ARGS)

fuzz: ## fuzz each target for SECONDS (TARGET=NAME for one); needs nightly and cargo-fuzz
	@scripts/fuzz.sh $(SECONDS) $(TARGET)

# Not built here if it is built already: so that `sudo make install` does not build as root.
install: ## install the program to PREFIX/bin
	@[ -x $(BINARY) ] || $(MAKE) --no-print-directory build
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/idlewise

deb: setup ## make Debian packages of the program and the kernel modules: target/deb/*.deb
	@scripts/deb.sh

wheel: setup ## make the Python package: target/wheels/*.whl (Python 3.11 with venv; fetches maturin)
	@scripts/python.sh wheel

uninstall: ## remove it
	rm -f $(DESTDIR)$(PREFIX)/bin/idlewise

kernel: ## build the kernel modules for Debian's stock kernel: target/kernel-modules/*.ko (KERNEL=6.12, KERNEL=7: another)
	@scripts/kernel/build.sh

kernel-papers: ## the papers' experiments in a guest with real programs, beside the simulator's figures
	@scripts/kernel/papers.sh

kernel-advice: ## is advice right? ten loads of real programs in a guest, under every scheduler: docs/advice.md (hours)
	@scripts/kernel/advice.sh > docs/advice.md.new; status=$$?; \
	    if [ $$status -le 1 ] && [ -s docs/advice.md.new ]; then mv docs/advice.md.new docs/advice.md; fi; exit $$status

kernel-machine: ## the simulator's machine against real programs in a guest: docs/real.md (an hour and a half)
	@scripts/kernel/machine.sh > docs/real.md.new; status=$$?; \
	    if [ $$status -le 1 ] && [ -s docs/real.md.new ]; then mv docs/real.md.new docs/real.md; fi; exit $$status

kernel-all: ## every test in a guest, on 6.1, 6.12 and the newest 7.x; writes the table in docs/kernel.md (an hour)
	@scripts/kernel/all.sh $(ARGS)

kernel-flash: ## what elevators cost where nothing turns, in a guest: docs/flash.md (half an hour)
	@scripts/kernel/flash.sh > docs/flash.md.new; status=$$?; \
	    if [ $$status -le 1 ] && [ -s docs/flash.md.new ]; then mv docs/flash.md.new docs/flash.md; fi; exit $$status

kernel-stress: ## the long test of the elevators in a guest: a quarter of an hour
	@GUEST_TIMEOUT=14400 scripts/kernel/run.sh stress switches=$(SWITCHES) loads=20

kernel-debug: ## the same, panics, storms and pulled disks on kernels that check their locks and memory, built first: hours
	@GUEST_TIMEOUT=14400 SWITCHES=$(SWITCHES) scripts/kernel/all.sh --debug $(ARGS)

kernel-install: ## hand the elevators to DKMS, for the running kernel and later ones (root)
	@scripts/kernel/install.sh

kernel-uninstall: ## take them back
	@scripts/kernel/install.sh --remove

clean: ## remove what was built
	@$(CARGO) clean
	@rm -rf web/dist web/node_modules web/src/idlewise.wasm web/tests/new
