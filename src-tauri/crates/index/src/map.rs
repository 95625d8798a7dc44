//! The index as the port of the core.

use crate::project::ProjectIndex;
use crate::{IndexError, names, references, search};
use starling_core::RelPath;
use starling_core::code::{Definition, FileEntry, Language, Outline, Reference, SearchHit};
use starling_core::port::{CodeMap, MapError};

impl CodeMap for ProjectIndex {
    fn files(&self) -> Result<Vec<FileEntry>, MapError> {
        self.entries().map_err(MapError::from)
    }

    fn text(&self, path: &RelPath) -> Result<String, MapError> {
        let read = self.root.bytes(path);
        let (bytes, _) = read.map_err(|error| MapError::Read { path: path.to_string(), message: error.to_string() })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// From the text as it is now, so that its spans fit what `text` gives.
    fn outline(&self, path: &RelPath) -> Result<Outline, MapError> {
        let text = self.text(path)?;
        Ok(match Language::of(path) {
            Some(language) => starling_syntax::outline(language, &text),
            None => Outline { language: None, symbols: Vec::new(), imports: Vec::new(), errors: Vec::new() },
        })
    }

    fn definitions(&self, name: &str) -> Result<Vec<Definition>, MapError> {
        Ok(names::definitions(self, name)?)
    }

    fn references(&self, name: &str, limit: usize) -> Result<Vec<Reference>, MapError> {
        Ok(references::references(self, name, limit)?)
    }

    fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, MapError> {
        Ok(search::search(self, query, limit)?)
    }
}

impl ProjectIndex {
    pub(crate) fn entries(&self) -> Result<Vec<FileEntry>, IndexError> {
        let reader = self.reader();
        let mut statement = reader.prepare_cached("SELECT path, size FROM file ORDER BY path")?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
        let mut entries = Vec::new();
        for row in rows {
            let (path, bytes) = row?;
            if let Ok(path) = RelPath::new(path) {
                entries.push(FileEntry { bytes: bytes.cast_unsigned(), language: Language::of(&path), path });
            }
        }
        Ok(entries)
    }
}
