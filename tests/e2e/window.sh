#!/usr/bin/env bash
# The real window under Xvfb and a D-Bus session of its own, driven by WebDriver. Usage: window.sh STARLING [SHOTS_DIR]
set -euo pipefail
starling=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
shots=${2:-$work/shots}
mkdir -p "$shots"
trap 'rm -rf "$work"' EXIT
exec_env=(RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" HOME="$work/home" STARLING_HOME="$work/data" XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/share"
  XDG_CACHE_HOME="$work/cache" XDG_RUNTIME_DIR="$work/run" TAURI_WEBVIEW_AUTOMATION=true
  WEBKIT_DISABLE_DMABUF_RENDERER=1 NO_AT_BRIDGE=1 LANG=C.UTF-8)
mkdir -p "$work"/{home,data/models,config,share,cache,run}
chmod 700 "$work/run"
model=qwen2.5-coder-0.5b
if [ ! -f "$STARLING_TEST_MODELS/$model.gguf" ]; then echo "SKIPPED: no model file $model.gguf"; exit 0; fi
ln "$STARLING_TEST_MODELS/$model.gguf" "$work/data/models/$model.gguf" 2>/dev/null ||
  cp "$STARLING_TEST_MODELS/$model.gguf" "$work/data/models/$model.gguf"
for role in parser planner executor tester reviewer; do env "${exec_env[@]}" "$starling" bind "$role" "$model" >/dev/null; done
bash "$root/scripts/sample.sh" rust "$work/wordkit"

env "${exec_env[@]}" dbus-run-session -- xvfb-run -a -s "-screen 0 1400x1000x24" \
  node "$root/tests/e2e/window.mjs" "$starling" "$work" "$shots" "$root"
