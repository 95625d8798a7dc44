//! One git command, made harmless.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed")]
    Absent,
    #[error("git {version} has known holes; 2.39.0 or newer is needed")]
    TooOld { version: String },
    #[error("git {command} failed: {message}")]
    Failed { command: String, code: Option<i32>, message: String },
    #[error("git {command} took longer than {seconds} s")]
    TimedOut { command: String, seconds: u64 },
    #[error("{} does not belong to this repository", path.display())]
    Foreign { path: PathBuf },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl GitError {
    pub(super) fn io(path: &Path, source: std::io::Error) -> GitError {
        GitError::Io { what: path.display().to_string(), source }
    }
}

const LIMIT: Duration = Duration::from_secs(30);
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;
/// The oldest git whose gate was tried.
const OLDEST: (u32, u32) = (2, 39);

pub(super) struct Git {
    program: PathBuf,
    version: String,
    /// An empty folder: home, hooks and attributes of every command.
    empty: PathBuf,
}

/// The pinned directories of a command.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub admin: &'a Path,
    pub tree: &'a Path,
    /// A private index instead of the user's.
    pub index: Option<&'a Path>,
}

/// The git dir of a folder: `.git` itself, or what its pointer names for a worktree (the common dir is used then).
pub(super) fn admin_of(project: &Path) -> Option<PathBuf> {
    let dot = project.join(".git");
    if dot.is_dir() {
        return std::fs::canonicalize(dot).ok();
    }
    let text = std::fs::read_to_string(&dot).ok()?;
    let admin = project.join(text.strip_prefix("gitdir:")?.trim());
    let admin = std::fs::canonicalize(admin).ok()?;
    // HEAD and index of a linked worktree are its own, so its own folder is the admin.
    admin.join("HEAD").is_file().then_some(admin)
}

impl Git {
    /// The first git on the path that is not inside the project.
    pub fn find(project: &Path) -> Result<Option<Git>, GitError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let candidates = std::env::split_paths(&path).filter(|dir| dir.is_absolute() && !dir.starts_with(project));
        let Some(program) = candidates.map(|dir| dir.join("git")).find(|file| file.is_file()) else { return Ok(None) };
        let output =
            Command::new(&program).arg("--version").env_clear().output().map_err(|e| GitError::io(&program, e))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.split_whitespace().nth(2).unwrap_or("").to_owned();
        let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST {
            return Err(GitError::TooOld { version });
        }
        let empty = std::env::temp_dir().join(format!("starling-empty-{}", std::process::id()));
        std::fs::create_dir_all(empty.join("hooks")).map_err(|e| GitError::io(&empty, e))?;
        Ok(Some(Git { program, version, empty }))
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn text(&self, place: Place<'_>, args: &[&str], input: &[u8]) -> Result<String, GitError> {
        self.bytes(place, args, input).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn bytes(&self, place: Place<'_>, args: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let drivers = self.drivers(place)?;
        self.run(place, args, input, &drivers)
    }

    /// Every key of the repository's configuration, included files and the worktree's own too, that names a program.
    fn drivers(&self, place: Place<'_>) -> Result<Vec<String>, GitError> {
        const KEYS: &str = r"^(filter\..*\.(clean|smudge|process|required)|diff\..*\.(textconv|command)|merge\..*\.driver|trailer\..*\.(cmd|command)|hook\..*\.command)$";
        match self.run(place, &["config", "--includes", "-z", "--name-only", "--get-regexp", KEYS], &[], &[]) {
            Ok(output) => Ok(output
                .split(|b| *b == 0)
                .filter(|k| !k.is_empty())
                .map(|k| String::from_utf8_lossy(k).into_owned())
                .collect()),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(Vec::new()),
            Err(other) => Err(other),
        }
    }

    fn run(&self, place: Place<'_>, args: &[&str], input: &[u8], drivers: &[String]) -> Result<Vec<u8>, GitError> {
        let name = args.first().copied().unwrap_or("").to_owned();
        let mut command = Command::new(&self.program);
        command.args(["--no-pager", "--literal-pathspecs"]);
        let pinned = |flag: &str, path: &Path| {
            let mut word = OsString::from(flag);
            word.push(path);
            word
        };
        command.arg(pinned("--git-dir=", place.admin)).arg(pinned("--work-tree=", place.tree)).args(args);
        command.current_dir(place.tree).env_clear().envs(self.environment(drivers));
        if let Some(index) = place.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| GitError::io(&self.program, e))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let start = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if let Some(mut stdin) = stdin {
                    // git may end before it has read everything; its exit code says what that means.
                    stdin.write_all(input).ok();
                }
            });
            let out = scope.spawn(move || read(stdout));
            let err = scope.spawn(move || read(stderr));
            let status = loop {
                match child.try_wait().map_err(|e| GitError::io(&self.program, e))? {
                    Some(status) => break status,
                    None if start.elapsed() > LIMIT => {
                        child.kill().ok();
                        child.wait().ok();
                        return Err(GitError::TimedOut { command: name, seconds: LIMIT.as_secs() });
                    }
                    None => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
            if status.success() {
                return Ok(out);
            }
            let message = String::from_utf8_lossy(&err).trim().chars().take(400).collect();
            Err(GitError::Failed { command: name, code: status.code(), message })
        })
    }

    fn environment(&self, drivers: &[String]) -> Vec<(String, OsString)> {
        let hooks = self.empty.join("hooks").into_os_string();
        let mut env: Vec<(String, OsString)> = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
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
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), OsString::from(value)))
        .collect();
        env.push(("HOME".to_owned(), self.empty.clone().into_os_string()));
        let fixed: Vec<(String, OsString)> = [
            ("core.fsmonitor", "false"),
            ("core.untrackedCache", "false"),
            ("core.sshCommand", "false"),
            ("core.attributesFile", "/dev/null"),
            ("core.alternateRefsCommand", ""),
            ("core.autocrlf", "false"),
            ("core.safecrlf", "false"),
            ("core.quotePath", "false"),
            ("commit.gpgsign", "false"),
            ("gpg.program", "false"),
            ("gpg.ssh.program", "false"),
            ("gpg.x509.program", "false"),
            ("log.showSignature", "false"),
            ("credential.helper", ""),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("submodule.recurse", "false"),
            ("protocol.allow", "never"),
            ("safe.bareRepository", "explicit"),
            ("safe.directory", "*"),
        ]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), OsString::from(value)))
        .chain(std::iter::once(("core.hooksPath".to_owned(), hooks)))
        .collect();
        let blank = drivers.iter().map(|key| {
            let value = if key.ends_with(".required") { "false" } else { "" };
            (key.clone(), OsString::from(value))
        });
        let all: Vec<(String, OsString)> = fixed.into_iter().chain(blank).collect();
        env.push(("GIT_CONFIG_COUNT".to_owned(), all.len().to_string().into()));
        for (n, (key, value)) in all.into_iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{n}"), key.into()));
            env.push((format!("GIT_CONFIG_VALUE_{n}"), value));
        }
        env
    }
}

fn read(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // A broken pipe means that git ended; what came before is what there is.
        stream.take(MAX_OUTPUT).read_to_end(&mut bytes).ok();
    }
    bytes
}
