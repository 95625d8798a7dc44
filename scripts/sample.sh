#!/usr/bin/env bash
# Makes a sample project with a git history. Usage: sample.sh python|rust TARGET_DIR. Leaves an existing one alone.
set -euo pipefail
source_dir="$(cd "$(dirname "$0")/.." && pwd)/assets/sample"
kind=$1 target=$2
if [ -d "$target/.git" ]; then exit 0; fi
mkdir -p "$target"
cp -R "$source_dir/$kind/." "$target/"
cd "$target"
commit() {
  git add -A
  git -c user.name=Sample -c user.email=sample@example.org -c commit.gpgsign=false commit -q -m "$1"
}
git init -q -b main
printf '__pycache__/\n/target\n' >.gitignore
mv tests .tests-later
commit "Begin the project"
mv .tests-later tests
commit "Add the first tests"
