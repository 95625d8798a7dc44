//! Which model a role is bound to, and which models are in memory. Models load on demand, stay resident within a memory
//! budget, and can be swapped between two calls: whoever holds a model keeps it alive until its call is over.
//!
//! Where model files lie is the shelf's business, how one is loaded is given by a function: both can be replaced in tests.

use starling_core::port::{Model, ModelError, Models};
use starling_core::{ModelName, Role};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A model that can be bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    pub name: ModelName,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A GGUF file and what it will take: megabytes in memory with its context, millions of parameters.
    File { path: PathBuf, memory_mb: u64, millions: u32 },
    /// Behind an endpoint of the settings: takes no memory here.
    Endpoint { url: String, model: String, context: u32 },
}

impl Known {
    fn memory_mb(&self) -> u64 {
        match &self.source {
            Source::File { memory_mb, .. } => *memory_mb,
            Source::Endpoint { .. } => 0,
        }
    }
}

type Bindings = dyn Fn(Role) -> Result<Known, ModelError> + Send + Sync;
type Load = dyn Fn(&Known) -> Result<Arc<dyn Model>, ModelError> + Send + Sync;

pub struct Residency {
    /// What a role is bound to at this moment.
    bindings: Box<Bindings>,
    load: Box<Load>,
    budget_mb: u64,
    /// Least recently used first. Locked while a model loads.
    resident: Mutex<Vec<Resident>>,
    /// The same by name, for whoever only looks: never locked for long.
    shown: Mutex<Vec<(ModelName, u64)>>,
}

struct Resident {
    known: Known,
    model: Arc<dyn Model>,
}

impl Residency {
    pub fn new(
        budget_mb: u64,
        bindings: impl Fn(Role) -> Result<Known, ModelError> + Send + Sync + 'static,
        load: impl Fn(&Known) -> Result<Arc<dyn Model>, ModelError> + Send + Sync + 'static,
    ) -> Residency {
        Residency {
            bindings: Box::new(bindings),
            load: Box::new(load),
            budget_mb,
            resident: Mutex::default(),
            shown: Mutex::default(),
        }
    }

    /// Names and megabytes of what is in memory.
    pub fn resident(&self) -> Vec<(ModelName, u64)> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, resident: &[Resident]) {
        let names = resident.iter().map(|entry| (entry.known.name.clone(), entry.known.memory_mb())).collect();
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// The name a role is bound to, without loading it.
    pub fn name_of(&self, role: Role) -> Option<ModelName> {
        (self.bindings)(role).ok().map(|known| known.name)
    }

    pub fn get(&self, known: &Known) -> Result<Arc<dyn Model>, ModelError> {
        // Held while loading, so that two roles of one model do not load it twice.
        let mut resident = self.resident.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = resident.iter().position(|entry| entry.known == *known) {
            let entry = resident.remove(at);
            let model = Arc::clone(&entry.model);
            resident.push(entry);
            self.note(&resident);
            return Ok(model);
        }
        let room = make_room(&mut resident, known, self.budget_mb);
        self.note(&resident);
        room?;
        let model = (self.load)(known)?;
        resident.push(Resident { known: known.clone(), model: Arc::clone(&model) });
        self.note(&resident);
        Ok(model)
    }

    /// Forgets what is not in use, for instance before its file is removed.
    pub fn release(&self, name: &ModelName) {
        let mut resident = self.resident.lock().unwrap_or_else(PoisonError::into_inner);
        resident.retain(|entry| entry.known.name != *name);
        self.note(&resident);
    }
}

impl Models for Residency {
    fn bound(&self, role: Role) -> Result<Arc<dyn Model>, ModelError> {
        self.get(&(self.bindings)(role)?)
    }
}

/// Drops the models used longest ago that nobody holds, until `known` fits.
fn make_room(resident: &mut Vec<Resident>, known: &Known, budget_mb: u64) -> Result<(), ModelError> {
    let need = known.memory_mb();
    let used = |resident: &[Resident]| resident.iter().map(|entry| entry.known.memory_mb()).sum::<u64>();
    while used(resident) + need > budget_mb {
        let idle = resident.iter().position(|e| Arc::strong_count(&e.model) == 1 && e.known.memory_mb() > 0);
        let Some(idle) = idle else {
            let have = budget_mb.saturating_sub(used(resident));
            return Err(ModelError::Memory { model: known.name.clone(), need_mb: need, have_mb: have });
        };
        resident.remove(idle);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use starling_core::port::{Cancel, Flow, ModelCard, SampleEvent, SampleRequest, Sampled};
    use starling_core::review::Place;
    use std::sync::RwLock;

    struct Named(ModelName);

    impl Model for Named {
        fn card(&self) -> ModelCard {
            let name = self.0.clone();
            ModelCard { name, place: Place::Local, context: 1, schema: false, millions: 1, price: None }
        }
        fn count_tokens(&self, text: &str) -> Result<u32, ModelError> {
            Ok(text.len() as u32)
        }
        fn sample(
            &self,
            _: &SampleRequest,
            _: &Cancel,
            _: &mut dyn FnMut(SampleEvent<'_>) -> Flow,
        ) -> Result<Sampled, ModelError> {
            Err(ModelError::Cancelled)
        }
    }

    fn known(name: &str, memory_mb: u64) -> Known {
        let source = Source::File { path: PathBuf::from(name), memory_mb, millions: 1 };
        Known { name: ModelName::new(name), source }
    }

    /// 100 MB of room; the binding of every role is what `bind` holds.
    fn room(bind: &Arc<RwLock<Known>>) -> Residency {
        let bind = Arc::clone(bind);
        let bindings = move |_: Role| Ok(bind.read().unwrap().clone());
        Residency::new(100, bindings, |known| Ok(Arc::new(Named(known.name.clone())) as Arc<dyn Model>))
    }

    #[track_caller]
    fn check(residency: &Residency, expected: &[&str]) {
        let names: Vec<String> = residency.resident().into_iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn swaps_between_calls_and_keeps_within_the_budget() {
        let bind = Arc::new(RwLock::new(known("a", 60)));
        let residency = room(&bind);
        let a = residency.bound(Role::Parser).unwrap();
        assert!(Arc::ptr_eq(&a, &residency.bound(Role::Tester).unwrap()), "loaded twice");
        *bind.write().unwrap() = known("b", 30);
        drop(residency.bound(Role::Parser).unwrap());
        check(&residency, &["a", "b"]);
        // "a" is in use, so only "b" can go, and that is not enough for "c".
        *bind.write().unwrap() = known("c", 80);
        let refused = residency.bound(Role::Parser).err();
        assert_eq!(refused, Some(ModelError::Memory { model: ModelName::new("c"), need_mb: 80, have_mb: 40 }));
        drop(a);
        assert_eq!(residency.bound(Role::Parser).unwrap().card().name.as_str(), "c");
        check(&residency, &["c"]);
        residency.release(&ModelName::new("c"));
        check(&residency, &[]);
    }
}
