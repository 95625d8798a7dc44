//! What the desktop offers, asked rather than assumed: the notification plugin reports success even when nobody listens.

/// Who would show a notification, or why nobody would.
#[cfg(target_os = "linux")]
pub fn notification_daemon() -> Result<String, String> {
    service("org.freedesktop.Notifications")
        .map_err(|why| why.unwrap_or_else(|| "no notification daemon is there".into()))
}

/// Which keychain there is, or why there is none.
#[cfg(target_os = "linux")]
pub fn keychain() -> Result<String, String> {
    let found = service("org.freedesktop.secrets");
    found
        .map(|state| format!("Secret Service, {state}"))
        .map_err(|why| why.unwrap_or_else(|| "no Secret Service is there".into()))
}

/// Whether a name on the session bus is served; `Err(None)` when nobody does.
#[cfg(target_os = "linux")]
fn service(name: &str) -> Result<String, Option<String>> {
    use zbus::blocking::{Connection, fdo::DBusProxy};
    let failed = |error: String| Some(error);
    if std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_none() && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // Without this the client would start a bus of its own.
        return Err(failed("there is no session bus".to_owned()));
    }
    let reach = |e: zbus::Error| failed(format!("the session bus cannot be reached: {e}"));
    let bus = DBusProxy::new(&Connection::session().map_err(reach)?).map_err(reach)?;
    let bus_name = name.try_into().map_err(|e: zbus::names::Error| failed(e.to_string()))?;
    if bus.name_has_owner(bus_name).map_err(|e| failed(e.to_string()))? {
        return Ok("running".to_owned());
    }
    let names = bus.list_activatable_names().map_err(|e| failed(e.to_string()))?;
    if names.iter().any(|known| known.as_str() == name) { Ok("starts when needed".to_owned()) } else { Err(None) }
}

#[cfg(not(target_os = "linux"))]
pub fn notification_daemon() -> Result<String, String> {
    Ok("part of the system".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub fn keychain() -> Result<String, String> {
    Err("this build knows no keychain of this system".to_owned())
}
