//! Kept tests with what each of them proves, and how many were left at each gate.

use crate::mirror::Claim;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::test_set::{Funnel, KeptTest, TestProof, TestSet};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TestsView {
    pub path: String,
    pub kept: Vec<KeptTestView>,
    pub funnel: FunnelView,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct KeptTestView {
    pub name: String,
    pub source: String,
    pub claim: Claim,
    pub proof: Vec<ProofOfTest>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum ProofOfTest {
    FailsBefore { message: String },
    KillsMutant { mutant: String, diff: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct FunnelView {
    pub generated: u32,
    pub parsed: u32,
    pub symbols_ok: u32,
    pub built: u32,
    pub passed: u32,
    pub stable: u32,
    pub useful: u32,
}

impl From<&TestSet> for TestsView {
    fn from(TestSet { path, source: _, kept, funnel }: &TestSet) -> TestsView {
        let Funnel { generated, parsed, symbols_ok, built, passed, stable, useful } = *funnel;
        TestsView {
            path: path.to_string(),
            kept: kept.iter().map(KeptTestView::from).collect(),
            funnel: FunnelView { generated, parsed, symbols_ok, built, passed, stable, useful },
        }
    }
}

impl From<&KeptTest> for KeptTestView {
    fn from(test: &KeptTest) -> KeptTestView {
        let KeptTest { name, source, claim, proof } = test.clone();
        let proof = proof.into_iter().map(|proof| match proof {
            TestProof::FailsBefore { message } => ProofOfTest::FailsBefore { message },
            TestProof::KillsMutant { mutant, diff } => ProofOfTest::KillsMutant { mutant, diff },
        });
        KeptTestView { name, source, claim: claim.into(), proof: proof.collect() }
    }
}
