//! Each IPC request, response and event, with conversions from core and the TypeScript export.
