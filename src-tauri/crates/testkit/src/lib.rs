//! Test doubles of the ports and fixtures shared by the tests of every crate.
