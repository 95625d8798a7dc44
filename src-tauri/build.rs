//! Lets Tauri check tauri.conf.json and the permission list, and generate the access control tables from them.

fn main() {
    println!("cargo:rerun-if-changed=src-tauri/permissions");
    let app = tauri_build::AppManifest::new().permissions_path_pattern("./src-tauri/permissions/**/*.toml");
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(app))
        .expect("tauri.conf.json and permissions are valid");
}
