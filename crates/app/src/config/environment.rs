//! Settings from the environment: `A2AD_SERVER__LISTEN` is the key `listen` of the table `[server]`.

use super::{Config, ConfigError};
use toml::{Table, Value};

const PREFIX: &str = "A2AD_";

/// The tables that can be set from the environment; agents are described in a file.
const TABLES: [&str; 5] = ["server", "store", "limits", "auth", "push"];

/// Writes the settings among some variables over `table`; says whether there were any.
pub(super) fn apply(
    table: &mut Table,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<bool, ConfigError> {
    let mut any = false;
    for (name, text) in variables {
        let Some(path) = name.strip_prefix(PREFIX).filter(|_| name != crate::logs::FILTER) else {
            continue;
        };
        let wrong = |problem: String| ConfigError::new("environment", format!("{name}: {problem}"));
        let Some((group, key)) = path.split_once("__") else {
            return Err(wrong("is no setting; write for example A2AD_SERVER__LISTEN".to_owned()));
        };
        let (group, key) = (group.to_ascii_lowercase(), key.to_ascii_lowercase());
        if !TABLES.contains(&&*group) {
            let problem = "only server, store, limits, auth and push can be set in the environment";
            return Err(wrong(problem.to_owned()));
        }
        *table = with(table, &group, &key, &text).map_err(wrong)?;
        any = true;
    }
    Ok(any)
}

/// The table with one more setting. A text is tried as such first, then as a number or a truth value.
fn with(table: &Table, group: &str, key: &str, text: &str) -> Result<Table, String> {
    let number = text.parse().map(Value::Integer).ok();
    let typed = number.or_else(|| text.parse().map(Value::Boolean).ok());
    let mut problem = String::new();
    for value in [Some(Value::String(text.to_owned())), typed].into_iter().flatten() {
        let mut table = table.clone();
        let settings = table.entry(group).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(settings) = settings {
            settings.insert(key.to_owned(), value);
        }
        match table.clone().try_into::<Config>() {
            Ok(_) => return Ok(table),
            // What is wrong with the text says more, unless a text is the wrong thing to begin with.
            Err(error) if problem.is_empty() || problem.starts_with("invalid type: string") => {
                problem = error.message().trim_end().replace('\n', ", ");
            }
            Err(_) => {}
        }
    }
    Err(problem)
}
