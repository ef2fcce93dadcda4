//! Pictures to NAL units: H.264 in the Constrained Baseline profile (ITU-T H.264, A.2.1.1).
//!
//! A picture is cut into slices of whole macroblock rows, by its height alone; they are coded in parallel and the
//! stream is the same on any number of threads. Every picture but the first of a group refers to the one before it.

use rayon::prelude::*;
use std::io;

use crate::bits::{BitWriter, Nal, nal_unit};
use crate::colour::Picture;
use crate::deblock::deblock;
use crate::inter::Reference;
use crate::slice::{Band, Job, Mb, Slice};

/// Frames in `time` units of 1/`scale` second each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Units in a second.
    pub scale: u32,
    /// Units a frame lasts.
    pub time: u32,
}

/// Codes one picture after the other.
pub struct Encoder {
    width: usize,
    height: usize,
    rate: Rate,
    qp: u8,
    /// Pictures from one where decoding can start to the next.
    group: u32,
    /// Pictures so far.
    count: u32,
    decoded: Picture,
    reference: Option<Reference>,
    mbs: Vec<Mb>,
    before: Vec<Mb>,
}

/// One coded picture.
pub struct Coded {
    /// Its NAL units.
    pub units: Vec<Vec<u8>>,
    /// Whether decoding can start here.
    pub key: bool,
}

/// What a container says of the stream.
#[derive(Clone)]
pub struct Parameters {
    /// Profile, constraints and level.
    pub profile: [u8; 3],
    /// The sequence parameter set as a NAL unit.
    pub sequence: Vec<u8>,
    /// The picture parameter set as a NAL unit.
    pub picture: Vec<u8>,
}

/// QP of pictures where decoding can start, below that of the others: all others inherit from them.
const KEY_QP: u8 = 2;
/// Time between them [s].
pub const GROUP_SECONDS: f64 = 2.0;
/// Macroblock rows in a slice, about: enough that the predictions lost at its upper edge matter little.
const SLICE_ROWS: usize = 9;
/// log2 of the period of frame_num.
const FRAME_NUMBER_BITS: u32 = 8;

impl Encoder {
    /// For pictures of `width` × `height`, both even, at QP `qp` in 14 ..= 40.
    pub fn new(width: usize, height: usize, rate: Rate, qp: u8) -> Self {
        let decoded = Picture::new(width, height);
        let mbs = vec![Mb::default(); decoded.width * decoded.height / 256];
        let group = (GROUP_SECONDS * f64::from(rate.scale) / f64::from(rate.time)).round().clamp(1.0, 250.0) as u32;
        Self { width, height, rate, qp, group, count: 0, decoded, reference: None, before: mbs.clone(), mbs }
    }

    /// What a decoder will show for the picture coded last.
    #[cfg(test)]
    pub fn decoded(&self) -> &Picture {
        &self.decoded
    }

    /// Codes `picture`, of the encoder's size.
    pub fn encode(&mut self, picture: &Picture) -> io::Result<Coded> {
        let key = self.count.is_multiple_of(self.group);
        let qp = if key { self.qp - KEY_QP } else { self.qp };
        std::mem::swap(&mut self.mbs, &mut self.before);
        let job = Job {
            source: picture,
            reference: if key { None } else { self.reference.as_ref() },
            before: &self.before,
            qp,
        };
        let (width, rows) = (picture.width, picture.height / 16);
        let slices = (rows / SLICE_ROWS).max(1);
        let (mut y, mut mbs) = (&mut self.decoded.y[..], &mut self.mbs[..]);
        let [cb, cr] = &mut self.decoded.chroma;
        let (mut cb, mut cr) = (&mut cb[..], &mut cr[..]);
        let mut parts = Vec::new();
        for slice in 0..slices {
            let (first, end) = (rows * slice / slices, rows * (slice + 1) / slices);
            let samples = (end - first) * 16 * width;
            let band = Band {
                stride: width,
                y: y.split_off_mut(..samples).unwrap_or_default(),
                chroma: [&mut cb, &mut cr].map(|c| c.split_off_mut(..samples / 4).unwrap_or_default()),
            };
            parts.push((first, band, mbs.split_off_mut(..samples / 256).unwrap_or_default()));
        }
        let number = self.count % self.group;
        let group = self.count / self.group;
        let units = parts
            .into_par_iter()
            .map(|(first, band, mbs)| {
                let header = slice_header(first * width / 16, key, number, group, qp);
                let (payload, mut band, mbs) = Slice::new(&job, first, band, mbs, header).code();
                deblock(&mut band, mbs, width / 16, qp);
                nal_unit(if key { Nal::Idr } else { Nal::Slice }, &payload)
            })
            .collect();
        self.count += 1;
        self.reference = (!self.count.is_multiple_of(self.group)).then(|| Reference::new(&self.decoded));
        Ok(Coded { units, key })
    }

    /// What a container says of the stream.
    pub fn parameters(&self) -> Parameters {
        let profile = self.profile();
        Parameters { profile, sequence: self.sequence_parameters(), picture: self.picture_parameters() }
    }

    /// Profile, constraints and level.
    fn profile(&self) -> [u8; 3] {
        // 66 is Baseline; constraint_set0 and 1 together make it Constrained Baseline (A.2.1.1).
        [66, 0b1100_0000, self.level()]
    }

