//! Which URLs callers may name as webhooks, in every spelling.

use a2ad_http::webhook::{MOST_URL, Refused, Rules, Target};
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};

fn parse(url: &str) -> Result<Target, Refused> {
    Target::parse(url, &Rules::default())
}

fn with_http() -> Rules {
    Rules { allow_http: true, ..Rules::default() }
}

fn for_development() -> Rules {
    Rules { allow_private: true, ..Rules::default() }
}

#[track_caller]
fn assert_all_refused(urls: &[&str], rules: &Rules, why: Refused) {
    for url in urls {
        assert_eq!(Target::parse(url, rules), Err(why), "{url:?}");
    }
}

#[test]
fn public_names_and_addresses_are_taken() {
    let urls = [
        "https://hook.example.org/a",
        "https://hook.example.org",
        "https://hook.example.org:8443/a?token=b%20c",
        "HTTPS://Hook.Example.Org/A",
        "https://hook.example.org./a",
        "https://bücher.example.org/",
        "https://under_score.example.org/",
        "https://localhost.example.org/",
        "https://notlocal.example.org/",
        "https://mylocal.org/",
        "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]/",
        "https://[64:ff9b::8.8.8.8]/",
        "https://hook.example.org/a b|{c}/@d:e",
        "https://hook.example.org/?a=@b",
    ];
    for url in urls {
        assert!(parse(url).is_ok(), "{url:?}: {:?}", parse(url));
    }
}

/// Hosts that are read as private addresses of the fourth version.
const FOURTH: [&str; 57] = [
    // Four numbers, and forms that are read as them.
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "127.1.",
    "2130706433",
    "0x7f000001",
    "0X7F000001",
    "017700000001",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "0177.0x0.0.01",
    "00000177.0.0.1",
    "127.0.0.0x1",
    "0",
    "0.0.0.0",
    "0x0",
    "0.0",
    "10.0.0.1",
    "10.1",
    "0xa000001",
    "012.0.0.1",
    "167772161",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1",
    "192.168.0.1",
    "3232235521",
    "0xc0.168.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "4294967295",
    // Digits and dots of other scripts.
    "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
    "127\u{3002}0\u{3002}0\u{3002}1",
    "127\u{ff0e}0\u{ff0e}0\u{ff0e}1",
    "127\u{ff61}0\u{ff61}0\u{ff61}1",
    "\u{2460}\u{2461}\u{2466}.0.0.1",
    "\u{1d7cf}\u{1d7d0}\u{1d7d5}.0.0.1",
    "\u{ff10}\u{ff58}7f.1",
    "12\u{ad}7.0.0.1",
    // Percent signs.
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "%30x7f.1",
    "%EF%BC%91%32%37.0.0.1",
];

/// Hosts that are private addresses of the sixth version, many with one of the fourth within.
const SIXTH: [&str; 30] = [
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::FFFF:10.0.0.1]",
    "[0:0:0:0:0:ffff:169.254.169.254]",
    "[::ffff:8.8.8.8]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::8.8.8.8]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2001::1]",
    "[2001:0:7f00:1::]",
    "[2001:db8::1]",
    "[fe80::1]",
    "[FE80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "[100::1]",
    "[5f00::1]",
    "[3fff::1]",
];

#[test]
fn an_address_that_is_not_public_is_refused_in_every_spelling() {
    for host in FOURTH.iter().chain(&SIXTH) {
        for url in [format!("https://{host}/"), format!("https://{host}:8443/a?b=c")] {
            assert_eq!(parse(&url), Err(Refused::NotPublic), "{url:?}");
        }
        let url = format!("http://{host}/latest/meta-data/");
        assert_eq!(Target::parse(&url, &with_http()), Err(Refused::NotPublic), "{url:?}");
    }
}

#[test]
fn names_of_machines_nearby_are_refused() {
    let urls = [
        "https://localhost/",
        "https://LOCALHOST/",
        "https://localhost./",
        "https://a.localhost/",
        "https://a.b.localhost./",
        "https://localhost.localdomain/",
        "https://printer.local/",
        "https://db.default.svc.cluster.local/",
        "https://metadata.google.internal/computeMetadata/v1/",
        "https://METADATA.google.internal./",
        "https://instance-data.ec2.internal/",
        "https://router.home.arpa/",
        "https://nas.lan/",
        "https://metadata/",
        "https://db/",
        "https://db./",
        "https://loc%61lhost/",
        "https://\u{ff4c}ocalhost/",
        "https://\u{24db}\u{24de}\u{24d2}alhost/",
        "https://loc\u{ad}alhost/",
        "https://printer\u{3002}local/",
    ];
    assert_all_refused(&urls, &Rules::default(), Refused::NotPublic);
}

