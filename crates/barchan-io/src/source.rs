//! Files that others have written: their bytes, their lines, their words in messages.

use crate::atomic::FileError;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// All bytes of an ordinary file; none where it has more than `most`.
pub(crate) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, FileError> {
    let failed = |e| FileError::new("read", path, e);
    // Before it is opened: opening a pipe waits for somebody who writes into it.
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        // A folder, or a device or pipe, which need not end.
        let what = if about.is_dir() { "it is a folder" } else { "it is not an ordinary file" };
        return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, what)));
    }
    if about.len() > most {
        return Ok(None);
    }
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::with_capacity(about.len() as usize);
    // It may grow while it is read.
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// A word from a file, as it can be shown: not long, no control characters.
pub(crate) fn quoted(word: &str) -> String {
    const SHOWN: usize = 30;
    let short: String = word.chars().take(SHOWN).collect();
    format!("{short:?}{}", if word.chars().count() > SHOWN { "…" } else { "" })
}

/// Lines with their numbers from 1; they end as on any system: LF, CR LF or CR.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut number = 0;
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        number += 1;
        let line = match text.find(['\n', '\r']) {
            None => {
                rest = None;
                text
            }
            Some(end) => {
                let skip = if text[end..].starts_with("\r\n") { 2 } else { 1 };
                rest = Some(&text[end + skip..]);
                &text[..end]
            }
        };
        Some((number, line))
    })
}
