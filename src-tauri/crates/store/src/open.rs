//! Opening the database: version, lock, check, migration. A broken file is set aside whole, never repaired in place.

use crate::schema::{APPLICATION_ID, KNOWN_VERSION, migrations};
use crate::{read_error, write_error};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use starling_core::port::JournalError;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Before 3.51.3 a checkpoint could corrupt a database in WAL mode.
const OLDEST_SQLITE: i32 = 3_051_003;

/// What was found at opening.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Where a database that could not be used was moved, with its log files.
    pub set_aside: Option<PathBuf>,
    pub sqlite: String,
}

/// Databases that were set aside beside `file`, oldest first.
pub(crate) fn all_set_aside(file: &Path) -> Vec<PathBuf> {
    let prefix = broken_prefix(file);
    let mut found: Vec<PathBuf> = std::fs::read_dir(file.parent().unwrap_or(Path::new(".")))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.strip_prefix(&prefix).is_some_and(|stamp| stamp.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .collect();
    found.sort();
    found
}

fn broken_prefix(file: &Path) -> String {
    format!("{}.broken-", file.file_name().unwrap_or_default().to_string_lossy())
}

pub(crate) fn open(file: &Path) -> Result<(Connection, Opened), JournalError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(read_error(format!("SQLite {} is too old; 3.51.3 is needed", rusqlite::version())));
    }
    let mut opened = Opened { set_aside: None, sqlite: rusqlite::version().to_owned() };
    let connection = match try_open(file) {
        Ok(connection) => connection,
        Err(Fault::Error(error)) => return Err(error),
        Err(Fault::Broken) => {
            opened.set_aside = Some(set_aside(file)?);
            match try_open(file) {
                Ok(connection) => connection,
                Err(Fault::Error(error)) => return Err(error),
                Err(Fault::Broken) => return Err(read_error("a new database cannot be made in this folder")),
            }
        }
    };
    Ok((connection, opened))
}

enum Fault {
    Broken,
    Error(JournalError),
}

fn try_open(file: &Path) -> Result<Connection, Fault> {
    let fresh = !file.exists();
    let mut connection = Connection::open(file).map_err(|e| Fault::Error(read_error(e)))?;
    private(file).map_err(|e| Fault::Error(write_error(e)))?;
    if !fresh && !is_sound(&connection).map_err(Fault::Error)? {
        // Closing must not write the log into the broken file: both are set aside as they were found.
        let keep = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        keep.map_err(|e| Fault::Error(read_error(e)))?;
        return Err(Fault::Broken);
    }
    let id: i32 =
        connection.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(|e| Fault::Error(read_error(e)))?;
    if !(id == 0 || id == APPLICATION_ID) {
        return Err(Fault::Error(read_error("the database belongs to another program")));
    }
    let version: i64 =
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(|e| Fault::Error(read_error(e)))?;
    if version > KNOWN_VERSION {
        return Err(Fault::Error(JournalError::Newer { found: version, known: KNOWN_VERSION }));
    }
    configure(&connection).map_err(|e| Fault::Error(write_error(e)))?;
    migrations().to_latest(&mut connection).map_err(|e| Fault::Error(write_error(e)))?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch(&format!(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;
         PRAGMA busy_timeout=5000; PRAGMA recursive_triggers=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;
         PRAGMA journal_size_limit=67108864; PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1;
         PRAGMA application_id={APPLICATION_ID};"
    ))
}

/// "not a database" and a failed quick check are a broken file; a busy or unreadable one is an error, because setting it
/// aside would lose what is in it.
fn is_sound(connection: &Connection) -> Result<bool, JournalError> {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    let check: rusqlite::Result<String> = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    match check {
        Ok(answer) => Ok(answer == "ok"),
        Err(rusqlite::Error::SqliteFailure(e, _)) if matches!(e.code, DatabaseCorrupt | NotADatabase) => Ok(false),
        Err(other) => Err(read_error(other)),
    }
}

fn set_aside(file: &Path) -> Result<PathBuf, JournalError> {
    let stamp = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let target = file.with_file_name(format!("{}{stamp}", broken_prefix(file)));
    for suffix in ["", "-wal", "-shm"] {
        let (from, to) = (with_suffix(file, suffix), with_suffix(&target, suffix));
        if from.exists() {
            std::fs::rename(&from, &to).map_err(write_error)?;
        }
    }
    Ok(target)
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(unix)]
fn private(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn private(_file: &Path) -> std::io::Result<()> {
    Ok(())
}

pub(crate) fn reader(file: &Path) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(read_error)?;
    connection.busy_timeout(std::time::Duration::from_secs(5)).map_err(read_error)?;
    Ok(connection)
}

/// A whole copy, made durable and checked under another name first.
pub(crate) fn copy(connection: &Connection, target: &Path) -> Result<(), JournalError> {
    let part = with_suffix(target, ".part");
    if part.exists() {
        std::fs::remove_file(&part).map_err(write_error)?;
    }
    let name = part.to_str().ok_or_else(|| write_error("the name of the copy is not UTF-8"))?;
    connection.execute("VACUUM INTO ?", [name]).map_err(write_error)?;
    private(&part).and_then(|()| std::fs::File::open(&part)?.sync_all()).map_err(write_error)?;
    if !is_sound(&reader(&part)?)? {
        return Err(write_error("the copy is not sound"));
    }
    std::fs::rename(&part, target).map_err(write_error)
}
