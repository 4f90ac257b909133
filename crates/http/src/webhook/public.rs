//! Which addresses are everybody's: the ones that a caller may have the server connect to.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is not public, from the registries of special-purpose addresses at IANA. A few anycast services in
/// these ranges are reachable from everywhere; nobody waits for notifications there.
const NOT_PUBLIC: [IpNet; 27] = [
    v4([0, 0, 0, 0], 8),        // this network
    v4([10, 0, 0, 0], 8),       // private
    v4([100, 64, 0, 0], 10),    // shared by the customers of a carrier; metadata services
    v4([127, 0, 0, 0], 8),      // loopback
    v4([168, 63, 129, 16], 32), // looks public, and is the host under a virtual machine at Azure
    v4([169, 254, 0, 0], 16),   // link-local; metadata services
    v4([172, 16, 0, 0], 12),    // private
    v4([192, 0, 0, 0], 24),     // protocol assignments; metadata services
    v4([192, 0, 2, 0], 24),     // documentation
    v4([192, 31, 196, 0], 24),  // sinks for reverse look-ups
    v4([192, 52, 193, 0], 24),  // relays of multicast
    v4([192, 88, 99, 0], 24),   // relays of 6to4
    v4([192, 168, 0, 0], 16),   // private
    v4([192, 175, 48, 0], 24),  // sinks for reverse look-ups
    v4([198, 18, 0, 0], 15),    // benchmarks
    v4([198, 51, 100, 0], 24),  // documentation
    v4([203, 0, 113, 0], 24),   // documentation
    v4([224, 0, 0, 0], 4),      // multicast
    v4([240, 0, 0, 0], 4),      // reserved, and broadcast
    // Addresses of the sixth version are given out from 2000::/3 only. Below it are the unspecified address,
    // loopback, and the forms that hold one of the fourth version; above it unique local, link-local,
    // site-local and multicast addresses.
    v6([0, 0, 0], 3),
    v6([0x4000, 0, 0], 2),
    v6([0x8000, 0, 0], 1),
    v6([0x2001, 0, 0], 23), // protocol assignments: Teredo, benchmarks, identifiers
    v6([0x2001, 0xdb8, 0], 32), // documentation
    v6([0x2002, 0, 0], 16), // 6to4, which holds any address of the fourth version
    v6([0x2620, 0x4f, 0x8000], 48), // sinks for reverse look-ups
    v6([0x3fff, 0, 0], 20), // documentation
];

/// How a network that speaks the sixth version only writes an address of the fourth. It is the one such
/// form that name servers answer with in earnest.
const TRANSLATED: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// Whether an address is one that anybody on the internet could reach.
pub(super) fn is_public(address: IpAddr) -> bool {
    let address = translated(address).map_or(address, IpAddr::V4);
    !NOT_PUBLIC.iter().any(|range| range.contains(&address))
}

/// The address of the fourth version that a translator connects to.
fn translated(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    let [.., a, b, c, d] = address.octets();
    TRANSLATED.contains(&address).then(|| Ipv4Addr::new(a, b, c, d))
}

const fn v4([a, b, c, d]: [u8; 4], length: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length))
}

const fn v6([a, b, c]: [u16; 3], length: u8) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The registries once more, row by row as they are published, so that a mistake in the table above
    /// is not repeated here.
    const REGISTERED: [&str; 46] = [
        "0.0.0.0/8",
        "0.0.0.0/32",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.0.0/29",
        "192.0.0.8/32",
        "192.0.0.170/31",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "255.255.255.255/32",
        "::1/128",
        "::/128",
        "::ffff:0:0/96",
        "::/96",
        "64:ff9b:1::/48",
        "100::/64",
        "100:0:0:1::/64",
        "2001::/23",
        "2001::/32",
        "2001:2::/48",
        "2001:10::/28",
        "2001:20::/28",
        "2001:30::/28",
        "2001:db8::/32",
        "2002::/16",
        "2620:4f:8000::/48",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
        "fd00:ec2::254/128",
    ];

    /// An address in a range, with its host part from `bits`.
    fn within(range: IpNet, bits: u128) -> IpAddr {
        match range {
            IpNet::V4(range) => {
                let host = u32::try_from(bits & u128::from(u32::MAX)).expect("32 bits");
                let host = host & u32::from(range.hostmask());
                IpAddr::V4((u32::from(range.network()) | host).into())
            }
            IpNet::V6(range) => {
                let host = bits & u128::from(range.hostmask());
                IpAddr::V6((u128::from(range.network()) | host).into())
            }
        }
    }

    /// Every form in which the sixth version writes an address of the fourth.
    fn forms(address: Ipv4Addr) -> [Ipv6Addr; 5] {
        let number = u128::from(u32::from(address));
        let after = |prefix: &str| u128::from(prefix.parse::<Ipv6Addr>().expect("a prefix"));
        [
            address.to_ipv6_mapped(),
            number.into(),
            (after("64:ff9b::") | number).into(),
            (after("64:ff9b:1::") | number).into(),
            (after("2002::") | number << 80).into(),
        ]
    }

    proptest! {
        #[test]
        fn no_address_of_a_registered_range_is_public(
            range in prop::sample::select(REGISTERED.as_slice()),
            bits: u128,
        ) {
            let address = within(range.parse().expect("a range"), bits);
            prop_assert!(!is_public(address), "{address} of {range}");
            if let IpAddr::V4(address) = address {
                for form in forms(address) {
                    prop_assert!(!is_public(form.into()), "{form} of {address}");
                }
            }
        }

        #[test]
        fn an_address_of_the_fourth_version_is_not_public_in_the_forms_that_nobody_routes(bits: u32) {
            let [mapped, compatible, _, local, relayed] = forms(bits.into());
            for form in [mapped, compatible, local, relayed] {
                prop_assert!(!is_public(form.into()), "{form}");
            }
        }

        #[test]
        fn a_translated_address_is_as_public_as_the_one_it_stands_for(bits: u32) {
            let address = Ipv4Addr::from(bits);
            let [_, _, translated, ..] = forms(address);
            prop_assert_eq!(is_public(translated.into()), is_public(address.into()));
        }
    }

    #[test]
    fn the_first_and_the_last_address_of_every_range_are_not_public() {
        for range in REGISTERED {
            let range: IpNet = range.parse().expect("a range");
            assert!(!is_public(within(range, 0)), "{range}");
            assert!(!is_public(within(range, u128::MAX)), "{range}");
        }
    }

    #[test]
    fn what_is_beside_the_ranges_is_public() {
        let public = [
            "1.0.0.0",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "2001:200::",
            "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:db9::",
            "2003::",
            "2606:4700:4700::1111",
            "2a00:1450:4001:800::200e",
            "3ffe:ffff::",
            "64:ff9b::8.8.8.8",
        ];
        for address in public {
            assert!(is_public(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn metadata_services_are_not_public() {
        let services =
            ["169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd20:ce::254"];
        for address in services {
            assert!(!is_public(address.parse().expect("an address")), "{address}");
        }
    }
}
