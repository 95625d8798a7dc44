//! The words of the command line, and nothing else: parsing must be quick and must not touch the data folder.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A local-first coding assistant. Without a command it opens the window.
#[derive(Debug, Parser)]
#[command(name = "starling", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 not solved or refused, 2 wrong usage, 130 cancelled.\n\
    Results go to stdout, everything for people to stderr. No command asks a question when stdin is not a terminal.")]
pub struct Args {
    /// Print one JSON object (or one event a line) on stdout.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Work on tasks: read, plan, change, test, review.
    #[command(after_help = "Example: starling run tasks/fix-rounding.md --project . --yes --json")]
    Run(Run),
    /// Read task files and print what they ask for.
    #[command(after_help = "Example: starling parse tasks/*.md --json")]
    Parse(Parse),
    /// Read a task and print the plan for it.
    #[command(after_help = "Example: starling plan tasks/fix-rounding.md --project .")]
    Plan(Plan),
    /// Write unit tests for one function; each is verified before it counts.
    #[command(after_help = "Example: starling tests shop/cart.py::Cart.total --project . --out tests/test_total.py")]
    Tests(Tests),
    /// Change one function until the project's tests pass.
    #[command(after_help = "Example: starling fix shop/cart.py::Cart.total --project . --yes")]
    Fix(Fix),
    /// Review a diff.
    #[command(after_help = "Example: git diff | starling review --diff - --project . --dry-run")]
    Review(Review),
    /// List the tasks, or show one.
    #[command(after_help = "Example: starling tasks")]
    Tasks(TaskQuery),
    /// Print the change of a task as a unified diff.
    #[command(after_help = "Example: starling diff 0198c1 | less")]
    Diff(TaskId),
    /// Write the change of a task (or some hunks of it) into the project.
    #[command(after_help = "Example: starling land 0198c1 --hunks 0,2")]
    Land(Land),
    /// Drop a task; its work stays under a rescue ref.
    #[command(after_help = "Example: starling discard 0198c1")]
    Discard(TaskId),
    /// Go on with every task that was interrupted, or with one.
    #[command(after_help = "Example: starling resume --yes")]
    Resume(Resume),
    /// The models: what is there, get one, import a file, examine, remove.
    #[command(subcommand, after_help = "Example: starling models get qwen2.5-coder-1.5b")]
    Models(Models),
    /// Give a role to a model.
    #[command(after_help = "Example: starling bind tester qwen2.5-coder-0.5b")]
    Bind(Bind),
    /// Build or refresh the code map of a project.
    #[command(after_help = "Example: starling index .")]
    Index(Index),
    /// Search a project by words and names.
    #[command(after_help = "Example: starling search \"round half even\" --project .")]
    Search(Search),
    /// Print the symbols of one source file.
    #[command(after_help = "Example: starling outline src/main.rs --json")]
    Outline(Outline),
    /// Scorecards by role and model.
    #[command(after_help = "Example: starling metrics --by role,model --json")]
    Metrics(Metrics),
    /// What one task cost.
    #[command(after_help = "Example: starling receipt 0198c1")]
    Receipt(TaskId),
    /// Everything that ever left this machine.
    #[command(after_help = "Example: starling egress")]
    Egress,
    /// Measure the machine at hand.
    #[command(after_help = "Example: starling bench index --project . --json")]
    Bench(Bench),
    /// Examine the environment.
    #[command(after_help = "Example: starling doctor --json")]
    Doctor,
    /// Open the window, or hand files to the one that is open.
    #[command(visible_alias = "open")]
    #[command(after_help = "Example: starling window --project . --task tasks/fix-rounding.md")]
    Window(Window),
    /// Print the completions for a shell.
    #[command(after_help = "Example: starling completions bash > ~/.local/share/bash-completion/completions/starling")]
    Completions { shell: clap_complete::Shell },
}

/// What a run may do without asking.
#[derive(Clone, Debug, ClapArgs)]
pub struct Consent {
    /// Accept the plan, and let the project's build and tests run (in the sandbox) for this run.
    #[arg(long)]
    pub yes: bool,
    /// Let the review packet leave the machine; else the review is local.
    #[arg(long, conflicts_with = "offline")]
    pub send: bool,
    /// Forbid the network altogether.
    #[arg(long)]
    pub offline: bool,
    /// Write an approved change into the project.
    #[arg(long)]
    pub land: bool,
    /// Candidates per step (default: the setting).
    #[arg(long, value_name = "N")]
    pub candidates: Option<u32>,
    /// Where the random draws start; equal seeds repeat a run.
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub seed: u64,
}

#[derive(Debug, ClapArgs)]
pub struct Run {
    /// Task files, "-" for stdin, or a sentence.
    #[arg(required = true, value_name = "TASK")]
    pub tasks: Vec<String>,
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub project: PathBuf,
    #[command(flatten)]
    pub consent: Consent,
}

