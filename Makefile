# Two commands: `make run` and `make test`. Both install what they need, say so, and can be repeated.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

.PHONY: run test bindings fmt help

help:
	@echo "make run       build, fetch a model, open the window on a sample project (or run it in the terminal)"
	@echo "make test      every check and test"
	@echo "make bindings  write ui/src/bindings.ts anew after a change of the IPC"
	@echo "make fmt       format Rust and the page"

run:
	@bash scripts/run.sh

test:
	@bash scripts/test.sh

bindings:
	@. scripts/build-env.sh && STARLING_UPDATE=1 cargo test --locked --test it bindings

fmt:
	@. scripts/build-env.sh && cargo fmt --all
	@cd ui && npm run --silent format
