//! The checkpoint's file: named sections of plain arrays, each with a checksum, written whole or not at all.
//!
//! Layout, little-endian:
//! ```text
//! magic      8 bytes   "barchan" and 0x1a
//! format     u32       of this layout
//! version    u32       of what the sections mean, the caller's
//! count      u32       sections
//! checksum   u32       CRC-32 of the 20 bytes above
//! then a section each:
//!   checksum u32       CRC-32 of the rest of the section
//!   kind     u8        type of its elements
//!   name     u8 length and UTF-8
//!   length   u64       bytes of its data
//!   data
//! ```
//! A reader believes no length before it has compared it with the bytes at hand, so a damaged or hostile file costs an
//! error and no memory; and every byte is under a checksum, so a flipped bit is found before a run starts from it.

use crate::atomic::{self, FileError};
use crate::columns::bytes;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"barchan\x1a";
const FORMAT: u32 = 1;
const HEADER: usize = 24;

/// Why a container could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// The file could not be written or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Not a file of this kind.
    #[error("{} is not a barchan checkpoint: check the name", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Written in a layout this program does not know.
    #[error("{} is of format {found}, this program reads up to {FORMAT}: use a newer barchan", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Format of the file.
        found: u32,
    },
    /// Cut short or altered.
    #[error("{} is damaged at byte {at} ({what}): go back to an earlier checkpoint", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where reading stopped.
        at: usize,
        /// What was found.
        what: String,
    },
    /// A section that was asked for is not there.
    #[error("{} has no section `{name}`: it was written by another version of barchan or another kind of run", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// The section.
        name: String,
    },
    /// A section holds another type or another number of elements than was asked for.
    #[error("section `{name}` of {} holds {found}, not {asked}: it was written by another version of barchan", path.display())]
    Unlike {
        /// The file.
        path: PathBuf,
        /// The section.
        name: String,
        /// What it holds.
        found: String,
        /// What was asked for.
        asked: String,
    },
    /// Two sections of one name, or a name longer than 255 bytes; a fault of the caller.
    #[error("section name `{name}` is used twice or longer than 255 bytes; report this as a bug")]
    Name {
        /// The name.
        name: String,
    },
}

/// Type of a section's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    U8 = 1,
    U16 = 2,
    U32 = 3,
    U64 = 4,
    F32 = 5,
    F64 = 6,
    Text = 7,
}

impl Kind {
    const ALL: [Kind; 7] = [Kind::U8, Kind::U16, Kind::U32, Kind::U64, Kind::F32, Kind::F64, Kind::Text];

    fn of(byte: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| *k as u8 == byte)
    }

    /// Bytes of an element; 1 for text, which has its own lengths.
    fn size(self) -> usize {
        match self {
            Kind::U8 | Kind::Text => 1,
            Kind::U16 => 2,
            Kind::U32 | Kind::F32 => 4,
            Kind::U64 | Kind::F64 => 8,
        }
    }
}

/// Collects sections and writes them.
#[derive(Debug)]
pub struct ContainerWriter {
    bytes: Vec<u8>,
    count: u32,
    version: u32,
    names: BTreeSet<String>,
    /// First name that was refused; told by `to_bytes`, so that `put_` calls can be chained.
    refused: Option<String>,
}

macro_rules! put_and_get {
    ($($put:ident $get:ident $type:ty, $kind:ident);+ $(;)?) => {
        impl ContainerWriter {
            $(#[doc = concat!("Adds a section of `", stringify!($type), "`.")]
            pub fn $put(&mut self, name: &str, values: &[$type]) -> &mut Self {
                self.put(name, Kind::$kind, &bytes(values.iter().map(|v| v.to_le_bytes())))
            })+
        }
        impl Container {
            $(#[doc = concat!("The elements of a section of `", stringify!($type), "`.")]
            pub fn $get(&self, name: &str) -> Result<Vec<$type>, ContainerError> {
                const SIZE: usize = size_of::<$type>();
                let (elements, _) = self.data(name, Kind::$kind)?.as_chunks::<SIZE>();
                Ok(elements.iter().map(|e| <$type>::from_le_bytes(*e)).collect())
            })+
        }
    };
}

put_and_get! {
    put_u8s u8s u8, U8;
    put_u16s u16s u16, U16;
    put_u32s u32s u32, U32;
    put_u64s u64s u64, U64;
    put_f32s f32s f32, F32;
    put_f64s f64s f64, F64;
}