    /// Least level (Table A-1) for the size and rate, not below 3, whose range of vertical motion is used.
    fn level(&self) -> u8 {
        /// level_idc, MaxMBPS, MaxFS.
        const LEVELS: [(u8, f64, usize); 10] = [
            (30, 40_500.0, 1_620),
            (31, 108_000.0, 3_600),
            (32, 216_000.0, 5_120),
            (40, 245_760.0, 8_192),
            (42, 522_240.0, 8_704),
            (50, 589_824.0, 22_080),
            (51, 983_040.0, 36_864),
            (52, 2_073_600.0, 36_864),
            (60, 4_177_920.0, 139_264),
            (61, 8_355_840.0, 139_264),
        ];
        let size = self.mbs.len();
        let a_second = size as f64 * f64::from(self.rate.scale) / f64::from(self.rate.time);
        // A side may have no more than √(8 MaxFS) macroblocks (A.3.1).
        let side = self.decoded.width.max(self.decoded.height) / 16;
        LEVELS
            .iter()
            .find(|(_, rate, most)| a_second <= *rate && size <= *most && side * side <= 8 * most)
            .map_or(62, |level| level.0) // the highest, for any rate
    }

    /// The sequence parameter set (7.3.2.1.1) as a NAL unit.
    fn sequence_parameters(&self) -> Vec<u8> {
        let mut bits = BitWriter::default();
        for byte in self.profile() {
            bits.put(8, byte.into());
        }
        bits.ue(0); // seq_parameter_set_id
        bits.ue(FRAME_NUMBER_BITS - 4);
        bits.ue(2); // pic_order_cnt_type: pictures are shown in the order they are coded
        bits.ue(1); // max_num_ref_frames
        bits.flag(false); // gaps_in_frame_num_value_allowed_flag
        bits.ue(self.decoded.width as u32 / 16 - 1);
        bits.ue(self.decoded.height as u32 / 16 - 1);
        bits.flag(true); // frame_mbs_only_flag
        bits.flag(true); // direct_8x8_inference_flag
        let cropped = (self.decoded.width - self.width, self.decoded.height - self.height);
        bits.flag(cropped != (0, 0));
        if cropped != (0, 0) {
            for edge in [0, cropped.0, 0, cropped.1] {
                bits.ue(edge as u32 / 2); // in chroma samples (7-19 to 7-22)
            }
        }
        bits.flag(true);
        self.usability(&mut bits);
        nal_unit(Nal::Sequence, &bits.finish())
    }

    /// Video usability information (E.1.1): colour and time.
    fn usability(&self, bits: &mut BitWriter) {
        bits.flag(true);
        bits.put(8, 1); // square samples
        bits.flag(false); // overscan_info_present_flag
        bits.flag(true);
        bits.put(3, 5); // video_format: unspecified
        bits.flag(false); // limited range
        bits.flag(true);
        bits.put(24, 0x01_01_01); // primaries, transfer and matrix of BT.709
        bits.flag(true);
        bits.ue(0); // chroma on the even columns, between the rows
        bits.ue(0);
        bits.flag(true);
        bits.put(32, self.rate.time);
        bits.put(32, 2 * self.rate.scale); // a tick is half a frame
        bits.flag(true); // fixed_frame_rate_flag
        bits.put(3, 0); // no HRD parameters, no pic_struct
        bits.flag(true); // bitstream_restriction_flag
        bits.flag(true); // motion_vectors_over_pic_boundaries_flag
        for value in [0, 0, 10, 10, 0, 1] {
            // No bounds on bytes and bits; motion up to 2^10 quarters; no reordering, one picture kept.
            bits.ue(value);
        }
    }

    /// The picture parameter set (7.3.2.2) as a NAL unit.
    fn picture_parameters(&self) -> Vec<u8> {
        let mut bits = BitWriter::default();
        bits.ue(0); // pic_parameter_set_id
        bits.ue(0); // seq_parameter_set_id
        bits.flag(false); // CAVLC
        bits.flag(false); // bottom_field_pic_order_in_frame_present_flag
        bits.ue(0); // one slice group
        bits.ue(0); // num_ref_idx_l0_default_active_minus1
        bits.ue(0); // num_ref_idx_l1_default_active_minus1
        bits.put(3, 0); // no weighted prediction
        bits.se(0); // pic_init_qp_minus26
        bits.se(0); // pic_init_qs_minus26
        bits.se(0); // chroma_qp_index_offset
        bits.flag(true); // deblocking_filter_control_present_flag
        bits.flag(false); // constrained_intra_pred_flag
        bits.flag(false); // redundant_pic_cnt_present_flag
        nal_unit(Nal::Picture, &bits.finish())
    }
}

/// slice_header (7.3.3).
fn slice_header(first_mb: usize, key: bool, number: u32, group: u32, qp: u8) -> BitWriter {
    let mut bits = BitWriter::default();
    bits.ue(first_mb as u32);
    bits.ue(if key { 7 } else { 5 }); // all slices of the picture are I, or P
    bits.ue(0); // pic_parameter_set_id
    bits.put(FRAME_NUMBER_BITS, number % (1 << FRAME_NUMBER_BITS));
    if key {
        bits.ue(group % 2); // idr_pic_id: neighbours differ
        bits.put(2, 0); // no_output_of_prior_pics_flag, long_term_reference_flag
    } else {
        bits.flag(false); // num_ref_idx_active_override_flag
        bits.flag(false); // ref_pic_list_modification_flag_l0
        bits.flag(false); // adaptive_ref_pic_marking_mode_flag
    }
    bits.se(i32::from(qp) - 26);
    bits.ue(2); // disable_deblocking_filter_idc: filter, but not across slices
    bits.se(0); // slice_alpha_c0_offset_div2
    bits.se(0); // slice_beta_offset_div2
    bits
}
