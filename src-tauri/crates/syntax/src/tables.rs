//! What each grammar calls the things that every language has. Data, one table a language.

use starling_core::code::{Language, SymbolKind};

/// A node kind that defines a symbol.
pub(crate) struct Definition {
    pub kind: &'static str,
    pub symbol: SymbolKind,
    /// The node's members get its name before theirs.
    pub container: bool,
}

pub(crate) struct Table {
    pub definitions: &'static [Definition],
    pub imports: &'static [&'static str],
    pub comments: &'static [&'static str],
    pub calls: &'static [&'static str],
    pub names: &'static [&'static str],
    /// Nodes whose members are named after the type they speak of (Rust `impl`).
    pub attached: &'static [&'static str],
}

const fn def(kind: &'static str, symbol: SymbolKind) -> Definition {
    Definition { kind, symbol, container: false }
}

const fn holder(kind: &'static str, symbol: SymbolKind) -> Definition {
    Definition { kind, symbol, container: true }
}

pub(crate) fn table(language: Language) -> &'static Table {
    match language {
        Language::Python => &PYTHON,
        Language::Rust => &RUST,
        Language::JavaScript => &JAVASCRIPT,
        Language::TypeScript | Language::Tsx => &TYPESCRIPT,
        Language::Go => &GO,
        Language::Java => &JAVA,
        Language::C | Language::Cpp => &CPP,
    }
}

static PYTHON: Table = Table {
    definitions: &[
        def("function_definition", SymbolKind::Function),
        holder("class_definition", SymbolKind::Class),
        def("assignment", SymbolKind::Constant),
    ],
    imports: &["import_statement", "import_from_statement", "future_import_statement"],
    comments: &["comment"],
    calls: &["call"],
    names: &["identifier"],
    attached: &[],
};

static RUST: Table = Table {
    definitions: &[
        def("function_item", SymbolKind::Function),
        def("function_signature_item", SymbolKind::Function),
        holder("struct_item", SymbolKind::Struct),
        holder("enum_item", SymbolKind::Enum),
        holder("union_item", SymbolKind::Struct),
        holder("trait_item", SymbolKind::Trait),
        holder("mod_item", SymbolKind::Module),
        def("const_item", SymbolKind::Constant),
        def("static_item", SymbolKind::Constant),
        def("type_item", SymbolKind::Type),
        def("macro_definition", SymbolKind::Macro),
    ],
    imports: &["use_declaration", "extern_crate_declaration"],
    comments: &["line_comment", "block_comment"],
    calls: &["call_expression", "macro_invocation"],
    names: &["identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"],
    attached: &["impl_item"],
};

static JAVASCRIPT_NAMES: &[&str] = &[
    "identifier",
    "type_identifier",
    "property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
];

static JAVASCRIPT: Table = Table {
    definitions: &[
        def("function_declaration", SymbolKind::Function),
        def("generator_function_declaration", SymbolKind::Function),
        holder("class_declaration", SymbolKind::Class),
        def("method_definition", SymbolKind::Method),
        def("field_definition", SymbolKind::Variable),
        def("assignment_expression", SymbolKind::Variable),
        def("variable_declarator", SymbolKind::Variable),
    ],
    imports: &["import_statement"],
    comments: &["comment"],
    calls: &["call_expression"],
    names: JAVASCRIPT_NAMES,
    attached: &[],
};

static TYPESCRIPT: Table = Table {
    definitions: &[
        def("function_declaration", SymbolKind::Function),
        def("function_signature", SymbolKind::Function),
        def("generator_function_declaration", SymbolKind::Function),
        holder("class_declaration", SymbolKind::Class),
        holder("abstract_class_declaration", SymbolKind::Class),
        holder("interface_declaration", SymbolKind::Interface),
        holder("enum_declaration", SymbolKind::Enum),
        holder("internal_module", SymbolKind::Module),
        def("type_alias_declaration", SymbolKind::Type),
        def("method_definition", SymbolKind::Method),
        def("method_signature", SymbolKind::Method),
        def("abstract_method_signature", SymbolKind::Method),
        def("public_field_definition", SymbolKind::Variable),
        def("variable_declarator", SymbolKind::Variable),
    ],
    imports: &["import_statement"],
    comments: &["comment"],
    calls: &["call_expression"],
    names: JAVASCRIPT_NAMES,
    attached: &[],
};

static GO: Table = Table {
    definitions: &[
        def("function_declaration", SymbolKind::Function),
        def("method_declaration", SymbolKind::Method),
        def("type_spec", SymbolKind::Type),
        def("const_spec", SymbolKind::Constant),
        def("var_spec", SymbolKind::Variable),
    ],
    imports: &["import_spec"],
    comments: &["comment"],
    calls: &["call_expression"],
    names: &["identifier", "type_identifier", "field_identifier"],
    attached: &[],
};

static JAVA: Table = Table {
    definitions: &[
        holder("class_declaration", SymbolKind::Class),
        holder("record_declaration", SymbolKind::Class),
        holder("interface_declaration", SymbolKind::Interface),
        holder("annotation_type_declaration", SymbolKind::Interface),
        holder("enum_declaration", SymbolKind::Enum),
        def("method_declaration", SymbolKind::Method),
        def("constructor_declaration", SymbolKind::Method),
    ],
    imports: &["import_declaration"],
    comments: &["line_comment", "block_comment"],
    calls: &["method_invocation", "object_creation_expression"],
    names: &["identifier", "type_identifier"],
    attached: &[],
};

static CPP: Table = Table {
    definitions: &[
        def("function_definition", SymbolKind::Function),
        holder("class_specifier", SymbolKind::Class),
        holder("struct_specifier", SymbolKind::Struct),
        holder("union_specifier", SymbolKind::Struct),
        holder("enum_specifier", SymbolKind::Enum),
        holder("namespace_definition", SymbolKind::Module),
        def("type_definition", SymbolKind::Type),
        def("preproc_function_def", SymbolKind::Macro),
        def("declaration", SymbolKind::Function),
        def("field_declaration", SymbolKind::Function),
    ],
    imports: &["preproc_include", "using_declaration"],
    comments: &["comment"],
    calls: &["call_expression"],
    names: &["identifier", "type_identifier", "field_identifier"],
    attached: &[],
};
