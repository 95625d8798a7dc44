//! `starling fix`: a task made of one target, then the way of every task.

use super::output::{CliError, CliResult, Output};
use super::run::submit;
use super::session::Session;
use super::{args, input};
use starling_core::RelPath;
use starling_core::task_file::TaskFile;

pub fn run(args: args::Fix, out: Output) -> CliResult {
    let project = input::project(&args.project)?;
    let (path, symbol) = input::target(&project, &args.target)?;
    let told = args.task.as_deref().map(input::task_file).transpose()?;
    let text = task_text(&path, &symbol, told.as_ref().map(|file| file.text.as_str()));
    let file = TaskFile::decode("fix", text.as_bytes()).map_err(CliError::refused)?;
    submit(&Session::open(out, args.consent)?, file, &project)
}

/// A task file that names the target, so that every later stage finds it by the same rules as in any task.
fn task_text(path: &RelPath, symbol: &str, told: Option<&str>) -> String {
    let why = told.map_or("Its tests fail.", str::trim);
    format!(
        "# Fix `{symbol}` in `{path}`\n\n{why}\n\n## Acceptance\n\n- The tests of the project pass.\n\n## Constraints\n\n\
         - Change only `{symbol}` in `{path}` and keep its signature.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_names_its_target() {
        let path = RelPath::new("gcd.py").expect("inside");
        insta::assert_snapshot!(task_text(&path, "gcd", Some("It never ends.\n")), @r"
        # Fix `gcd` in `gcd.py`

        It never ends.

        ## Acceptance

        - The tests of the project pass.

        ## Constraints

        - Change only `gcd` in `gcd.py` and keep its signature.
        ");
    }
}
