//! Tables of measurements: comma-separated values with names and units in the header, `time [s],kinetic [J]`.
//!
//! The first column is the time. Numbers are written so that they read back to the last bit. Each row reaches the
//! system at once (a viewer sees it, a crash of the program keeps it); [`Table::sync`] brings it to the disk.

use crate::atomic::{self, FileError};
use crate::{decimal, not_after};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Name and unit of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, for example `kinetic`.
    pub name: String,
    /// Unit, for example `J`; empty for a pure number.
    pub unit: String,
}

impl Column {
    /// A column of this name and unit.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Column { name: name.into(), unit: unit.into() }
    }

    /// `name [unit]`, in quotes where commas or quotes in a name ask for them (RFC 4180).
    fn header(&self) -> String {
        let text = if self.unit.is_empty() { self.name.clone() } else { format!("{} [{}]", self.name, self.unit) };
        quoted(&text)
    }
}

/// A field of a table on one line, in quotes where commas or quotes in it ask for them (RFC 4180).
pub(crate) fn quoted(text: &str) -> String {
    let text = text.replace(char::is_control, " ");
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Why a table could not be written or continued.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file could not be written or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A row does not fit the columns.
    #[error("{} has {columns} columns, but a row of {values} values was given", path.display())]
    Width {
        /// The table.
        path: PathBuf,
        /// Columns it has.
        columns: usize,
        /// Values in the row.
        values: usize,
    },
    /// The table on disk has other columns than the run to be resumed.
    #[error(
        "{} has the columns `{found}`, the resumed run measures `{expected}`: \
         move the file away, or measure the same as before", path.display()
    )]
    Columns {
        /// The table.
        path: PathBuf,
        /// Header on disk.
        found: String,
        /// Header of the run.
        expected: String,
    },
    /// A line before the resume time is not a row of the table.
    #[error("line {line} of {} is not a row of {columns} numbers: correct it, or move the file away", path.display())]
    Damaged {
        /// The table.
        path: PathBuf,
        /// Line, counted from one.
        line: usize,
        /// Columns a row has.
        columns: usize,
    },
}

/// A table that grows by a row at a time.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    columns: usize,
    last_time: Option<f64>,
}

impl Table {
    /// Starts a table; the first column is the time [s]. A file of that name is replaced.
    pub fn create(path: impl AsRef<Path>, columns: &[Column]) -> Result<Self, TableError> {
        let path = path.as_ref();
        atomic::write(path, format!("{}\n", header(columns)).as_bytes())?;
        Self::open(path, columns.len(), None)
    }

