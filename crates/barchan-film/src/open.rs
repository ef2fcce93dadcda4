//! Cisco's OpenH264 in place of our own encoder (feature `openh264`): several times as fast, with a C++ source that is built along.
//!
//! Pictures that it does not take, smaller than a macroblock or larger than its highest level, go to our own.

use crate::colour::Picture;
use crate::encoder::{self, Coded, GROUP_SECONDS, Parameters, Rate};
use openh264::OpenH264API;
use openh264::encoder::{
    Complexity, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, Profile, QpRange, RateControlMode, UsageType,
    VuiConfig,
};
use openh264::formats::YUVSlices;
use std::io;

/// Sides [pixel] of the smallest and the largest picture that it codes.
const SIDES: [[usize; 2]; 2] = [[16, 16], [4096, 2304]];

/// Codes one picture after the other.
pub enum Encoder {
    Own(encoder::Encoder),
    Open(Box<Open>),
}

pub struct Open {
    encoder: openh264::encoder::Encoder,
    size: [usize; 2],
    parameters: Parameters,
}

impl Encoder {
    /// For pictures of `width` × `height`, both even, at QP `qp` in 14 ..= 40.
    pub fn new(width: usize, height: usize, rate: Rate, qp: u8) -> Encoder {
        let [least, most] = SIDES;
        let fits = |k: usize, side: usize| (least[k]..=most[k]).contains(&side);
        let open = if fits(0, width) && fits(1, height) { Open::new([width, height], rate, qp).ok() } else { None };
        match open {
            Some(open) => Encoder::Open(Box::new(open)),
            None => Encoder::Own(encoder::Encoder::new(width, height, rate, qp)),
        }
    }

    /// Codes `picture`, of the encoder's size.
    pub fn encode(&mut self, picture: &Picture) -> io::Result<Coded> {
        match self {
            Encoder::Own(own) => own.encode(picture),
            Encoder::Open(open) => open.encode(picture),
        }
    }

    /// What a container says of the stream.
    pub fn parameters(&self) -> Parameters {
        match self {
            Encoder::Own(own) => own.parameters(),
            Encoder::Open(open) => open.parameters.clone(),
        }
    }
}

impl Open {
    fn new(size: [usize; 2], rate: Rate, qp: u8) -> Result<Open, openh264::Error> {
        let fps = rate.scale as f32 / rate.time as f32;
        let config = EncoderConfig::new()
            // One QP throughout: the quality that was asked for, and no frame left out.
            .rate_control_mode(RateControlMode::Quality)
            .qp(QpRange::new(qp, qp))
            .skip_frames(false)
            .adaptive_quantization(false)
            .background_detection(false)
            .scene_change_detect(false)
            .debug(false)
            .usage_type(UsageType::CameraVideoRealTime)
            .complexity(Complexity::Medium)
            .profile(Profile::Baseline)
            .max_frame_rate(FrameRate::from_hz(fps))
            .intra_frame_period(IntraFramePeriod::from_num_frames(
                (GROUP_SECONDS as f32 * fps).round().clamp(1.0, 250.0) as u32,
            ))
            // More threads cut a picture into more slices: the file would depend on their number.
            .num_threads(1)
            .vui(VuiConfig::bt709());
        let encoder = openh264::encoder::Encoder::with_api_config(OpenH264API::from_source(), config)?;
        let parameters = Parameters { profile: [0; 3], sequence: Vec::new(), picture: Vec::new() };
        Ok(Open { encoder, size, parameters })
    }

    fn encode(&mut self, picture: &Picture) -> io::Result<Coded> {
        let ([width, height], stride) = (self.size, picture.width);
        let [cb, cr] = &picture.chroma;
        let luma = &picture.y[..height * stride];
        let quarter = height / 2 * (stride / 2);
        let planes = (luma, &cb[..quarter], &cr[..quarter]);
        let source = YUVSlices::new(planes, (width, height), (stride, stride / 2, stride / 2));
        let stream = self.encoder.encode(&source).map_err(io::Error::other)?;
        let mut units = Vec::new();
        for layer in (0..stream.num_layers()).filter_map(|l| stream.layer(l)) {
            for unit in (0..layer.nal_count()).filter_map(|n| layer.nal_unit(n)) {
                let unit = without_start(unit);
                match unit.first().map(|head| head & 0x1f) {
                    // Parameter sets stand in the container.
                    Some(7) => {
                        self.parameters.profile = [unit[1], unit[2], unit[3]];
                        self.parameters.sequence = unit.to_vec();
                    }
                    Some(8) => self.parameters.picture = unit.to_vec(),
                    Some(_) => units.push(unit.to_vec()),
                    None => {}
                }
            }
        }
        if units.is_empty() {
            return Err(io::Error::other("OpenH264 left a picture out"));
        }
        Ok(Coded { units, key: stream.frame_type() == FrameType::IDR })
    }
}

/// A NAL unit without the start code before it.
fn without_start(unit: &[u8]) -> &[u8] {
    let zeros = unit.iter().take_while(|b| **b == 0).count();
    unit.get(zeros + 1..).unwrap_or_default()
}
