# Sourced by the Makefile, .ci/run and anyone who calls cargo by hand: `. scripts/build-env.sh`.
# It adds the AVX-512 kernels when this machine's CPU has them (the crate's own default stops at AVX2, which halves the
# speed of reading a prompt), and puts ccache in front of the C++ compiler when it is installed. Everything else of the
# build lies in .cargo/config.toml, so a plain `cargo build` works too, only with slower inference.
cpu_has() { [ -r /proc/cpuinfo ] && grep -qm1 "^flags.*\b$1\b" /proc/cpuinfo; }
if cpu_has avx512f && cpu_has avx512bw && cpu_has avx512dq && cpu_has avx512vl; then
  export GGML_AVX512=ON
  if cpu_has avx512_vnni; then export GGML_AVX512_VNNI=ON; fi
  if cpu_has avx512vbmi; then export GGML_AVX512_VBMI=ON; fi
  if cpu_has avx512_bf16; then export GGML_AVX512_BF16=ON; fi
fi
if command -v ccache >/dev/null 2>&1; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
# One target directory for every clone on this machine, so that a fresh clone does not compile llama.cpp again.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/starling-build/target}"
