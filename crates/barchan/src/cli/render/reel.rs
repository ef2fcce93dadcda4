//! The frames of a run on disk.

use super::super::Failure;
use super::super::say::{many, seconds};
use barchan::core::frame::Shared;
use barchan::core::shapes::Shape;
use barchan::io::frames::{ReadError, Stored, stored};
use barchan::prelude::Frame;
use std::path::{Path, PathBuf};

/// Frames looked at before a film is drawn, at most: enough for camera and colours.
const SAMPLED: usize = 40;

/// One frame of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Which {
    First,
    Last,
    /// By its number.
    Number(u64),
    /// The one nearest to a time [s].
    Time(f64),
}

pub fn which(text: &str) -> Result<Which, String> {
    let help = "give first, last, the number of a frame, such as 12, or a time, such as \"0.4 s\" or 0.4";
    match text.trim() {
        "first" => Ok(Which::First),
        "last" => Ok(Which::Last),
        t => match (t.parse(), t.parse::<f64>()) {
            (Ok(number), _) => Ok(Which::Number(number)),
            (_, Ok(time)) if time.is_finite() => Ok(Which::Time(time)),
            _ => barchan::scene::units::Quantity::TIME.parse(t).map(Which::Time).map_err(|_| help.into()),
        },
    }
}

/// The frames of a run in order of time; at least one.
pub struct Reel {
    folder: PathBuf,
    frames: Vec<Stored>,
    damaged: Vec<ReadError>,
}

impl Reel {
    pub fn open(folder: &Path) -> Result<Reel, Failure> {
        let shown = folder.display();
        let usage = |text: String| Err(Failure::Usage(text));
        if !folder.is_dir() {
            let name = folder.file_stem().unwrap_or_default().to_string_lossy();
            return match folder.exists() {
                true => usage(format!(
                    "{shown} is a file, not the folder of a run: run it first, `barchan run {shown}`, then `barchan render out/{name}`"
                )),
                false => usage(format!(
                    "there is no folder {shown}: name the folder of a run, as `barchan run` has written it, such as out/hourglass"
                )),
            };
        }
        if !folder.join("scene.toml").is_file() {
            return usage(format!(
                "{shown} is not the folder of a run (it has no scene.toml): name a folder that `barchan run` has written"
            ));
        }
        let (frames, damaged) = stored(folder).map_err(|e| Failure::Failed(e.to_string()))?;
        if frames.is_empty() {
            return Err(Failure::Failed(match damaged.first() {
                Some(e) => format!(
                    "no frame of {shown} can be read: {e}; run the scene again, `barchan run {shown}/scene.toml`"
                ),
                None => format!(
                    "{shown} has no frames to draw: let the scene write some (`formats = [\"vtk\"]` under `[output]`) and run it \
                     again, `barchan run {shown}/scene.toml`"
                ),
            }));
        }
        Ok(Reel { folder: folder.into(), frames, damaged })
    }

    /// The frames in order of time.
    pub fn frames(&self) -> &[Stored] {
        &self.frames
    }

    /// Why files of frames cannot be read, by their first bytes.
    pub fn damaged(&self) -> &[ReadError] {
        &self.damaged
    }

    /// Frames that are not there or cannot be read, as far as is known without reading them all.
    pub fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        let gap = |w: &[Stored]| {
            let (a, b) = (w[0].number + 1, w[1].number.saturating_sub(1));
            let which = if a == b { format!("frame {a} is") } else { format!("frames {a} to {b} are") };
            format!("{which} missing; the nearest are shown instead")
        };
        let gaps = self.frames.windows(2).filter(|w| w[1].number > w[0].number + 1);
        // A damaged file is a gap too; it is named by its own message.
        let named = self.damaged.iter().map(|e| format!("{e}; the nearest frame is shown instead"));
        gaps.filter(|_| self.damaged.is_empty()).map(gap).chain(named)
    }

    /// First and last time [s].
    pub fn span(&self) -> [f64; 2] {
        [self.frames[0].time, self.frames[self.frames.len() - 1].time]
    }

    /// Simulated time between frames [s], the usual one.
    pub fn spacing(&self) -> f64 {
        let mut steps: Vec<f64> = self.frames.windows(2).map(|w| w[1].time - w[0].time).filter(|d| *d > 0.0).collect();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied().unwrap_or(1.0)
    }

    /// The frame nearest to a time [s].
    pub fn nearest(&self, time: f64) -> usize {
        let after = self.frames.partition_point(|f| f.time < time);
        let near = |i: &usize| (self.frames[*i].time - time).abs();
        let candidates = [after.saturating_sub(1), after.min(self.frames.len() - 1)];
        candidates.into_iter().min_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or(0)
    }

    /// Frames spread over the run, the first and the last among them.
    pub fn sample(&self) -> Vec<usize> {
        let n = self.frames.len();
        let count = n.min(SAMPLED);
        (0..count).map(|k| if count == 1 { 0 } else { k * (n - 1) / (count - 1) }).collect()
    }

    /// The frame of a film, of grains that have these `shapes`: where it is damaged, the nearest one that is not.
    pub fn read_near(&self, index: usize, shapes: &Shared<Shape>) -> Result<Frame, Failure> {
        let mut reason = None;
        for away in 0..self.frames.len() {
            for i in [index.checked_sub(away), Some(index + away)].into_iter().flatten() {
                match self.frames.get(i).map(|f| f.read(shapes)) {
                    Some(Ok(frame)) => return Ok(frame),
                    Some(Err(e)) => reason = reason.or(Some(e)),
                    None => {}
                }
            }
        }
        let why = reason.map_or_else(String::new, |e| format!(": {e}"));
        let shown = self.folder.display();
        Err(Failure::Failed(format!(
            "no frame of {shown} can be read{why}; run the scene again, `barchan run {shown}/scene.toml`"
        )))
    }

    /// One frame, itself and no other, of grains that have these `shapes`.
    pub fn still(&self, which: Which, shapes: &Shared<Shape>) -> Result<Frame, Failure> {
        self.find(which)?
            .read(shapes)
            .map_err(|e| Failure::Failed(format!("{e}; draw another one: --frame takes a number or a time")))
    }

    /// The file of one frame.
    pub fn find(&self, which: Which) -> Result<&Stored, Failure> {
        let last = self.frames.len() - 1;
        let [from, to] = self.span();
        Ok(match which {
            Which::First => &self.frames[0],
            Which::Last => &self.frames[last],
            Which::Number(number) => self.frames.iter().find(|f| f.number == number).ok_or_else(|| {
                Failure::Usage(format!(
                    "there is no frame {number}: {} has {}, from {} to {}",
                    self.folder.display(),
                    many(self.frames.len() as u64, "frame"),
                    self.frames[0].number,
                    self.frames[last].number
                ))
            })?,
            Which::Time(time) => {
                let slack = 0.5 * self.spacing();
                if time < from - slack || time > to + slack {
                    let text = format!(
                        "the run has no frame at {}: it goes from {} to {}",
                        seconds(time),
                        seconds(from),
                        seconds(to)
                    );
                    return Err(Failure::Usage(text));
                }
                &self.frames[self.nearest(time)]
            }
        })
    }
}
