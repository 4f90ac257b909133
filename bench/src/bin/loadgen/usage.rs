//! What a process has used so far, from `/proc`.

use crate::Result;
use std::time::Duration;

/// The kernel counts processor time for `/proc` in hundredths of a second on every platform
/// that this runs on.
const TICK: Duration = Duration::from_millis(10);

/// Processor time of all threads, ended ones included, and resident memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    pub(crate) resident: u64,
}

impl Usage {
    /// Reads both; nothing is used by no process.
    pub(crate) fn of(pid: Option<u32>) -> Result<Usage> {
        let Some(pid) = pid else { return Ok(Usage::default()) };
        let file = |name| {
            let path = format!("/proc/{pid}/{name}");
            std::fs::read_to_string(&path).map_err(|error| format!("cannot read {path}: {error}"))
        };
        let cpu = cpu(&file("stat")?).ok_or("no processor time in /proc/PID/stat")?;
        let resident = resident(&file("status")?).ok_or("no VmRSS in /proc/PID/status")?;
        Ok(Usage { cpu, resident })
    }
}

/// Fields 14 and 15. The second field is the program's name in parentheses and may hold blanks,
/// so counting begins behind it.
fn cpu(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(TICK * (user + system))
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_user_and_system_time() {
        let stat = "7 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 250 50 13 14";
        assert_eq!(cpu(stat), Some(Duration::from_secs(3)));
    }

    #[test]
    fn resident_memory_is_in_bytes() {
        assert_eq!(resident("Name:\tx\nVmRSS:\t    2048 kB\n"), Some(2_097_152));
        assert_eq!(resident("Name:\tx\n"), None);
    }
}
