//! One git command, made harmless.

use super::call::Call;
use super::find::GitError;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(30);
const MAX_OUTPUT: u64 = 16 * 1024 * 1024;
/// The trees without entries, which every repository knows.
const EMPTY_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

pub(super) struct Git {
    program: PathBuf,
    /// Holds nothing: home, hooks and working folder of every command.
    empty: PathBuf,
    attributes: Option<&'static str>,
}

/// The pinned directories of a command.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub admin: &'a Path,
    pub tree: &'a Path,
    /// A private index instead of the user's.
    pub index: Option<&'a Path>,
}

impl Git {
    pub fn new(program: PathBuf, empty: PathBuf) -> Git {
        Git { program, empty, attributes: None }
    }

    /// From now on attributes are read from the empty tree instead of the project's files, so that none of them names a
    /// driver or converts line ends.
    pub fn set_hash_length(&mut self, length: usize) {
        self.attributes = Some(if length == EMPTY_SHA256.len() { EMPTY_SHA256 } else { EMPTY_SHA1 });
    }

    pub fn text(&self, place: Place<'_>, call: &Call<'_>, input: &[u8]) -> Result<String, GitError> {
        self.bytes(place, call, input).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn bytes(&self, place: Place<'_>, call: &Call<'_>, input: &[u8]) -> Result<Vec<u8>, GitError> {
        self.bytes_with(place, call, input, Vec::new())
    }

    /// `also` are driver keys of another place that the command looks into.
    pub fn bytes_with(
        &self,
        place: Place<'_>,
        call: &Call<'_>,
        input: &[u8],
        also: Vec<OsString>,
    ) -> Result<Vec<u8>, GitError> {
        let mut drivers = self.drivers(place)?;
        drivers.extend(also);
        self.run(place, call, input, &drivers)
    }

    /// Every key of the repository's configuration, included files and the worktree's own too, that names a program. As
    /// bytes: a key that is no UTF-8 is a key all the same.
    pub fn drivers(&self, place: Place<'_>) -> Result<Vec<OsString>, GitError> {
        match self.run(place, &Call::DriverKeys, &[], &[]) {
            Ok(output) => {
                let keys = output.split(|b| *b == 0).filter(|key| !key.is_empty());
                Ok(keys.map(|key| OsString::from_vec(key.to_vec())).collect())
            }
            Err(GitError::Failed { code: Some(1), .. }) => Ok(Vec::new()),
            Err(other) => Err(other),
        }
    }

    pub fn confused(&self, call: &Call<'_>) -> GitError {
        GitError::Failed { command: call.name(), code: None, message: "its answer cannot be read".to_owned() }
    }

    fn run(&self, place: Place<'_>, call: &Call<'_>, input: &[u8], drivers: &[OsString]) -> Result<Vec<u8>, GitError> {
        let mut child = self.spawn(place, call, drivers)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if let Some(mut stdin) = stdin {
                    // git may end before it has read everything; its exit code says what that means.
                    stdin.write_all(input).ok();
                }
            });
            let out = scope.spawn(move || read(stdout));
            let err = scope.spawn(move || read(stderr));
            let status = self.wait(&mut child, call);
            let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
            let status = status?;
            if out.len() as u64 > MAX_OUTPUT {
                return Err(GitError::TooMuch { command: call.name(), bytes: MAX_OUTPUT });
            }
            if status.success() {
                return Ok(out);
            }
            let message = String::from_utf8_lossy(&err).trim().chars().filter(|c| !c.is_control()).take(400).collect();
            Err(GitError::Failed { command: call.name(), code: status.code(), message })
        })
    }

    fn spawn(&self, place: Place<'_>, call: &Call<'_>, drivers: &[OsString]) -> Result<Child, GitError> {
        let mut command = Command::new(&self.program);
        let pinned = |flag: &str, path: &Path| {
            let mut word = OsString::from(flag);
            word.push(path);
            word
        };
        command.args(["--no-pager", "--literal-pathspecs"]);
        command.arg(pinned("--git-dir=", place.admin)).arg(pinned("--work-tree=", place.tree)).args(call.argv());
        command.current_dir(&self.empty).env_clear().envs(self.environment(drivers));
        if let Some(index) = place.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that what git itself started ends with it.
        command.process_group(0);
        command.spawn().map_err(|e| GitError::io(&self.program, e))
    }

    fn wait(&self, child: &mut Child, call: &Call<'_>) -> Result<std::process::ExitStatus, GitError> {
        let start = Instant::now();
        loop {
            match child.try_wait().map_err(|e| GitError::io(&self.program, e))? {
                Some(status) => return Ok(status),
                None if start.elapsed() > LIMIT => {
                    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
                        // The group may be gone already; then there is nothing to kill.
                        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
                    }
                    child.wait().map_err(|e| GitError::io(&self.program, e))?;
                    return Err(GitError::TimedOut { command: call.name(), seconds: LIMIT.as_secs() });
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn environment(&self, drivers: &[OsString]) -> Vec<(OsString, OsString)> {
        let fixed = ENVIRONMENT.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let mut env: Vec<(OsString, OsString)> = fixed.collect();
        env.push(("HOME".into(), self.empty.clone().into()));
        env.extend(self.attributes.map(|tree| ("GIT_ATTR_SOURCE".into(), tree.into())));
        let mut settings: Vec<(OsString, OsString)> =
            SETTINGS.iter().map(|(key, value)| (OsString::from(key), OsString::from(value))).collect();
        settings.push(("core.hooksPath".into(), self.empty.clone().into()));
        settings.extend(drivers.iter().map(|key| {
            let required = key.as_encoded_bytes().ends_with(b".required");
            (key.clone(), if required { "false".into() } else { OsString::new() })
        }));
        env.push(("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()));
        for (n, (key, value)) in settings.into_iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{n}").into(), key));
            env.push((format!("GIT_CONFIG_VALUE_{n}").into(), value));
        }
        env
    }
}

const ENVIRONMENT: [(&str, &str); 16] = [
    ("PATH", "/usr/bin:/bin"),
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_AUTHOR_NAME", "Starling"),
    ("GIT_AUTHOR_EMAIL", "starling@localhost"),
    ("GIT_COMMITTER_NAME", "Starling"),
    ("GIT_COMMITTER_EMAIL", "starling@localhost"),
];

/// What the repository may not decide. Line ends are never converted: bytes stay bytes.
const SETTINGS: [(&str, &str); 24] = [
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.sshCommand", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.alternateRefsCommand", ""),
    ("core.autocrlf", "false"),
    ("core.safecrlf", "false"),
    ("core.quotePath", "false"),
    ("core.logAllRefUpdates", "false"),
    ("commit.gpgsign", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    ("credential.helper", ""),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("protocol.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("worktree.useRelativePaths", "false"),
    ("diff.ignoreSubmodules", "all"),
];

/// One byte more than is allowed, so that too much is seen as such.
fn read(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // A broken pipe means that git ended; what came before is what there is.
        stream.take(MAX_OUTPUT + 1).read_to_end(&mut bytes).ok();
    }
    bytes
}
