//! What the desktop offers, asked rather than assumed: the notification plugin reports success even when nobody listens.

/// Who would show a notification, or why nobody would.
#[cfg(target_os = "linux")]
pub fn notification_daemon() -> Result<String, String> {
    use zbus::blocking::{Connection, fdo::DBusProxy};
    const NAME: &str = "org.freedesktop.Notifications";
    if std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_none() && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // Without this the client would start a bus of its own.
        return Err("there is no session bus".to_owned());
    }
    let connection = Connection::session().map_err(|e| format!("the session bus cannot be reached: {e}"))?;
    let bus = DBusProxy::new(&connection).map_err(|e| e.to_string())?;
    let name = NAME.try_into().map_err(|e: zbus::names::Error| e.to_string())?;
    if bus.name_has_owner(name).map_err(|e| e.to_string())? {
        return Ok("running".to_owned());
    }
    let names = bus.list_activatable_names().map_err(|e| e.to_string())?;
    if names.iter().any(|name| name.as_str() == NAME) {
        return Ok("starts when needed".to_owned());
    }
    Err("no notification daemon is running".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub fn notification_daemon() -> Result<String, String> {
    Ok("part of the system".to_owned())
}
