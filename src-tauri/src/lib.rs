//! The app: composes every crate into the window, the tray and the command line.