impl ContainerWriter {
    /// A container without sections; `version` tells a reader what they mean.
    pub fn new(version: u32) -> Self {
        ContainerWriter { bytes: vec![0; HEADER], count: 0, version, names: BTreeSet::new(), refused: None }
    }

    /// Adds a section of texts.
    pub fn put_strings<S: AsRef<str>>(&mut self, name: &str, values: &[S]) -> &mut Self {
        let mut data = Vec::new();
        for value in values {
            data.extend_from_slice(&(value.as_ref().len() as u64).to_le_bytes());
            data.extend_from_slice(value.as_ref().as_bytes());
        }
        self.put(name, Kind::Text, &data)
    }

    /// Adds a section of vectors, stored as f64.
    pub fn put_vec3s(&mut self, name: &str, values: &[DVec3]) -> &mut Self {
        self.put(name, Kind::F64, &bytes(values.iter().map(|v| crate::columns::vec3(*v))))
    }

    fn put(&mut self, name: &str, kind: Kind, data: &[u8]) -> &mut Self {
        let length = u8::try_from(name.len());
        let (Ok(length), true) = (length, self.names.insert(name.to_owned())) else {
            self.refused.get_or_insert(name.to_owned());
            return self;
        };
        let start = self.bytes.len();
        self.bytes.reserve(4 + 2 + name.len() + 8 + data.len());
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.extend_from_slice(&[kind as u8, length]);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(&(data.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(data);
        let sum = crc32fast::hash(&self.bytes[start + 4..]);
        self.bytes[start..start + 4].copy_from_slice(&sum.to_le_bytes());
        self.count += 1;
        self
    }

    /// The container as bytes. The sections stay, so that it can be written as well.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, ContainerError> {
        Ok(self.finished()?.to_vec())
    }

    /// Writes the container to `path`, whole or not at all.
    pub fn write(&mut self, path: impl AsRef<Path>) -> Result<(), ContainerError> {
        Ok(atomic::write(path.as_ref(), self.finished()?)?)
    }

    fn finished(&mut self) -> Result<&[u8], ContainerError> {
        if let Some(name) = &self.refused {
            return Err(ContainerError::Name { name: name.clone() });
        }
        self.bytes[..8].copy_from_slice(MAGIC);
        for (i, value) in [FORMAT, self.version, self.count].into_iter().enumerate() {
            self.bytes[8 + 4 * i..][..4].copy_from_slice(&value.to_le_bytes());
        }
        let sum = crc32fast::hash(&self.bytes[..20]);
        self.bytes[20..HEADER].copy_from_slice(&sum.to_le_bytes());
        Ok(&self.bytes)
    }
}

/// A container that has been read and found whole.
#[derive(Debug)]
pub struct Container {
    path: PathBuf,
    bytes: Vec<u8>,
    version: u32,
    sections: BTreeMap<String, (Kind, Range<usize>)>,
}

impl Container {
    /// Reads a file and checks all of it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ContainerError> {
        let path = path.as_ref();
        let failed = |e| FileError::new("read", path, e);
        let mut file = File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        // A wrong file may be huge: look at its first bytes before taking the rest.
        file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
        if bytes != MAGIC {
            return Err(ContainerError::Foreign { path: path.to_owned() });
        }
        file.read_to_end(&mut bytes).map_err(failed)?;
        Self::parse(path.to_owned(), bytes)
    }

