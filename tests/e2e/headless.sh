#!/usr/bin/env bash
# The real binary with a real small model, a real git repository and the real sandbox, without a display.
# Usage: headless.sh STARLING. Needs STARLING_TEST_MODELS (a folder of models).
set -euo pipefail
starling=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" STARLING_HOME="$work/data" XDG_CACHE_HOME="$work/cache"
mkdir -p "$HOME" "$STARLING_HOME/models"
model=qwen2.5-coder-0.5b
if [ ! -f "$STARLING_TEST_MODELS/$model.gguf" ]; then echo "SKIPPED: no model file $model.gguf"; exit 0; fi
ln "$STARLING_TEST_MODELS/$model.gguf" "$STARLING_HOME/models/$model.gguf" 2>/dev/null ||
  cp "$STARLING_TEST_MODELS/$model.gguf" "$STARLING_HOME/models/$model.gguf"
for role in parser planner executor tester reviewer; do "$starling" bind "$role" "$model" >/dev/null; done

project="$work/tally"
bash "$root/scripts/sample.sh" python "$project"
printf 'a note that git does not know\r\n' >"$project/untracked.txt"
before=$(cd "$project" && find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum)

"$starling" run "$root/assets/sample/tasks/python-1-bug-thousands.md" --project "$project" --yes --offline --json >"$work/run.ndjson"
after=$(cd "$project" && find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum)
[ "$before" = "$after" ] || { echo "the run changed the user's tree"; exit 1; }

python3 - "$work/run.ndjson" <<'PY'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
last = events[-1]
assert last["event"] == "finished", last
assert last["outcome"] == "ready", (last["outcome"], [e for e in events if e["event"] in ("step", "verdict", "failed")])
assert "parse_amount" in last["diff"] and "+" in last["diff"], last["diff"]
assert last["receipt"]["egress_bytes"] == 0, last["receipt"]
print("solved; tokens:", [(line["role"], line["usage"]["output"]) for line in last["receipt"]["calls"]])
PY
task=$(tail -n 1 "$work/run.ndjson" | python3 -c 'import json,sys; print(json.load(sys.stdin)["task"])')

"$starling" land "$task" --json >"$work/land.json"
(cd "$project" && python3 -m unittest -q 2>"$work/unittest.txt") || { cat "$work/unittest.txt"; echo "the landed tests fail"; exit 1; }
printf 'a note that git does not know\r\n' | cmp - "$project/untracked.txt"
[ "$(cd "$project" && git worktree list | wc -l)" = 1 ] || { echo "a stray worktree is left"; exit 1; }
"$starling" egress --json | python3 -c 'import json,sys; assert json.load(sys.stdin)["entries"] == [], "something left the machine"'
echo "landed; the project's tests and the new ones pass"
