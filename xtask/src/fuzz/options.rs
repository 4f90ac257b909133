//! What is to be run, and for how long.

use crate::Result;

/// How long a target is run without `--seconds`.
const SECONDS: u64 = 60;

/// The arguments of the command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) targets: Vec<String>,
    pub(super) seconds: u64,
}

impl Options {
    /// Reads the arguments: names of targets, none for all, and `--seconds N` for each.
    pub(super) fn read(arguments: &[String], known: &[String]) -> Result<Self> {
        let (mut targets, mut seconds) = (Vec::new(), SECONDS);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--seconds" {
                let number = arguments.next().and_then(|number| number.parse().ok());
                seconds = number.filter(|number| *number > 0).ok_or("--seconds needs a number")?;
            } else if known.contains(argument) {
                targets.push(argument.clone());
            } else {
                let known = known.join(", ");
                return Err(format!("there is no target `{argument}`; there are {known}").into());
            }
        }
        if targets.is_empty() {
            targets = known.to_vec();
        }
        Ok(Self { targets, seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Options> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        Options::read(&owned(arguments), &owned(&["params", "server"]))
    }

    #[test]
    fn without_names_every_target_is_run() {
        let options = read(&["--seconds", "5"]).unwrap();
        assert_eq!((options.targets.len(), options.seconds), (2, 5));
        assert_eq!(read(&["server"]).unwrap().targets, ["server"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (arguments, problem) in [
            (&["sever"][..], "there is no target `sever`; there are params, server"),
            (&["--seconds"], "--seconds needs a number"),
            (&["--seconds", "0"], "--seconds needs a number"),
        ] {
            assert_eq!(read(arguments).unwrap_err().to_string(), problem);
        }
    }
}
