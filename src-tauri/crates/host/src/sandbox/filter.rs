//! The syscall filter: what no build and no test needs, and what has been used to climb out of containers.

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, sock_filter};
use starling_core::port::CheckError;
use std::collections::BTreeMap;
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Open files that bubblewrap reads its filters from; they live as long as the start of one command.
pub(super) struct Filters(Vec<OwnedFd>);

impl Filters {
    pub fn numbers(&self) -> impl Iterator<Item = RawFd> {
        self.0.iter().map(AsRawFd::as_raw_fd)
    }
}

pub(super) fn descriptors() -> Result<Filters, CheckError> {
    let fail = |message: String| CheckError::Io { what: "the syscall filter".to_owned(), message };
    let mut open = Vec::new();
    for (calls, errno) in [(FORBIDDEN, libc::EPERM), (ABSENT, libc::ENOSYS)] {
        let program = program(calls, errno as u32).map_err(fail)?;
        open.push(file(&program).map_err(|e| fail(e.to_string()))?);
    }
    Ok(Filters(open))
}

fn program(calls: &[i64], errno: u32) -> Result<BpfProgram, String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|e| e.to_string())?;
    let rules: BTreeMap<i64, Vec<seccompiler::SeccompRule>> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch);
    filter.map_err(|e| e.to_string())?.try_into().map_err(|e: seccompiler::BackendError| e.to_string())
}

/// Without close-on-exec, because the child reads it. Another child started at the same moment could inherit it too, which
/// is harmless: it holds nothing but the filter.
fn file(program: &[sock_filter]) -> std::io::Result<OwnedFd> {
    let descriptor = rustix::fs::memfd_create("starling-filter", rustix::fs::MemfdFlags::empty())?;
    let mut file = std::fs::File::from(descriptor);
    for line in program {
        file.write_all(&line.code.to_ne_bytes())?;
        file.write_all(&[line.jt, line.jf])?;
        file.write_all(&line.k.to_ne_bytes())?;
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(file.into())
}

const FORBIDDEN: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
];

/// glibc falls back to `clone`, whose flags bubblewrap's own namespace limit covers.
const ABSENT: &[i64] = &[libc::SYS_clone3];
