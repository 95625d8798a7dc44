#!/usr/bin/env bash
# From a fresh clone to a solved sample task: packages, build, model, then the window, or the terminal without a display.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/setup.sh run
command -v cargo >/dev/null || { echo "Rust is needed to build Starling: https://rustup.rs" >&2; exit 1; }
bash scripts/ui.sh build
. scripts/build-env.sh
echo "Building Starling (the first time takes about 15 minutes on two cores)"
cargo build --locked --quiet
starling="$CARGO_TARGET_DIR/debug/starling"

samples="${STARLING_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/dev.starling.desktop}/samples"
bash scripts/sample.sh python "$samples/tally"
bash scripts/sample.sh rust "$samples/wordkit"
"$starling" models get default

task="assets/sample/tasks/python-1-bug-thousands.md"
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$starling" window --project "$samples/tally" --task "$task"
fi
echo "There is no display, so the sample task runs here."
exec "$starling" run "$task" --project "$samples/tally" --yes --offline
