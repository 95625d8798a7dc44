#!/usr/bin/env bash
# Builds the page if its sources changed since the last build. Usage: ui.sh [build|check]
set -euo pipefail
cd "$(dirname "$0")/../ui"

command -v npm >/dev/null || { echo "Node.js with npm is needed to build the page: https://nodejs.org" >&2; exit 1; }
if [ ! -d node_modules ] || [ package-lock.json -nt node_modules/.installed ]; then
  echo "Installing the page's packages"
  npm ci --ignore-scripts --no-audit --no-fund --silent || { echo "npm ci failed: is the network there?" >&2; exit 1; }
  touch node_modules/.installed
fi
if [ "${1:-build}" = check ]; then
  npm run --silent check
  npm run --silent lint
  npm run --silent test
fi
if [ ! -f dist/index.html ] || [ -n "$(find src index.html package-lock.json vite.config.* -newer dist/index.html -print -quit)" ]; then
  npm run --silent build
fi
