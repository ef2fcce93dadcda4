//! The MP4 file around the pictures: ISO/IEC 14496-12 (boxes) and 14496-15 (H.264 in them).
//!
//! Layout: `ftyp`, `mdat` with the pictures as they come, `moov` with their table at the end.

use std::io::{self, Seek, SeekFrom, Write};

use crate::encoder::{Coded, Parameters, Rate};

/// Where each picture lies.
#[derive(Default)]
pub struct Table {
    /// Bytes of each picture.
    sizes: Vec<u32>,
    /// Pictures where decoding can start, counted from 1.
    keys: Vec<u32>,
    /// Bytes written to the file.
    end: u64,
}

/// Offset of the first picture: after `ftyp` (32 bytes) and the long header of `mdat` (16).
const FIRST: u64 = 48;

impl Table {
    /// Writes what comes before the pictures.
    pub fn begin(out: &mut impl Write) -> io::Result<Self> {
        out.write_all(&boxed(b"ftyp", |b| {
            b.extend(b"isom");
            b.extend(0x200_u32.to_be_bytes());
            b.extend(b"isomiso2avc1mp41");
        }))?;
        // Size 1: the true size follows in 64 bits, once it is known.
        out.write_all(&1u32.to_be_bytes())?;
        out.write_all(b"mdat")?;
        out.write_all(&0u64.to_be_bytes())?;
        Ok(Self { end: FIRST, ..Self::default() })
    }

    /// Pictures so far.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Writes one picture: each NAL unit after its length in four bytes (14496-15, 5.3.4.2).
    pub fn add(&mut self, out: &mut impl Write, coded: &Coded) -> io::Result<()> {
        let mut size = 0;
        for unit in &coded.units {
            out.write_all(&(unit.len() as u32).to_be_bytes())?;
            out.write_all(unit)?;
            size += 4 + unit.len() as u32;
        }
        self.sizes.push(size);
        self.end += u64::from(size);
        if coded.key {
            self.keys.push(self.sizes.len() as u32);
        }
        Ok(())
    }

    /// Writes what comes after the pictures, and the size of `mdat`. `size` is what is shown [pixel].
    pub fn finish(
        self,
        out: &mut (impl Write + Seek),
        parameters: &Parameters,
        size: [u16; 2],
        rate: Rate,
    ) -> io::Result<()> {
        out.write_all(&self.movie(parameters, size, rate))?;
        out.seek(SeekFrom::Start(FIRST - 8))?;
        out.write_all(&(self.end - FIRST + 16).to_be_bytes())?;
        out.seek(SeekFrom::End(0))?;
        Ok(())
    }

    fn movie(&self, parameters: &Parameters, [width, height]: [u16; 2], rate: Rate) -> Vec<u8> {
        let duration = self.sizes.len() as u64 * u64::from(rate.time);
        boxed(b"moov", |moov| {
            moov.extend(full(b"mvhd", 1, 0, |b| {
                times(b);
                b.extend(rate.scale.to_be_bytes());
                b.extend(duration.to_be_bytes());
                b.extend(0x0001_0000_u32.to_be_bytes()); // at its own speed
                b.extend(0x0100_u16.to_be_bytes()); // at full volume
                b.extend([0; 10]);
                matrix(b);
                b.extend([0; 24]);
                b.extend(2u32.to_be_bytes()); // next track
            }));
            moov.extend(boxed(b"trak", |trak| {
                // Flags: enabled, in the movie.
                trak.extend(full(b"tkhd", 1, 3, |b| {
                    times(b);
                    b.extend(1u32.to_be_bytes()); // track
                    b.extend([0; 4]);
                    b.extend(duration.to_be_bytes());
                    b.extend([0; 16]); // layer, group, volume: none
                    matrix(b);
                    b.extend((u32::from(width) << 16).to_be_bytes());
                    b.extend((u32::from(height) << 16).to_be_bytes());
                }));
                trak.extend(boxed(b"mdia", |mdia| {
                    mdia.extend(full(b"mdhd", 1, 0, |b| {
                        times(b);
                        b.extend(rate.scale.to_be_bytes());
                        b.extend(duration.to_be_bytes());
                        b.extend(0x55c4_0000_u32.to_be_bytes()); // language undetermined
                    }));
                    mdia.extend(full(b"hdlr", 0, 0, |b| {
                        b.extend([0; 4]);
                        b.extend(b"vide");
                        b.extend([0; 12]);
                        b.extend(b"film\0");
                    }));
                    mdia.extend(boxed(b"minf", |minf| {
                        minf.extend(full(b"vmhd", 0, 1, |b| b.extend([0; 8])));
                        minf.extend(boxed(b"dinf", |dinf| {
                            dinf.extend(full(b"dref", 0, 0, |b| {
                                b.extend(1u32.to_be_bytes());
                                b.extend(full(b"url ", 0, 1, |_| {})); // in this file
                            }));
                        }));
                        minf.extend(self.samples(parameters, [width, height], rate));
                    }));
                }));
            }));
        })
    }

