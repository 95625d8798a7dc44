#!/usr/bin/env bash
# Fetches the models of the tests into a cache folder. Usage: test-models.sh STARLING FOLDER
set -euo pipefail
starling=$1 folder=$2
mkdir -p "$folder"
for name in smollm2-135m qwen2.5-coder-0.5b; do
  if [ -f "$folder/$name.gguf" ]; then continue; fi
  home=$(mktemp -d)
  STARLING_HOME="$home" "$starling" models get "$name" || { echo "$name could not be fetched" >&2; rm -rf "$home"; exit 1; }
  mv "$home/models/$name.gguf" "$folder/$name.gguf"
  rm -rf "$home"
done