    /// Continues a table from `time` [s]: later rows, and a last line that a crash has torn, are dropped.
    ///
    /// A row at `time` itself is kept; [`Table::last_time`] tells whether there is one. Where there is no such file, or
    /// nothing but a torn header, the table is started.
    pub fn resume(path: impl AsRef<Path>, columns: &[Column], time: f64) -> Result<Self, TableError> {
        let path = path.as_ref();
        // A folder, a device or a pipe of that name holds no rows to continue, and reading it might never end.
        if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
            let reason = std::io::Error::new(ErrorKind::AlreadyExists, "it is not a regular file");
            return Err(FileError::new("continue", path, reason).into());
        }
        let bytes = match fs::read(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Self::create(path, columns),
            read => read.map_err(|e| FileError::new("read", path, e))?,
        };
        let expected = header(columns);
        let mut kept = 0;
        let mut last_time = None;
        for (i, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
            let Some(text) = line.strip_suffix(b"\n") else { break };
            // A table that went through a spreadsheet may have gained carriage returns.
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if i == 0 {
                if text != expected.as_bytes() {
                    let found = String::from_utf8_lossy(text).into_owned();
                    return Err(TableError::Columns { path: path.to_owned(), found, expected });
                }
            } else {
                let Some(row_time) = time_of_row(text, columns.len()) else {
                    return Err(TableError::Damaged { path: path.to_owned(), line: i + 1, columns: columns.len() });
                };
                if !not_after(row_time, time) {
                    break;
                }
                last_time = Some(row_time);
            }
            kept += line.len();
        }
        if kept == 0 {
            return Self::create(path, columns);
        }
        if kept < bytes.len() {
            atomic::write(path, &bytes[..kept])?;
        }
        Self::open(path, columns.len(), last_time)
    }

    fn open(path: &Path, columns: usize, last_time: Option<f64>) -> Result<Self, TableError> {
        let file = OpenOptions::new().append(true).open(path).map_err(|e| FileError::new("write", path, e))?;
        Ok(Table { path: path.to_owned(), file, columns, last_time })
    }

    /// Adds a row; its first value is the time [s].
    pub fn append(&mut self, row: &[f64]) -> Result<(), TableError> {
        if row.len() != self.columns {
            return Err(TableError::Width { path: self.path.clone(), columns: self.columns, values: row.len() });
        }
        let mut line = row.iter().map(|v| decimal(*v)).collect::<Vec<_>>().join(",");
        line.push('\n');
        // One call, so that a row is torn by a full disk or a power cut only.
        self.file.write_all(line.as_bytes()).map_err(|e| FileError::new("write", &self.path, e))?;
        self.last_time = row.first().copied();
        Ok(())
    }

    /// Brings all rows to the disk. Call it before a checkpoint is written: a run resumed from there then finds every row
    /// up to its time, even after a power cut.
    pub fn sync(&mut self) -> Result<(), TableError> {
        Ok(self.file.sync_data().map_err(|e| FileError::new("write", &self.path, e))?)
    }

    /// Time of the last row [s], if there is one.
    pub fn last_time(&self) -> Option<f64> {
        self.last_time
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn header(columns: &[Column]) -> String {
    columns.iter().map(Column::header).collect::<Vec<_>>().join(",")
}

/// The first of exactly `columns` numbers.
fn time_of_row(line: &[u8], columns: usize) -> Option<f64> {
    let line = std::str::from_utf8(line).ok()?;
    let numbers = line.split(',').map(|field| field.trim().parse().ok()).collect::<Option<Vec<f64>>>()?;
    (numbers.len() == columns && !numbers[0].is_nan()).then(|| numbers[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        vec![Column::new("time", "s"), Column::new("force on \"lid\", up", "N"), Column::new("grains", "")]
    }

    #[test]
    fn what_is_no_regular_file_is_not_continued() {
        let folder = tempfile::tempdir().unwrap();
        let told = Table::resume(folder.path(), &columns(), 0.0);
        assert!(matches!(&told, Err(TableError::File(FileError::InTheWay { .. }))), "{told:?}");
        #[cfg(unix)]
        {
            // This device has no end.
            let told = Table::resume("/dev/zero", &columns(), 0.0).map(|_| ()).unwrap_err().to_string();
            assert!(told.contains("not a regular file"), "{told}");
        }
    }

    #[test]
    fn numbers_read_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let rows = [
            [0.0, 1.0 / 3.0, 64_000.0],
            [0.1 + 0.2, f64::MIN_POSITIVE / 8.0, -1e300],
            [1e-9, f64::MAX, f64::NEG_INFINITY],
            [2.0, f64::NAN, -0.0],
        ];
        let mut table = Table::create(&path, &columns()).unwrap();
        rows.iter().for_each(|r| table.append(r).unwrap());
        table.sync().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("time [s],\"force on \"\"lid\"\", up [N]\",grains"));
        for (line, row) in lines.zip(rows) {
            let read: Vec<f64> = line.split(',').map(|f| f.parse().unwrap()).collect();
            assert!(read.iter().zip(row).all(|(a, b)| a.to_bits() == b.to_bits()), "{line}");
        }
        assert_eq!(text.lines().count(), 5);
        assert!(matches!(table.append(&[1.0]), Err(TableError::Width { columns: 3, values: 1, .. })));
    }

    #[test]
    fn a_resumed_table_equals_an_uninterrupted_one() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, stopped) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
        let row = |i: i32| [f64::from(i) * 0.1, f64::from(i).sin(), f64::from(i)];
        let mut table = Table::create(&whole, &columns()).unwrap();
        (0..20).for_each(|i| table.append(&row(i)).unwrap());
        let mut table = Table::create(&stopped, &columns()).unwrap();
        (0..13).for_each(|i| table.append(&row(i)).unwrap());
        drop(table);
        // Killed while writing: a torn last line, beyond the checkpoint at row 7.
        OpenOptions::new().append(true).open(&stopped).unwrap().write_all(b"1.3,0.4").unwrap();
        let mut table = Table::resume(&stopped, &columns(), row(7)[0]).unwrap();
        assert_eq!(table.last_time(), Some(row(7)[0]));
        (8..20).for_each(|i| table.append(&row(i)).unwrap());
        assert_eq!(fs::read(whole).unwrap(), fs::read(stopped).unwrap());
    }

    #[test]
    fn a_torn_last_line_goes_and_a_damaged_middle_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let head = header(&columns());
        fs::write(&path, format!("{head}\n0,1,2\n0.1,1")).unwrap();
        assert_eq!(Table::resume(&path, &columns(), 5.0).unwrap().last_time(), Some(0.0));
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{head}\n0,1,2\n"));
        for bad in ["0.1,1\n", "0.1,1,x\n", "0.1,1,2,3\n", "NaN,1,2\n", "\n"] {
            fs::write(&path, format!("{head}\n0,1,2\n{bad}0.2,1,2\n")).unwrap();
            let told = Table::resume(&path, &columns(), 5.0);
            assert!(matches!(told, Err(TableError::Damaged { line: 3, .. })), "{bad:?}: {told:?}");
        }
        fs::write(&path, "time [s],other\n0,1\n").unwrap();
        assert!(matches!(Table::resume(&path, &columns(), 5.0), Err(TableError::Columns { .. })));
        // The file's owner keeps it as it was.
        assert_eq!(fs::read_to_string(&path).unwrap(), "time [s],other\n0,1\n");
        fs::write(&path, &head[..4]).unwrap();
        assert_eq!(Table::resume(&path, &columns(), 5.0).unwrap().last_time(), None);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{head}\n"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said_plainly() {
        // Every write to this device fails as on a full disk.
        let mut table = Table::open(Path::new("/dev/full"), 1, None).unwrap();
        let told = table.append(&[1.0]);
        assert!(matches!(told, Err(TableError::File(FileError::DiskFull { .. }))), "{told:?}");
    }
}
