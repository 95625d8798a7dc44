//! Which addresses a name may resolve to, by kind of endpoint, and the resolver that drops all others. Link-local and
//! metadata addresses are never reached, so a name cannot be pointed at a machine's own credentials.

use crate::endpoint::{Endpoint, EndpointKind};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// Metadata services outside the link-local range.
const METADATA: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)),
];

pub(crate) fn allowed(kind: EndpointKind, ip: IpAddr) -> bool {
    let ip = plain(ip);
    if METADATA.contains(&ip) || ip.is_unspecified() || ip.is_multicast() || is_link_local(ip) {
        return false;
    }
    match kind {
        EndpointKind::Cloud => !is_own(ip),
        EndpointKind::Gateway => is_own(ip),
        // Nothing secret goes there, and mirrors often lie in the own network.
        EndpointKind::Download | EndpointKind::Index => true,
    }
}

/// IPv4 in the clothes of IPv6 (mapped, NAT64) as IPv4.
fn plain(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    if let Some(v4) = v6.to_ipv4_mapped() {
        return v4.into();
    }
    match v6.octets() {
        [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] => Ipv4Addr::new(a, b, c, d).into(),
        _ => ip,
    }
}

fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

/// This machine, or a network without public addresses.
fn is_own(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            let shared = a == 100 && (64..128).contains(&b);
            let benchmark = a == 198 && (b == 18 || b == 19);
            v4.is_loopback() || v4.is_private() || v4.is_documentation() || shared || benchmark || a == 0 || a >= 240
        }
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local(),
    }
}

/// Resolves with the system and keeps only what the endpoint's kind allows.
pub(crate) struct Filter {
    kind: EndpointKind,
    loopback: bool,
}

impl Filter {
    pub fn of(endpoint: &Endpoint) -> Filter {
        Filter { kind: endpoint.kind(), loopback: endpoint.is_loopback() }
    }

    fn keep(&self, ip: IpAddr) -> bool {
        allowed(self.kind, ip) && (!self.loopback || plain(ip).is_loopback())
    }
}

impl Resolve for Filter {
    fn resolve(&self, name: Name) -> Resolving {
        let filter = Filter { ..*self };
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found =
                tokio::task::spawn_blocking(move || (host.as_str(), 0).to_socket_addrs().map(Vec::from_iter)).await??;
            let kept: Vec<SocketAddr> = found.into_iter().filter(|address| filter.keep(address.ip())).collect();
            if kept.is_empty() {
                return Err(format!("{} has no address that may be used for this purpose", name.as_str()).into());
            }
            Ok(Box::new(kept.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_sorted_by_purpose() {
        let check = |ip: &str, cloud: bool, gateway: bool, download: bool| {
            let ip: IpAddr = ip.parse().expect("an address");
            let got = [EndpointKind::Cloud, EndpointKind::Gateway, EndpointKind::Download].map(|k| allowed(k, ip));
            assert_eq!(got, [cloud, gateway, download], "{ip}");
        };
        check("1.1.1.1", true, false, true);
        check("127.0.0.1", false, true, true);
        check("10.1.2.3", false, true, true);
        check("100.64.0.1", false, true, true);
        check("169.254.169.254", false, false, false);
        check("::ffff:169.254.169.254", false, false, false);
        check("64:ff9b::a9fe:a9fe", false, false, false);
        check("fe80::1", false, false, false);
        check("fd00:ec2::254", false, false, false);
        check("fd12::1", false, true, true);
        check("::1", false, true, true);
        check("2606:4700::1111", true, false, true);
        check("0.0.0.0", false, false, false);
        check("255.255.255.255", false, false, false);
    }
}