#[derive(Debug, ClapArgs)]
pub struct Parse {
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Check the names in the task against this project.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct Plan {
    /// A task file, "-" for stdin, or a sentence.
    pub task: String,
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub project: PathBuf,
    /// Where the random draws start; equal seeds repeat a run.
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub seed: u64,
}

#[derive(Debug, ClapArgs)]
pub struct Tests {
    #[arg(value_name = "FILE::SYMBOL")]
    pub target: String,
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub project: PathBuf,
    /// Where the kept tests are written (default: nowhere).
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[arg(long, value_name = "N")]
    pub budget_seconds: Option<u32>,
    /// Let the project's build and tests run (in the sandbox) for this run.
    #[arg(long)]
    pub yes: bool,
    /// Where the random draws start; equal seeds repeat a run.
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub seed: u64,
}

#[derive(Debug, ClapArgs)]
pub struct Fix {
    #[arg(value_name = "FILE::SYMBOL")]
    pub target: String,
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub project: PathBuf,
    /// Says what is wrong; without it the project's own tests say it.
    #[arg(long, value_name = "FILE")]
    pub task: Option<PathBuf>,
    #[command(flatten)]
    pub consent: Consent,
}

#[derive(Debug, ClapArgs)]
pub struct Review {
    /// A unified diff, "-" for stdin.
    #[arg(long, value_name = "FILE")]
    pub diff: PathBuf,
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub project: PathBuf,
    /// Print the exact packet and its worst-case price; send nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Let the packet leave the machine; else the review is local.
    #[arg(long, conflicts_with = "dry_run")]
    pub send: bool,
}

#[derive(Debug, ClapArgs)]
pub struct TaskQuery {
    pub id: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct TaskId {
    /// The id of a task, or the start of it.
    pub id: String,
}

#[derive(Debug, ClapArgs)]
pub struct Land {
    /// The id of a task, or the start of it.
    pub id: String,
    /// Only these hunks, counted from 0 (default: all).
    #[arg(long, value_delimiter = ',', value_name = "N,...")]
    pub hunks: Option<Vec<u32>>,
}

#[derive(Debug, ClapArgs)]
pub struct Resume {
    pub id: Option<String>,
    #[command(flatten)]
    pub consent: Consent,
}

#[derive(Debug, Subcommand)]
pub enum Models {
    /// What is on disk and what fits this machine.
    List,
    /// Download a model of the catalogue; goes on where it stopped.
    Get {
        /// A name of the list, or "default" for the one that suits this machine.
        name: String,
        /// The checksum to accept for a model without a pinned one.
        #[arg(long, value_name = "SUM")]
        sha256: Option<String>,
    },
    /// Take over a GGUF file (it is copied, never moved).
    Import {
        file: PathBuf,
        /// The name to bind it by (default: the file's name).
        #[arg(long)]
        name: Option<String>,
    },
    /// Load a model and let it sit a small exam.
    Certify { name: String },
    /// Delete a model's file from the data folder.
    Remove { name: String },
    /// The worker side of certify.
    #[command(hide = true)]
    Probe { file: PathBuf },
}

#[derive(Debug, ClapArgs)]
pub struct Bind {
    #[arg(value_parser = ["parser", "planner", "executor", "tester", "reviewer"])]
    pub role: String,
    pub model: String,
}

#[derive(Debug, ClapArgs)]
pub struct Index {
    pub dir: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub struct Search {
    pub query: String,
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub project: PathBuf,
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub limit: usize,
}

#[derive(Debug, ClapArgs)]
pub struct Outline {
    pub file: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub struct Metrics {
    /// Group by these.
    #[arg(long, value_delimiter = ',', default_value = "role,model")]
    pub by: Vec<MetricKey>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MetricKey {
    Role,
    Model,
}

#[derive(Debug, Default, ClapArgs)]
pub struct Window {
    /// Task files to hand over.
    pub files: Vec<PathBuf>,
    /// The project to show.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Task files to hand over.
    #[arg(long, value_name = "FILE")]
    pub task: Vec<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct Bench {
    #[arg(value_enum)]
    pub what: BenchSubject,
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub project: PathBuf,
    /// The model to measure (default: the executor's).
    #[arg(long)]
    pub model: Option<String>,
    /// llama.cpp's own server, to compare the engine with (tests/bench/README.md says how to get it).
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
    /// Turns of each side.
    #[arg(long, default_value_t = 3)]
    pub rounds: u32,
    /// Only this one of one_sequence, sixteen_candidates, sixteen_workers, schema_plan and restart.
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchSubject {
    Engine,
    Index,
    App,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound_and_every_command_has_an_example() {
        Args::command().debug_assert();
        for command in Args::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Example: "), "{} has no example", command.get_name());
        }
    }
}