    /// The sample table, `stbl`: how to decode, how long each picture lasts, where it lies.
    fn samples(&self, parameters: &Parameters, size: [u16; 2], rate: Rate) -> Vec<u8> {
        let count = self.sizes.len() as u32;
        boxed(b"stbl", |stbl| {
            stbl.extend(full(b"stsd", 0, 0, |b| {
                b.extend(1u32.to_be_bytes());
                b.extend(entry(parameters, size));
            }));
            stbl.extend(full(b"stts", 0, 0, |b| words(b, &[1, count, rate.time])));
            stbl.extend(full(b"stss", 0, 0, |b| {
                words(b, &[self.keys.len() as u32]);
                words(b, &self.keys);
            }));
            stbl.extend(full(b"stsc", 0, 0, |b| words(b, &[1, 1, count, 1]))); // all in one chunk
            stbl.extend(full(b"stsz", 0, 0, |b| {
                words(b, &[0, count]);
                words(b, &self.sizes);
            }));
            stbl.extend(full(b"stco", 0, 0, |b| words(b, &[1, FIRST as u32])));
        })
    }
}

/// The sample entry `avc1` with the decoder's configuration `avcC` (14496-15, 5.3.3) and the colours `colr`.
fn entry(parameters: &Parameters, [width, height]: [u16; 2]) -> Vec<u8> {
    boxed(b"avc1", |b| {
        b.extend([0; 6]);
        b.extend(1u16.to_be_bytes()); // data reference
        b.extend([0; 16]);
        b.extend(width.to_be_bytes());
        b.extend(height.to_be_bytes());
        words(b, &[0x0048_0000, 0x0048_0000, 0]); // 72 dots an inch
        b.extend(1u16.to_be_bytes()); // pictures a sample
        b.extend([0; 32]); // no name of a compressor
        b.extend(24u16.to_be_bytes());
        b.extend([0xff; 2]);
        b.extend(boxed(b"avcC", |b| {
            b.push(1);
            b.extend(parameters.profile);
            b.push(0xfc | 3); // lengths of 4 bytes
            for (count, unit) in [(0xe0 | 1, &parameters.sequence), (1, &parameters.picture)] {
                b.push(count);
                b.extend((unit.len() as u16).to_be_bytes());
                b.extend(unit);
            }
        }));
        b.extend(boxed(b"colr", |b| {
            b.extend(b"nclx");
            b.extend([0, 1, 0, 1, 0, 1, 0]); // BT.709, limited range
        }));
    })
}

/// A box: its length, its name, what `fill` appends.
fn boxed(name: &[u8; 4], fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend(name);
    fill(&mut bytes);
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    bytes
}

/// A box with a version and flags.
fn full(name: &[u8; 4], version: u8, flags: u32, fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    boxed(name, |b| {
        b.extend((u32::from(version) << 24 | flags).to_be_bytes());
        fill(b);
    })
}

fn words(bytes: &mut Vec<u8>, words: &[u32]) {
    bytes.extend(words.iter().flat_map(|w| w.to_be_bytes()));
}

/// Times of creation and change, not given: the same run gives the same file.
fn times(bytes: &mut Vec<u8>) {
    bytes.extend([0; 16]);
}

/// No rotation, no scaling.
fn matrix(bytes: &mut Vec<u8>) {
    words(bytes, &[0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000]);
}
