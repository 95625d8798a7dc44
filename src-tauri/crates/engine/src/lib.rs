//! llama.cpp in-process: load, sample many candidates from one prefill, constrained decoding.
