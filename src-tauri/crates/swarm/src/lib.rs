//! The coordination layer: roles, stages, gates, sampling policy and budgets, over ports only.
