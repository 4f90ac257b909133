//! Settings from the environment: `A2AD_SERVER__LISTEN` is the key `listen` of the table `[server]`.

use super::ConfigError;
use toml::{Table, Value};

const PREFIX: &str = "A2AD_";

/// The tables that can be set from the environment; agents are described in a file.
const TABLES: [&str; 3] = ["server", "store", "limits"];

/// The settings among some variables.
pub(super) fn overrides(
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<Table, ConfigError> {
    let mut overrides = Table::new();
    for (name, text) in variables {
        let Some(path) = name.strip_prefix(PREFIX).filter(|_| name != crate::logs::FILTER) else {
            continue;
        };
        let wrong =
            |problem: &str| Err(ConfigError::new("environment", format!("{name}: {problem}")));
        let Some((table, key)) = path.split_once("__") else {
            return wrong("is no setting; write for example A2AD_SERVER__LISTEN");
        };
        let (table, key) = (table.to_ascii_lowercase(), key.to_ascii_lowercase());
        if !TABLES.contains(&&*table) {
            return wrong("only server, store and limits can be set in the environment");
        }
        let settings = overrides.entry(table).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(settings) = settings {
            settings.insert(key, value(text));
        }
    }
    Ok(overrides)
}

/// A number or a truth value if it looks like one, otherwise a text.
fn value(text: String) -> Value {
    let number = text.parse().map(Value::Integer).ok();
    number.or_else(|| text.parse().map(Value::Boolean).ok()).unwrap_or(Value::String(text))
}

/// Writes `overrides` over `table`.
pub(super) fn merge(table: &mut Table, overrides: Table) {
    for (name, settings) in overrides {
        match (table.get_mut(&name), settings) {
            (Some(Value::Table(known)), Value::Table(settings)) => known.extend(settings),
            (_, settings) => drop(table.insert(name, settings)),
        }
    }
}
