//! Source text into outlines and symbols with tree-sitter; never fails.
