//! What the parent of a name says about the part the name plays. Data: the grammars name the same things differently, and
//! where two use one word they mean the same, so one table serves all languages.

use crate::identifiers::IdentifierRole::{self, Attribute, Call, Definition, Import, Keyword, Parameter};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Is(IdentifierRole),
    /// Ask the parent's parent.
    Climb,
}

/// Kinds of the parent, fields that the child stands in ("" for none, no fields at all for any), and what follows.
type Rule = (&'static [&'static str], &'static [&'static str], Says);

/// What the rules say; `None` for a plain use.
pub(crate) fn says(parent: &str, field: &str) -> Option<Says> {
    let fits = |(kinds, fields, _): &&Rule| kinds.contains(&parent) && (fields.is_empty() || fields.contains(&field));
    RULES.iter().find(fits).map(|(_, _, says)| *says)
}

static RULES: &[Rule] = &[
    // -- after a dot or a path separator
    (&["attribute"], &["attribute"], Says::Is(Attribute)),
    (&["field_expression", "selector_expression", "field_access"], &["field"], Says::Is(Attribute)),
    (&["member_expression", "nested_type_identifier"], &["property", "name"], Says::Is(Attribute)),
    (&["scoped_identifier", "scoped_type_identifier", "qualified_identifier"], &["name"], Says::Is(Attribute)),
    (&["lifetime", "label", "labeled_statement"], &["", "label"], Says::Is(Attribute)),
    // -- calls
    (&["generic_function", "template_function"], &["function", "name"], Says::Climb),
    (&["call", "call_expression", "macro_invocation"], &["function", "macro"], Says::Is(Call)),
    (&["method_invocation"], &["name"], Says::Is(Call)),
    (&["new_expression", "object_creation_expression"], &["constructor", "type"], Says::Is(Call)),
    (&["jsx_opening_element", "jsx_self_closing_element"], &["name"], Says::Is(Call)),
    // -- names of arguments and members
    (&["keyword_argument", "keyword_pattern"], &["name", ""], Says::Is(Keyword)),
    (&["keyword_pattern"], &["value"], Says::Is(Definition)),
    (&["pair", "pair_pattern", "keyed_element", "element_value_pair"], &["key"], Says::Is(Keyword)),
    (&["literal_element"], &[], Says::Climb),
    (&["field_initializer"], &["field"], Says::Is(Keyword)),
    (&["jsx_attribute"], &[""], Says::Is(Keyword)),
    // -- patterns: the place of the pattern decides
    (
        &[
            "pattern_list",
            "tuple_pattern",
            "list_pattern",
            "expression_list",
            "tuple",
            "as_pattern_target",
            "splat_pattern",
        ],
        &[],
        Says::Climb,
    ),
    (&["list_splat_pattern", "dictionary_splat_pattern", "dotted_name", "type_parameter"], &[""], Says::Climb),
    (&["type"], &[""], Says::Climb),
    (&["mut_pattern", "ref_pattern", "reference_pattern", "slice_pattern", "or_pattern"], &[], Says::Climb),
    (&["captured_pattern", "tuple_struct_pattern", "struct_pattern", "remaining_field_pattern"], &[""], Says::Climb),
    (&["field_pattern"], &["pattern", ""], Says::Climb),
    (&["object_pattern", "array_pattern", "rest_pattern"], &[], Says::Climb),
    (&["assignment_pattern", "object_assignment_pattern"], &["left"], Says::Climb),
    (&["pair_pattern"], &["value"], Says::Climb),
    (
        &["pointer_declarator", "array_declarator", "function_declarator", "init_declarator", "reference_declarator"],
        &["declarator", ""],
        Says::Climb,
    ),
    (
        &["parenthesized_declarator", "structured_binding_declarator", "optional_parameter_declaration"],
        &["", "declarator"],
        Says::Climb,
    ),
    // -- parameters
    (&["default_parameter", "typed_default_parameter"], &["name"], Says::Climb),
    (&["typed_parameter", "variadic_parameter", "lambda_parameters", "parameters"], &[""], Says::Is(Parameter)),
    (&["required_parameter", "optional_parameter"], &["pattern", "name", ""], Says::Is(Parameter)),
    (&["formal_parameters", "closure_parameters", "inferred_parameters"], &[""], Says::Is(Parameter)),
    (&["parameter", "self_parameter", "const_parameter"], &["pattern", "name"], Says::Is(Parameter)),
    (&["formal_parameter", "catch_formal_parameter"], &["name"], Says::Is(Parameter)),
    (&["parameter_declaration", "variadic_parameter_declaration"], &["name", "declarator"], Says::Is(Parameter)),
    (&["arrow_function", "lambda_expression"], &["parameter", "parameters"], Says::Is(Parameter)),
    (&["parameter_list"], &[""], Says::Is(Parameter)),
    // -- bindings
    (
        &["assignment", "augmented_assignment", "assignment_expression", "assignment_statement"],
        &["left"],
        Says::Is(Definition),
    ),
    (&["augmented_assignment_expression", "compound_assignment_expr"], &["left"], Says::Is(Definition)),
    (&["for_statement", "for_in_clause", "for_in_statement", "range_clause"], &["left"], Says::Is(Definition)),
    (&["short_var_declaration", "receive_statement"], &["left"], Says::Is(Definition)),
    (&["named_expression", "enhanced_for_statement", "resource"], &["name"], Says::Is(Definition)),
    (&["with_item", "except_clause", "as_pattern", "type_switch_statement"], &["alias"], Says::Is(Definition)),
    (&["let_declaration", "let_condition", "for_expression"], &["pattern"], Says::Is(Definition)),
    (&["match_pattern", "case_pattern"], &[""], Says::Is(Definition)),
    (&["global_statement", "nonlocal_statement"], &[], Says::Is(Definition)),
    (&["catch_clause"], &["parameter"], Says::Is(Definition)),
    (
        &["declaration", "function_definition", "field_declaration", "type_definition", "for_range_loop"],
        &["declarator"],
        Says::Is(Definition),
    ),
    (&["function_definition", "class_definition"], &["name", "type_parameters"], Says::Is(Definition)),
    (
        &["type_parameter", "type_parameter_declaration", "const_spec", "var_spec", "type_spec"],
        &["name"],
        Says::Is(Definition),
    ),
    (
        &["variable_declarator", "field_definition", "public_field_definition", "field_declaration"],
        &["name", "property"],
        Says::Is(Definition),
    ),
    (
        &[
            "function_item",
            "function_signature_item",
            "struct_item",
            "enum_item",
            "union_item",
            "trait_item",
            "mod_item",
            "const_item",
            "static_item",
            "type_item",
            "macro_definition",
            "enum_variant",
            "associated_type",
        ],
        &["name"],
        Says::Is(Definition),
    ),
    (
        &[
            "function_declaration",
            "generator_function_declaration",
            "function_expression",
            "function_signature",
            "class_declaration",
            "abstract_class_declaration",
            "class",
            "interface_declaration",
            "type_alias_declaration",
            "enum_declaration",
            "enum_assignment",
            "internal_module",
            "method_definition",
            "method_signature",
            "abstract_method_signature",
            "property_signature",
            "enum_body",
            "method_declaration",
            "constructor_declaration",
            "record_declaration",
            "annotation_type_declaration",
            "enum_constant",
        ],
        &["name"],
        Says::Is(Definition),
    ),
    (
        &[
            "struct_specifier",
            "class_specifier",
            "union_specifier",
            "enum_specifier",
            "enumerator",
            "preproc_def",
            "preproc_function_def",
            "namespace_definition",
            "alias_declaration",
        ],
        &["name"],
        Says::Is(Definition),
    ),
    (&["type_parameter_declaration", "optional_type_parameter_declaration"], &[""], Says::Is(Definition)),
    (&["preproc_params"], &[], Says::Is(Parameter)),
    // -- what an import brings
    (
        &["aliased_import", "import_statement", "import_from_statement", "future_import_statement"],
        &[],
        Says::Is(Import),
    ),
    (&["export_specifier"], &["alias"], Says::Is(Attribute)),
];
