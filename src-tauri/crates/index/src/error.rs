//! What can go wrong with an index, and how the port reports it.

use starling_core::port::MapError;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    #[error("{path} is not a folder that can be opened: {message}")]
    Folder { path: String, message: String },
    #[error("the index database cannot be used: {message}")]
    Database { message: String },
    /// The database is damaged; making it anew helps.
    #[error("the index database is damaged: {message}")]
    Damaged { message: String },
    #[error("the project cannot be watched: {message}")]
    Watch { message: String },
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> IndexError {
        let message = error.to_string();
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                IndexError::Damaged { message }
            }
            _ => IndexError::Database { message },
        }
    }
}

impl From<IndexError> for MapError {
    fn from(error: IndexError) -> MapError {
        MapError::Index { message: error.to_string() }
    }
}
