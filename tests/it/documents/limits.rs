//! The document of limits lists each with the setting and the default that the server has.

use super::{read, rows};
use crate::line1::tests;
use a2ad_http::Limit;

#[test]
fn every_limit_has_a_row_with_its_default_and_with_tests_that_exist() {
    let (document, configuration) = (read("docs/limits.md"), read("docs/configuration.md"));
    let known = tests();
    let written: Vec<Vec<String>> = rows(&document).into_iter().skip(2).collect();
    let names: Vec<&str> = written.iter().map(|row| &*row[0]).collect();
    let limits: Vec<&str> = Limit::ALL.iter().map(|limit| limit.name()).collect();
    assert_eq!(names, limits);
    for row in &written {
        let [name, setting, default, what, shown] = &row[..] else { panic!("{row:?}") };
        if let Some((table, key)) = setting.rsplit_once('.') {
            let table = super::section(&configuration, &format!("## `[{table}]`"));
            let found = rows(table).into_iter().find(|row| row[0] == key);
            let found = found.unwrap_or_else(|| panic!("{setting} is no setting"));
            assert_eq!(*default, found[1], "{name}");
        }
        assert!(what.len() >= 3, "{name}: say what happens");
        let shown: Vec<&str> = match shown.contains('`') {
            true => shown.split('`').skip(1).step_by(2).collect(),
            false => vec![shown],
        };
        assert!(!shown.is_empty(), "{name} has no test");
        for test in shown {
            assert!(known.contains(test), "{name}: there is no test {test}");
        }
    }
}
