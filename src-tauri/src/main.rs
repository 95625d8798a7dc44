//! The program. `generate_context!()` stands here and nowhere else, so that a change of the page recompiles this file only.

fn main() -> std::process::ExitCode {
    starling_app::start(|| tauri::generate_context!())
}
