//! What holds for the whole process: the environment before any thread, the processor check before any C++, the backend
//! that can be started only once, and llama.cpp's log.
//!
//! All `unsafe` of this project is in this file: one write to the environment and calls of C functions without arguments.
#![allow(unsafe_code)]

use llama_cpp_2::LogOptions;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_sys_2 as sys;
use std::ffi::CStr;
use std::sync::OnceLock;

/// Must be the first thing `main` does. Keeps ggml from forking a debugger when it aborts: that would take a third of a
/// second and print on stdout. Returns false, and changes nothing, when other threads are already running.
pub fn prepare_process() -> bool {
    if other_threads() {
        return false;
    }
    // SAFETY: the environment may be written while no other thread can read it. On Linux that was just checked; elsewhere
    // it is the contract of this function, which `main` calls before anything else.
    unsafe { std::env::set_var("GGML_NO_BACKTRACE", "1") };
    true
}

/// What must be in the environment when a process that loads models starts, so that the threads of a computation stop
/// spinning soon when they wait for each other: while a build or a test run takes a core from them, reading a prompt is then
/// three times as fast, and never slower otherwise. The OpenMP runtime reads it before `main`, hence only a restart helps.
///
/// `None` where nothing is to be done: the user has set a way of waiting himself, or it is not Linux.
pub fn short_waits() -> Option<(&'static str, &'static str)> {
    const NAME: &str = "GOMP_SPINCOUNT";
    // Measured: 1,000 turns cost nothing on an idle machine, 20,000 are as bad as the default on a busy one.
    let chosen = [NAME, "OMP_WAIT_POLICY"].iter().any(|name| std::env::var_os(name).is_some());
    (cfg!(target_os = "linux") && !chosen).then_some((NAME, "1000"))
}

fn other_threads() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() > 1)
}

/// Which vector instructions this build of llama.cpp uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernels {
    pub avx2: bool,
    pub avx512: bool,
    pub vnni: bool,
    pub neon: bool,
    /// llama.cpp's own words; empty when the processor cannot run it.
    pub system_info: String,
}

pub fn kernels() -> Kernels {
    // The text comes from code that was compiled for these instructions.
    let system_info = if cpu_can_run().is_ok() { system_info() } else { String::new() };
    let has = built_for();
    Kernels { avx2: has.avx2, avx512: has.avx512, vnni: has.avx512_vnni, neon: has.neon, system_info }
}

fn system_info() -> String {
    let Ok(_backend) = backend() else { return String::new() };
    // SAFETY: the function returns a pointer to a static, zero-terminated text that it fills on each call; the backend is
    // running. Two calls at once would race, so they take turns.
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = unsafe { CStr::from_ptr(sys::llama_print_system_info()) };
    text.to_string_lossy().trim().to_owned()
}

/// Whether the processor has every instruction this build uses. Ask before anything else: without them the process dies
/// of an illegal instruction. The text says what is missing.
pub fn cpu_can_run() -> Result<(), String> {
    let missing = missing_instructions(&built_for());
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("this program was built for processors with {}, which this one lacks", missing.join(", ")))
    }
}

/// What ggml was compiled for, by its own word; constants in the library, so asking runs no special instruction.
struct BuiltFor {
    avx2: bool,
    fma: bool,
    f16c: bool,
    bmi2: bool,
    avx512: bool,
    avx512_vnni: bool,
    avx512_vbmi: bool,
    avx512_bf16: bool,
    neon: bool,
}

fn built_for() -> BuiltFor {
    // SAFETY: these functions take nothing, keep no state and return a compile-time constant.
    unsafe {
        BuiltFor {
            avx2: sys::ggml_cpu_has_avx2() != 0,
            fma: sys::ggml_cpu_has_fma() != 0,
            f16c: sys::ggml_cpu_has_f16c() != 0,
            bmi2: sys::ggml_cpu_has_bmi2() != 0,
            avx512: sys::ggml_cpu_has_avx512() != 0,
            avx512_vnni: sys::ggml_cpu_has_avx512_vnni() != 0,
            avx512_vbmi: sys::ggml_cpu_has_avx512_vbmi() != 0,
            avx512_bf16: sys::ggml_cpu_has_avx512_bf16() != 0,
            neon: sys::ggml_cpu_has_neon() != 0,
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn missing_instructions(built: &BuiltFor) -> Vec<&'static str> {
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512cd");
    let needs = [
        (built.avx2, is_x86_feature_detected!("avx2"), "AVX2"),
        (built.fma, is_x86_feature_detected!("fma"), "FMA"),
        (built.f16c, is_x86_feature_detected!("f16c"), "F16C"),
        (built.bmi2, is_x86_feature_detected!("bmi2"), "BMI2"),
        (built.avx512, avx512, "AVX-512"),
        (built.avx512_vnni, is_x86_feature_detected!("avx512vnni"), "AVX-512 VNNI"),
        (built.avx512_vbmi, is_x86_feature_detected!("avx512vbmi"), "AVX-512 VBMI"),
        (built.avx512_bf16, is_x86_feature_detected!("avx512bf16"), "AVX-512 BF16"),
    ];
    needs.into_iter().filter(|(built, has, _)| *built && !has).map(|(_, _, name)| name).collect()
}

/// Other architectures are built for their baseline.
#[cfg(not(target_arch = "x86_64"))]
fn missing_instructions(_built: &BuiltFor) -> Vec<&'static str> {
    Vec::new()
}

/// Starts llama.cpp once for the whole process; it is never stopped. Its log goes to `tracing`, never to stdout.
pub fn backend() -> Result<&'static LlamaBackend, String> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    let backend = BACKEND.get_or_init(|| {
        cpu_can_run()?;
        llama_cpp_2::send_logs_to_tracing(LogOptions::default());
        LlamaBackend::init().map_err(|error| error.to_string())
    });
    backend.as_ref().map_err(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_that_built_it_can_run_it() {
        assert_eq!(cpu_can_run(), Ok(()));
        assert_ne!(kernels().system_info, "");
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_lacking_instruction_is_named() {
        let none = BuiltFor {
            avx2: false,
            fma: false,
            f16c: false,
            bmi2: false,
            avx512: false,
            avx512_vnni: false,
            avx512_vbmi: false,
            avx512_bf16: false,
            neon: false,
        };
        assert_eq!(missing_instructions(&none), Vec::<&str>::new());
        let all = BuiltFor {
            avx2: true,
            fma: true,
            f16c: true,
            bmi2: true,
            avx512: true,
            avx512_vnni: true,
            avx512_vbmi: true,
            avx512_bf16: true,
            ..none
        };
        // Whatever this processor is: what it lacks is exactly what std does not detect.
        let missing = missing_instructions(&all);
        assert_eq!(missing.contains(&"AVX2"), !is_x86_feature_detected!("avx2"));
        assert_eq!(missing.contains(&"AVX-512 BF16"), !is_x86_feature_detected!("avx512bf16"));
    }

    #[test]
    fn the_environment_is_not_written_while_threads_run() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv().is_err());
        if cfg!(target_os = "linux") {
            assert!(!prepare_process());
        }
        drop(stop);
        assert!(thread.join().unwrap());
    }
}
