#!/usr/bin/env bash
# Kills a run at random moments with SIGKILL and goes on each time; at the end nothing may be lost or left over.
# Usage: kill.sh STARLING [KILLS] [MODEL]. Needs STARLING_TEST_MODELS.
set -euo pipefail
starling=$(realpath "$1") kills=${2:-20} model=${3:-qwen2.5-coder-0.5b}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" STARLING_HOME="$work/data" STARLING_MODELS="$STARLING_TEST_MODELS"
mkdir -p "$HOME" "$STARLING_HOME"
for role in parser planner executor tester reviewer; do "$starling" bind "$role" "$model" >/dev/null; done
bash "$root/scripts/sample.sh" python "$work/tally"
before=$(cd "$work/tally" && git status --porcelain && git rev-parse HEAD)

task=""
for ((n = 1; n <= kills; n++)); do
  if [ -z "$task" ]; then
    "$starling" run "$root/assets/sample/tasks/python-1-bug-thousands.md" --project "$work/tally" --yes --offline --json >"$work/out" 2>/dev/null &
  else
    "$starling" resume "$task" --yes --offline --json >"$work/out" 2>/dev/null &
  fi
  pid=$!
  sleep "$((RANDOM % 6)).$((RANDOM % 10))"
  if ! kill -9 "$pid" 2>/dev/null; then
    wait "$pid" || true
    echo "it ended by itself before kill $n"
    break
  fi
  wait "$pid" 2>/dev/null || true
  facts=$("$starling" doctor --json | python3 -c 'import json,sys; d=json.load(sys.stdin)["database"]; assert d["ok"], d; print(d["detail"])')
  task=$("$starling" tasks --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["tasks"][0]["task"] if d["tasks"] else "")')
  echo "kill $n: $facts"
done
"$starling" resume "$task" --yes --offline --json >"$work/out" 2>"$work/err" || { tail -n 5 "$work/err"; tail -n 1 "$work/out"; }
outcome=$("$starling" tasks "$task" --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["outcome"])')
echo "outcome after all: $outcome"
[ "$outcome" = ready ] || exit 1
after=$(cd "$work/tally" && git status --porcelain && git rev-parse HEAD)
[ "$before" = "$after" ] || { echo "the user's tree changed"; exit 1; }
"$starling" land "$task" --json >/dev/null
[ "$(cd "$work/tally" && git worktree list | wc -l)" = 1 ] || { echo "a stray worktree is left"; exit 1; }
(cd "$work/tally" && python3 -m unittest -q) && echo "landed; every test passes; no stray worktree"
