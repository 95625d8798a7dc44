#!/usr/bin/env bash
# Runs the six sample tasks with one model, offline, and prints a Markdown table of what came out.
# Usage: sample-runs.sh STARLING MODEL FOLDER_OF_MODELS. The logs stay in the folder it names at the end.
set -euo pipefail
starling=$(realpath "$1") model=$2 models=$(realpath "$3")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
export STARLING_HOME="$work/data" STARLING_MODELS="$models"
mkdir -p "$STARLING_HOME"
for role in parser planner executor tester reviewer; do "$starling" bind "$role" "$model" >/dev/null; done

echo "Model $model, commit $(git -C "$root" rev-parse --short HEAD), $(date -u +%F), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) at the start."
echo
echo "| task | outcome | proof | seconds | tokens written | bytes that left |"
echo "|---|---|---|---|---|---|"
for task in "$root"/assets/sample/tasks/*.md; do
  name=$(basename "$task" .md)
  project="$work/$name"
  bash "$root/scripts/sample.sh" "${name%%-*}" "$project"
  start=$SECONDS
  timeout 900 "$starling" run "$task" --project "$project" --yes --offline --json >"$work/$name.ndjson" 2>"$work/$name.err" || true
  python3 - "$work/$name.ndjson" "$name" "$((SECONDS - start))" <<'PY'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8") if line.strip()]
last = events[-1] if events else {}
outcome = last.get("outcome", "no end")
receipt = last.get("receipt") or {}
written = sum(call["usage"]["output"] for call in receipt.get("calls", []))
kept = [e for e in events if e["event"] == "tests"]
proof = "-"
if kept:
    tests = kept[-1]["kept"]
    before = sum(bool(test.get("fails_before")) for test in tests)
    kills = sum(len(test.get("kills", [])) for test in tests)
    proof = f"{len(tests)} tests, {before} failed before, {kills} mutants shown"
print(f"| {sys.argv[2]} | {outcome} | {proof} | {sys.argv[3]} | {written} | {receipt.get('egress_bytes', '-')} |")
PY
done
echo
echo "Logs: $work" >&2
