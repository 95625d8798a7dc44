#!/usr/bin/env bash
# Puts pytest into a virtual environment in a cache folder, for the tests that run it. Usage: test-pytest.sh FOLDER
# Without a network or without Python's venv it says so and succeeds: the tests are then skipped, each with a line.
set -euo pipefail
folder=$1
if [ -d "$folder/lib" ]; then exit 0; fi
mkdir -p "$(dirname "$folder")"
new=$(mktemp -d "$folder.XXXXXX")
if python3 -m venv "$new" && "$new/bin/python" -m pip install --quiet --disable-pip-version-check 'pytest>=7,<10'; then
  mv "$new" "$folder"
else
  rm -rf "$new"
  echo "SKIPPED: pytest could not be fetched, so its tests prove nothing" >&2
fi
