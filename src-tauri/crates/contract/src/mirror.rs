//! Enums of core without data, as the page names them. Each mirror is total: a new variant in core does not compile here
//! until it has a name on the wire.

use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core as core;

macro_rules! mirror {
    ($(#[$doc:meta])* $name:ident of $core:ty { $($variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
        #[serde(rename_all = "camelCase")]
        pub enum $name { $($variant),+ }

        impl From<$core> for $name {
            fn from(value: $core) -> $name {
                match value { $(<$core>::$variant => $name::$variant),+ }
            }
        }

        impl From<$name> for $core {
            fn from(value: $name) -> $core {
                match value { $($name::$variant => <$core>::$variant),+ }
            }
        }
    };
}

mirror!(Role of core::Role { Parser, Planner, Executor, Tester, Reviewer });
mirror!(TaskKind of core::brief::TaskKind { Bug, Feature, Refactor, Test, Docs, Question, Chore });
mirror!(Place of core::review::Place { Local, Cloud });
mirror!(Severity of core::review::Severity { Info, Warning, Error });
mirror!(Verdict of core::review::VerdictKind { Approve, Change, Reject });
mirror!(Outcome of core::state::Outcome { Ready, NeedsWork, Failed, Cancelled });
mirror!(
    /// Where a candidate came from.
    Origin of core::state::CandidateSource { Model, Operator, Recorder }
);
mirror!(
    /// The gates of a candidate, cheapest first.
    Gate of core::evidence::Gate { Form, Parses, Symbols, Builds, Tests, Stable, Useful }
);
mirror!(Grade of core::evidence::Grade { NotVerified, ParsesOnly, BuildOnly, TestsPass, TestsProve });
mirror!(
    /// What a kept test may be called.
    Claim of core::test_set::TestClaim { Regression, Oracle }
);
mirror!(LineMark of core::change::LineMark { Same, Added, Removed });
mirror!(
    /// What comes next for a task.
    Stage of core::state::Stage {
        Brief, Plan, ApprovePlan, Swarm, Packet, DecidePacket, Review, Decide, Landed, Discarded, Cancelled, Failed,
    }
);