#[test]
fn what_is_no_url_is_refused() {
    let urls = [
        "",
        " ",
        "hook.example.org/a",
        "//hook.example.org/a",
        "/a",
        "https://",
        "https://:443/",
        "https://[::1",
        "https://[::1%25lo]/",
        "https://[fe80::1%eth0]/",
        "https://[127.0.0.1]/",
        "https://[::127.1]/",
        "https://256.0.0.1/",
        "https://127.0.0.256/",
        "https://1.2.3.4.5/",
        "https://4294967296/",
        "https://0x7f.0x1.0x0.0x0.0x1/",
        "https://hook.example.org:65536/",
        "https://hook.example.org:a/",
        "https://hook example.org/",
        "https://hook%20.example.org/",
        "https://hook%00.example.org/",
        "https://hook%2f.example.org/",
        "https://127.0.0.1%2f.example.org/",
        "https://{{host}}.example.org/",
        "https://a'b.example.org/",
    ];
    assert_all_refused(&urls, &Rules::default(), Refused::Unreadable);
}

#[test]
fn a_url_that_two_parsers_read_differently_is_refused() {
    let urls = [
        "https:hook.example.org/",
        "https:/hook.example.org/",
        "https:///hook.example.org/",
        "https:\\\\hook.example.org\\",
        "https://hook.example.org\\a",
        "https://hook.example.org\\@127.0.0.1/",
        " https://hook.example.org/",
        "https://hook.example.org/ ",
        "https://hook.example.org/\n",
        "https://hook.example.org/a\r\nHost: 127.0.0.1",
        "https://hook.example\t.org/",
        "ht\ntps://hook.example.org/",
        "\u{0}https://hook.example.org/",
    ];
    assert_all_refused(&urls, &Rules::default(), Refused::Ambiguous);
}

#[test]
fn credentials_in_a_url_are_refused() {
    let urls = [
        "https://user:pw@hook.example.org/",
        "https://user@hook.example.org/",
        "https://:pw@hook.example.org/",
        "https://@hook.example.org/",
        "https://a@b@hook.example.org/",
        "https://hook.example.org@127.0.0.1/",
        "https://hook.example.org%00@127.0.0.1/",
        "https://user:pw@10.0.0.1/",
        "https://hook.example.org%23@example.net/",
    ];
    assert_all_refused(&urls, &Rules::default(), Refused::Credentials);
    assert_all_refused(&urls, &for_development(), Refused::Credentials);
}

#[test]
fn a_fragment_is_refused() {
    let urls = [
        "https://hook.example.org/#a",
        "https://hook.example.org/#",
        "https://hook.example.org#@127.0.0.1/",
        "https://hook.example.org/a?b#c",
    ];
    assert_all_refused(&urls, &Rules::default(), Refused::Fragment);
}

#[test]
fn only_the_schemes_of_the_web_are_taken_and_plain_http_only_when_allowed() {
    let others = [
        "ftp://example.org/",
        "file:///etc/passwd",
        "file://hook.example.org/a",
        "gopher://127.0.0.1:6379/_INFO",
        "dict://127.0.0.1:11211/stats",
        "ws://hook.example.org/",
        "wss://hook.example.org/",
        "unix:/run/docker.sock",
        "jar:https://hook.example.org!/",
        "data:text/plain,a",
        "javascript:alert(1)",
        "mailto:a@example.org",
        "blob:https://hook.example.org/a",
    ];
    assert_all_refused(&others, &Rules::default(), Refused::Scheme);
    assert_all_refused(&others, &with_http(), Refused::SchemeOfWeb);
    assert_all_refused(&others, &for_development(), Refused::SchemeOfWeb);
    let plain = "http://hook.example.org/";
    assert_eq!(parse(plain), Err(Refused::Scheme));
    assert!(Target::parse(plain, &with_http()).is_ok());
    assert!(Target::parse(plain, &for_development()).is_ok());
}

