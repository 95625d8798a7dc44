#!/usr/bin/env bash
# Every check and test, cheapest first; stops at the first that fails and says which. Nothing here needs a key or a
# display of its own. Models are fetched once into a cache outside the clone.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
passed=0
say() { printf '\n== %s (at %s s)\n' "$1" "$((SECONDS - started))"; }
step() {
  local name=$1 limit=$2
  shift 2
  say "$name"
  if ! timeout --foreground "$limit" "$@"; then
    echo "FAILED: $name" >&2
    echo "$passed passed, 1 failed"
    exit 1
  fi
  passed=$((passed + 1))
}

step "system packages" 900 bash scripts/setup.sh test
step "page: install, types, lint, tests, build" 900 bash scripts/ui.sh check
. scripts/build-env.sh
step "fetch crates" 600 cargo fetch --locked
step "format" 60 cargo fmt --all --check
step "build" 3000 cargo build --locked --workspace --tests
models="${XDG_CACHE_HOME:-$HOME/.cache}/starling-build/models"
export STARLING_TEST_MODELS="$models"
step "fetch test models" 900 bash scripts/test-models.sh "$CARGO_TARGET_DIR/debug/starling" "$models"
export STARLING_TEST_PYTEST="$(dirname "$models")/pytest"
step "fetch pytest for its tests" 300 bash scripts/test-pytest.sh "$STARLING_TEST_PYTEST"
# An old git is never run by Starling, so its tests prove nothing there.
good_git() {
  for git in /usr/bin/git /usr/local/bin/git "$(command -v git)"; do
    "$git" --version 2>/dev/null | awk '{split($3, v, "."); exit !(v[1] > 2 || v[2] >= 51 || (v[2] == 43 && v[3] >= 7) || (v[2] >= 44 && v[2] <= 46 && v[3] >= 4) || (v[2] == 47 && v[3] >= 3) || (v[2] == 48 && v[3] >= 2) || (v[2] >= 49 && v[3] >= 1))}' && return 0
  done
  return 1
}
skip=()
if ! good_git; then
  echo "SKIPPED: tests of git and worktrees, because this git is too old to be used (docs/safety.md)"
  skip=(git:: workspace::)
fi
if command -v cargo-nextest >/dev/null; then
  filter='all()'
  for name in ${skip[@]+"${skip[@]}"}; do filter="$filter & !test(/^$name/)"; done
  step "tests" 1500 cargo nextest run --locked --workspace --no-fail-fast -E "$filter"
else
  step "tests" 1800 cargo test --locked --workspace --quiet -- ${skip[@]+$(printf -- '--skip %s ' "${skip[@]}")}
fi
step "documentation tests" 600 cargo test --locked --workspace --doc --quiet
step "lints" 1200 cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
step "the binary with a real model" 900 bash tests/e2e/headless.sh "$CARGO_TARGET_DIR/debug/starling"
step "the real window" 600 bash tests/e2e/window.sh "$CARGO_TARGET_DIR/debug/starling"
step "the tree is clean" 30 bash -c 'test -z "$(git status --porcelain)" || { git status --short; echo "a test wrote into the tree"; exit 1; }'

say "done"
echo "$passed passed, 0 failed"