    /// Takes the bytes of a container and checks all of them.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ContainerError> {
        Self::parse(PathBuf::from("(bytes in memory)"), bytes)
    }

    fn parse(path: PathBuf, bytes: Vec<u8>) -> Result<Self, ContainerError> {
        if !bytes.starts_with(MAGIC) {
            return Err(ContainerError::Foreign { path });
        }
        let mut sections = BTreeMap::new();
        let version = (|| {
            let mut at = Cursor { bytes: &bytes, at: MAGIC.len() };
            let [format, version, count, sum] = [at.u32()?, at.u32()?, at.u32()?, at.u32()?];
            if sum != crc32fast::hash(&bytes[..20]) {
                return Err((MAGIC.len(), "the header's checksum is wrong".to_owned()));
            }
            if format != FORMAT {
                return Ok(Err(format));
            }
            for _ in 0..count {
                let (name, kind, range) = at.section()?;
                if sections.insert(name.clone(), (kind, range)).is_some() {
                    return Err((at.at, format!("a second section `{name}`")));
                }
            }
            if at.at != bytes.len() {
                return Err((at.at, "more bytes than sections".to_owned()));
            }
            Ok(Ok(version))
        })();
        match version {
            Ok(Ok(version)) => Ok(Container { path, bytes, version, sections }),
            Ok(Err(found)) => Err(ContainerError::Newer { path, found }),
            Err((at, what)) => Err(ContainerError::Damaged { path, at, what }),
        }
    }

    /// The caller's version, given to [`ContainerWriter::new`].
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The file this was read from, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the sections, in order of the alphabet.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sections.keys().map(String::as_str)
    }

    /// Whether there is a section of this name.
    pub fn has(&self, name: &str) -> bool {
        self.sections.contains_key(name)
    }

    /// The texts of a section.
    pub fn strings(&self, name: &str) -> Result<Vec<String>, ContainerError> {
        let mut at = Cursor { bytes: self.data(name, Kind::Text)?, at: 0 };
        let mut texts = Vec::new();
        while at.at < at.bytes.len() {
            let text = at.u64().and_then(|length| at.text(length)).map_err(|_| {
                let start = self.sections[name].1.start;
                ContainerError::Damaged {
                    path: self.path.clone(),
                    at: start + at.at,
                    what: format!("texts of `{name}`"),
                }
            })?;
            texts.push(text);
        }
        Ok(texts)
    }

    /// The vectors of a section written by [`ContainerWriter::put_vec3s`].
    pub fn vec3s(&self, name: &str) -> Result<Vec<DVec3>, ContainerError> {
        let values = self.f64s(name)?;
        let (vectors, rest) = values.as_chunks::<3>();
        if !rest.is_empty() {
            return Err(self.unlike(name, format!("{} numbers", values.len()), "vectors of three".to_owned()));
        }
        Ok(vectors.iter().map(|v| DVec3::from_array(*v)).collect())
    }

    fn data(&self, name: &str, asked: Kind) -> Result<&[u8], ContainerError> {
        let Some((kind, range)) = self.sections.get(name) else {
            return Err(ContainerError::Absent { path: self.path.clone(), name: name.to_owned() });
        };
        if *kind != asked {
            return Err(self.unlike(name, format!("{kind:?}").to_lowercase(), format!("{asked:?}").to_lowercase()));
        }
        Ok(&self.bytes[range.clone()])
    }

    fn unlike(&self, name: &str, found: String, asked: String) -> ContainerError {
        ContainerError::Unlike { path: self.path.clone(), name: name.to_owned(), found, asked }
    }
}

/// Place and reason of damage.
type Damage = (usize, String);

/// Reads forward; every length is compared with what is left.
struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    fn take(&mut self, length: u64) -> Result<&'b [u8], Damage> {
        let left = &self.bytes[self.at..];
        match usize::try_from(length).ok().and_then(|length| left.get(..length)) {
            Some(found) => {
                self.at += found.len();
                Ok(found)
            }
            None => Err((self.at, format!("{length} bytes expected, {} left", left.len()))),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let at = self.at;
        self.take(N as u64)?.try_into().map_err(|_| (at, "too short".to_owned()))
    }

    fn u32(&mut self) -> Result<u32, Damage> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, Damage> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn text(&mut self, length: u64) -> Result<String, Damage> {
        let at = self.at;
        let text = std::str::from_utf8(self.take(length)?);
        text.map(str::to_owned).map_err(|_| (at, "a text is not UTF-8".to_owned()))
    }

    fn section(&mut self) -> Result<(String, Kind, Range<usize>), Damage> {
        let start = self.at;
        let sum = self.u32()?;
        let [kind, length] = self.array()?;
        let name = self.text(u64::from(length))?;
        let length = self.u64()?;
        let data = self.take(length)?.len();
        if sum != crc32fast::hash(&self.bytes[start + 4..self.at]) {
            return Err((start, format!("the checksum of section `{name}` is wrong")));
        }
        match Kind::of(kind) {
            Some(kind) if data.is_multiple_of(kind.size()) => Ok((name, kind, self.at - data..self.at)),
            _ => Err((start, format!("section `{name}` has type {kind} and {data} bytes"))),
        }
    }
}
