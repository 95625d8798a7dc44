#!/usr/bin/env bash
# Kills runs at random moments with SIGKILL and goes on each time; at the end of each task nothing may be lost or left over.
# Usage: kill.sh STARLING [KILLS] [MODEL]. Needs STARLING_TEST_MODELS.
set -euo pipefail
starling=$(realpath "$1") kills=${2:-20} model=${3:-qwen2.5-coder-0.5b}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" STARLING_HOME="$work/data" STARLING_MODELS="$STARLING_TEST_MODELS"
mkdir -p "$HOME" "$STARLING_HOME"
for role in parser planner executor tester reviewer; do "$starling" bind "$role" "$model" >/dev/null; done

field() { python3 -c "import json,sys; d=json.load(sys.stdin); $1"; }
facts=0 task="" round=0 project=""

# The journal is sound and no shorter than before.
journal() {
  local now
  now=$("$starling" doctor --json | field 'd=d["database"]; assert d["ok"], d; print(d["detail"].split()[0])')
  [ "$now" -ge "$facts" ] || { echo "the journal had $facts facts and has $now"; exit 1; }
  facts=$now
}

begin() {
  round=$((round + 1)) project="$work/tally-$round" task=""
  bash "$root/scripts/sample.sh" python "$project"
  before=$(cd "$project" && git status --porcelain && git rev-parse HEAD)
}

finish() {
  "$starling" resume "$task" --yes --offline --json >"$work/out" 2>"$work/err" || { tail -n 5 "$work/err"; tail -n 1 "$work/out"; }
  local outcome after
  outcome=$("$starling" tasks "$task" --json | field 'print(d["outcome"])')
  [ "$outcome" = ready ] || { echo "task $round ended: $outcome"; exit 1; }
  after=$(cd "$project" && git status --porcelain && git rev-parse HEAD)
  [ "$before" = "$after" ] || { echo "the user's tree changed"; exit 1; }
  "$starling" land "$task" --json >/dev/null
  [ "$(cd "$project" && git worktree list | wc -l)" = 1 ] || { echo "a stray worktree is left"; exit 1; }
  (cd "$project" && python3 -m unittest -q 2>/dev/null) || { echo "the landed change does not pass"; exit 1; }
  echo "task $round: ready, landed, every test passes, no stray worktree, $facts facts"
}

begin
done=0
while [ "$done" -lt "$kills" ]; do
  if [ -z "$task" ]; then
    "$starling" run "$root/assets/sample/tasks/python-1-bug-thousands.md" --project "$project" --yes --offline --json >"$work/out" 2>/dev/null &
  else
    "$starling" resume "$task" --yes --offline --json >"$work/out" 2>/dev/null &
  fi
  pid=$!
  sleep "$((RANDOM % 20)).$((RANDOM % 10))"
  ended=0
  kill -9 "$pid" 2>/dev/null || ended=1
  wait "$pid" 2>/dev/null || true
  journal
  task=$("$starling" tasks --json | field "print(next((t['task'] for t in d['tasks'] if t['project'].endswith('tally-$round')), ''))")
  if [ "$ended" = 1 ]; then
    finish
    begin
  else
    done=$((done + 1))
    stage=$([ -z "$task" ] && echo "not begun" || "$starling" tasks "$task" --json | field 'print(d["stage"])')
    echo "kill $done: $facts facts, $stage"
  fi
done
[ -z "$task" ] || finish
