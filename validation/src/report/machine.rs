//! What a report was run on.

use std::fs::read_to_string;

/// A machine, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Model of the processor.
    pub processor: String,
    /// Worker threads.
    pub threads: usize,
    /// Operating system.
    pub system: String,
}

impl Machine {
    /// This one; the kind of processor and system alone where it does not tell more.
    pub fn this() -> Machine {
        // Linux tells by these files; other systems would need a library for no more than two lines of a report.
        let model = |text: String| value(&text, "model name", ':');
        let name = |text: String| value(&text, "PRETTY_NAME", '=');
        Machine {
            processor: read_to_string("/proc/cpuinfo").ok().and_then(model).unwrap_or(std::env::consts::ARCH.into()),
            threads: rayon::current_num_threads(),
            system: read_to_string("/etc/os-release").ok().and_then(name).unwrap_or(std::env::consts::OS.into()),
        }
    }
}

/// What stands behind a key in the first line that has it.
fn value(text: &str, key: &str, sign: char) -> Option<String> {
    let of = |line: &str| line.split_once(sign).filter(|(k, _)| k.trim() == key).map(|(_, v)| v.trim().to_owned());
    text.lines().find_map(of).map(|v| v.trim_matches('"').to_owned()).filter(|v| !v.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_found_among_other_lines() {
        let text = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: Some other\n";
        assert_eq!(value(text, "model name", ':').as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(value("NAME=x\nPRETTY_NAME=\"An OS 12\"\n", "PRETTY_NAME", '=').as_deref(), Some("An OS 12"));
        assert_eq!(value("", "model name", ':'), None);
    }
}