#[test]
fn only_the_listed_ports_are_taken() {
    let refused = [
        "https://hook.example.org:80/",
        "https://hook.example.org:22/",
        "https://hook.example.org:0/",
        "https://hook.example.org:444/",
        "https://hook.example.org:6379/",
    ];
    assert_all_refused(&refused, &Rules::default(), Refused::Port);
    assert_all_refused(&refused, &with_http(), Refused::Port);
    let rules = Rules { ports: vec![444], ..with_http() };
    assert!(Target::parse("https://hook.example.org:444/", &rules).is_ok());
    assert!(Target::parse("http://hook.example.org:444/", &rules).is_ok());
    assert!(Target::parse("http://hook.example.org/", &rules).is_ok());
    assert_all_refused(&["https://hook.example.org/"], &rules, Refused::Port);
}

#[test]
fn a_long_url_is_refused() {
    let url = |length: usize| {
        let start = "https://hook.example.org/";
        format!("{start}{}", "a".repeat(length - start.len()))
    };
    assert!(parse(&url(MOST_URL)).is_ok());
    assert_eq!(parse(&url(MOST_URL + 1)), Err(Refused::TooLong));
}

#[test]
fn a_url_that_gets_long_by_being_encoded_is_refused() {
    // Each of these letters is sent as three bytes.
    let url = |letters: usize| format!("https://hook.example.org/?{}", "\"".repeat(letters));
    let start = url(0).len();
    let target = parse(&url((MOST_URL - start) / 3)).expect("a target");
    assert_eq!(parse(target.as_str()).as_ref(), Ok(&target));
    assert_eq!(parse(&url((MOST_URL - start) / 3 + 1)), Err(Refused::TooLong));
}

#[test]
fn development_takes_what_is_nearby() {
    let urls = [
        "http://127.0.0.1:9/",
        "http://localhost:4010/hook",
        "http://receiver:8080/",
        "https://[::1]:9/",
        "http://10.0.0.1/",
        "https://printer.local/",
    ];
    for url in urls {
        assert!(Target::parse(url, &for_development()).is_ok(), "{url:?}");
    }
}

#[test]
fn a_target_is_shown_without_its_path_and_query() {
    let target = parse("https://hook.example.org:8443/sekret?token=sekret").unwrap();
    assert_eq!(target.origin(), "https://hook.example.org:8443");
    assert_eq!(format!("{target:?}"), r#"Target("https://hook.example.org:8443")"#);
    assert_eq!(target.as_str(), "https://hook.example.org:8443/sekret?token=sekret");
}

#[test]
fn a_refusal_repeats_nothing_of_the_url() {
    let urls = ["https://user:sekret@10.0.0.1/", "https://10.0.0.1/sekret", "sekret"];
    for url in urls {
        let said = parse(url).expect_err("a refusal").to_string();
        assert!(!said.contains("sekret") && !said.contains("10.0"), "{said}");
    }
}

proptest! {
    #[test]
    fn what_is_taken_is_read_the_same_way_again(
        host in "[a-z0-9.%:x\\[\\]-]{1,20}|\\PC{1,20}",
        path in "\\PC{0,20}",
    ) {
        let url = format!("https://{host}/{path}");
        if let Ok(target) = parse(&url) {
            prop_assert_eq!(parse(target.as_str()), Ok(target), "{:?}", url);
        }
    }

    #[test]
    fn a_private_address_is_refused_however_its_numbers_are_written(
        host in 0u32..1 << 24,
        form in 0usize..8,
    ) {
        let address = Ipv4Addr::from(0x0a00_0000 | host);
        let [a, b, c, d] = address.octets();
        let url = match form {
            0 => format!("https://{a:#x}.{b:#x}.{c:#x}.{d:#x}/"),
            1 => format!("https://0{a:o}.0{b:o}.0{c:o}.0{d:o}/"),
            2 => format!("https://{a}.{b}.{}/", u16::from_be_bytes([c, d])),
            3 => format!("https://{a}.{host}/"),
            4 => format!("https://{}/", u32::from(address)),
            5 => format!("https://{:#X}/", u32::from(address)),
            6 => format!("https://[{}]/", address.to_ipv6_mapped()),
            _ => format!("https://[{}]/", Ipv6Addr::from(u128::from(u32::from(address)))),
        };
        prop_assert_eq!(parse(&url), Err(Refused::NotPublic), "{}", url);
    }
}
