//! Fetches a model of the catalogue by hand: `fetch <manifest.toml> <name> <folder> [index address]`.

use starling_core::catalog::Catalog;
use starling_core::port::{Cancel, Flow};
use starling_net::{From, NetGate, Progress, fetch_model};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [manifest, name, folder, rest @ ..] = arguments.as_slice() else {
        return Err("fetch <manifest.toml> <name> <folder> [index address]".into());
    };
    let catalog = Catalog::parse(&std::fs::read_to_string(manifest)?)?;
    let entry = catalog.model(name).ok_or("no such model")?;
    let from = From { index: rest.first().cloned(), agreed_sha256: None };
    let mut last = 0;
    let mut show = |progress: Progress| {
        let percent = progress.done * 100 / progress.total.max(1);
        if percent != last {
            last = percent;
            println!("{percent} %");
        }
        Flow::Continue
    };
    let file = fetch_model(
        &NetGate::new(std::sync::Arc::default())?,
        entry,
        Path::new(folder),
        &from,
        &mut show,
        &Cancel::new(),
    )?;
    println!("{}", file.display());
    Ok(())
}
