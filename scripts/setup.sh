#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that are missing, and says which. Usage: setup.sh run|test
set -euo pipefail

run_packages=(build-essential pkg-config cmake libclang-dev libwebkit2gtk-4.1-dev libayatana-appindicator3-dev
  librsvg2-dev libdbus-1-dev bubblewrap git)
test_packages=(webkit2gtk-driver xvfb xauth dbus-daemon python3-dbusmock python3-gi chromium fonts-noto-cjk)

packages=("${run_packages[@]}")
if [ "${1:-run}" = test ]; then packages+=("${test_packages[@]}"); fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then exit 0; fi

command -v apt-get >/dev/null || {
  echo "Starling needs these packages, and this system has no apt-get to install them: ${missing[*]}" >&2
  exit 1
}
echo "Installing system packages: ${missing[*]}"
root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "Not root and no sudo: install these packages as root, then try again: ${missing[*]}" >&2
    exit 1
  }
  root=(sudo)
fi
log=$(mktemp)
{ "${root[@]}" apt-get update -q && "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 || {
  tail -n 5 "$log" >&2
  echo "The system packages could not be installed; the log is $log" >&2
  exit 1
}
rm -f "$log"
