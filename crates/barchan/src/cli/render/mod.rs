//! `barchan render`: pictures of a run.

pub mod reel;
mod setting;

pub use setting::scene;

use super::say::{self, many, say, seconds};
use super::{Failure, Threads, stop};
use barchan::draw::{CpuRenderer, Cut, Image, Legend, Map, Quality, Renderer, Show, TraceRenderer};
use barchan::io::film::{Film, FilmError};
use barchan::io::{atomic, png};
use barchan::prelude::Parsed;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reel::Reel;
use setting::Setting;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Seconds between lines where there is no terminal to draw on.
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// Pictures a second that players show.
const RATES: std::ops::RangeInclusive<f64> = 1.0..=240.0;

#[derive(Args)]
pub struct RenderArgs {
    /// Folder of a run; several with --beside
    #[arg(value_name = "FOLDER", required = true)]
    folders: Vec<PathBuf>,
    /// Draw several runs side by side, at the same times and in the same frame
    #[arg(long)]
    beside: bool,
    /// Where it is seen from: auto, auto:AZIMUTH,ELEVATION (degrees), orbit, orbit:TURNS, follow, follow:ID, front, front:DISTANCE,
    /// valley, fly and fixed as in the scene, fixed:EYE,TARGET (six numbers, metres)
    #[arg(long, value_name = "CAMERA", value_parser = setting::camera, allow_hyphen_values = true)]
    camera: Option<setting::CameraArg>,
    /// Pixels in a row and rows
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<[u32; 2]>,
    /// What the colours say: material, size, speed, force, coordination, id, population, or a column of the frames
    #[arg(long, value_name = "WHAT", visible_alias = "color")]
    colour: Option<String>,
    /// Colours for numbers: viridis, inferno, cividis, batlow
    #[arg(long, value_name = "MAP", value_parser = map)]
    map: Option<Map>,
    /// Numbers at the ends of the colours, in SI units; left out: those that suit the run
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    range: Option<[f32; 2]>,
    /// One picture: first, last, the number of a frame, or a time ("0.4 s")
    #[arg(long, value_name = "WHICH", value_parser = reel::which)]
    frame: Option<reel::Which>,
    /// Simulated time between pictures of a film; left out: every frame once
    #[arg(long, value_name = "TIME", value_parser = super::duration, allow_hyphen_values = true)]
    every: Option<f64>,
    /// Simulated time over the film's time: 0.25 is slow motion
    #[arg(long, value_name = "X", value_parser = speed, allow_hyphen_values = true)]
    speed: Option<f64>,
    /// What draws
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    renderer: Choice,
    /// With --renderer traced: grains as angular as sand is, of the same volume; physics has spheres
    #[arg(long)]
    angular: bool,
    /// With --renderer traced: diameter of the lens ("2 mm"); what is not at the distance of the camera's target is out of focus
    #[arg(long, value_name = "LENGTH", value_parser = lens, allow_hyphen_values = true)]
    lens: Option<f32>,
    /// Samples a pixel, for smooth edges: 1, 4, 9 or 16
    #[arg(long, value_name = "N", value_parser = samples, default_value = "4")]
    samples: u32,
    /// What is drawn of a continuum: auto (its grains where it has any), particles, grains, both, skin
    #[arg(long, value_name = "WHAT", value_parser = show, default_value = "auto")]
    show: Show,
    /// A skin over the grains: the same as --show skin
    #[arg(long, conflicts_with = "show")]
    skin: bool,
    /// Fog: distance at which 1/e of the light is left ("800 m"); left out: the scene's
    #[arg(long, value_name = "LENGTH", value_parser = super::sdf::length, allow_hyphen_values = true)]
    fog: Option<f64>,
    /// A map of numbers laid over the ground (ESRI ASCII grid, GeoTIFF), in the colours of --map, between the ends of --range
    #[arg(long, value_name = "FILE")]
    drape: Option<PathBuf>,
    /// Leave matter out on one side of a plane: "y<0", "x>0.1", or six numbers, a point of the plane and the side that is left out
    #[arg(long, value_name = "WHERE", value_parser = cut, allow_hyphen_values = true)]
    cut: Option<Cut>,
    /// Leave phases of sand out: solid, liquid, gas
    #[arg(long, value_name = "PHASES", value_delimiter = ',', value_parser = setting::PHASES)]
    hide: Vec<String>,
    /// Walls, bodies and skins as the edges of their triangles
    #[arg(long)]
    wireframe: bool,
    /// Contacts, bonds and other pairs as lines between grains that are drawn smaller than they are
    #[arg(long)]
    pairs: bool,
    /// The boxes of fields on grids
    #[arg(long)]
    grids: bool,
    /// No time, speed or colour bar on the picture
    #[arg(long)]
    plain: bool,
    /// A film (.mp4), a still (.png) or a folder for a sequence; left out: FOLDER/NAME.mp4, or .png with --frame
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    /// Say nothing unless something is wrong
    #[arg(short, long)]
    quiet: bool,
}

/// What draws.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The graphics processor if there is one, else the processor
    Auto,
    /// Threads, on any machine
    Cpu,
    /// A graphics adapter, be it a software one
    Gpu,
    /// Paths of light on threads, for stills: seconds to minutes a picture
    Traced,
}

/// What is asked for; what only a renderer of stills knows is refused with others.
fn renderer(args: &RenderArgs) -> Result<Box<dyn Renderer>, Failure> {
    if args.renderer == Choice::Traced {
        return Ok(Box::new(TraceRenderer { angular: args.angular, lens: args.lens.unwrap_or(0.0) }));
    }
    if args.angular || args.lens.is_some() {
        let flag = if args.angular { "--angular" } else { "--lens" };
        return Err(Failure::Usage(format!("{flag} belongs to stills that are traced: add --renderer traced")));
    }
    drawn(args.renderer)
}

#[cfg(not(feature = "gpu"))]
fn drawn(choice: Choice) -> Result<Box<dyn Renderer>, Failure> {
    match choice {
        Choice::Auto | Choice::Cpu | Choice::Traced => Ok(Box::new(CpuRenderer::default())),
        Choice::Gpu => Err(Failure::Failed(
            "this build of barchan draws with the processor alone, as it was made without the feature `gpu`; draw with --renderer cpu"
                .into(),
        )),
    }
}

#[cfg(feature = "gpu")]
fn drawn(choice: Choice) -> Result<Box<dyn Renderer>, Failure> {
    use barchan::draw::GpuRenderer;
    match (choice, GpuRenderer::new) {
        (Choice::Cpu | Choice::Traced, _) => Ok(Box::new(CpuRenderer::default())),
        (Choice::Gpu, open) => Ok(Box::new(open().map_err(|e| Failure::Failed(e.to_string()))?)),
        // A software adapter computes on the same processor: the detour buys nothing.
        (Choice::Auto, open) => Ok(match GpuRenderer::may_be_there().then(open) {
            Some(Ok(gpu)) if !gpu.is_software() => Box::new(gpu),
            _ => Box::new(CpuRenderer::default()),
        }),
    }
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |t: &str| t.trim().parse().ok().filter(|n| (16..=8192).contains(n));
    let sides = text.split_once(['x', 'X', '×']).and_then(|(w, h)| Some([side(w)?, side(h)?]));
    sides.ok_or_else(|| "give pixels in a row and rows from 16 to 8192, such as 1920x1080".into())
}

fn map(text: &str) -> Result<Map, String> {
    let found = Map::NAMES.iter().find(|(name, _)| *name == text).map(|n| n.1);
    let names: Vec<&str> = Map::NAMES.iter().map(|n| n.0).collect();
    found.ok_or_else(|| format!("there is no such colour map; there are: {}", names.join(", ")))
}

fn show(text: &str) -> Result<Show, String> {
    let found = Show::NAMES.iter().find(|(name, _)| *name == text).map(|n| n.1);
    let names: Vec<&str> = Show::NAMES.iter().map(|n| n.0).collect();
    found.ok_or_else(|| format!("it cannot be shown so; there are: {}", names.join(", ")))
}

fn cut(text: &str) -> Result<Cut, String> {
    use glam::DVec3;
    let help = "write which side is left out, such as \"y<0\" or \"x>0.1\", or six numbers: a point of the plane and the way to that side";
    let found = match text.find(['<', '>']) {
        Some(at) => {
            let axis = ["x", "y", "z"].iter().position(|a| *a == text[..at].trim()).map(|k| DVec3::AXES[k]);
            let sign = if text[at..].starts_with('<') { -1.0 } else { 1.0 };
            let place = text[at + 1..].trim().parse::<f64>().ok();
            axis.zip(place).map(|(axis, place)| Cut { point: axis * place, normal: axis * sign })
        }
        None => {
            let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
            numbers
                .filter(|n| n.len() == 6)
                .map(|n| Cut { point: DVec3::from_slice(&n), normal: DVec3::from_slice(&n[3..]) })
        }
    };
    let good = |c: &Cut| c.point.is_finite() && c.normal.is_finite() && c.normal != DVec3::ZERO;
    found.filter(good).ok_or_else(|| help.into())
}

fn range(text: &str) -> Result<[f32; 2], String> {
    let ends = text.split_once(',').and_then(|(a, b)| Some([a.trim().parse().ok()?, b.trim().parse().ok()?]));
    let good = ends.filter(|[a, b]: &[f32; 2]| a < b && a.is_finite() && b.is_finite());
    good.ok_or_else(|| "give the lower and the upper end in SI units, such as 0,1.5".into())
}

fn speed(text: &str) -> Result<f64, String> {
    let help = "give a number above 0, such as 0.25 for slow motion";
    super::positive(text.trim().parse().map_err(|_| help)?, help)
}

fn lens(text: &str) -> Result<f32, String> {
    let help = "give the diameter of the lens: metres, such as 0.002, or with a unit, such as \"2 mm\"";
    let bare = text.trim().parse::<f64>().ok();
    let value = bare.map_or_else(|| barchan::scene::units::Quantity::LENGTH.parse(text), Ok);
    super::positive(value.map_err(|e| format!("{e}; {help}"))?, help).map(|x| x as f32)
}

fn samples(text: &str) -> Result<u32, String> {
    let n = text.trim().parse().ok().filter(|n| [1, 4, 9, 16].contains(n));
    n.ok_or_else(|| "give 1, 4, 9 or 16".into())
}

/// What is made.
enum Product {
    Still(PathBuf),
    Film(PathBuf),
    Sequence(PathBuf),
}

impl RenderArgs {
    /// What `barchan render FOLDER` does.
    fn of(folder: &Path) -> RenderArgs {
        RenderArgs {
            folders: vec![folder.into()],
            beside: false,
            camera: None,
            size: None,
            colour: None,
            map: None,
            range: None,
            frame: None,
            every: None,
            speed: None,
            renderer: Choice::Auto,
            angular: false,
            lens: None,
            samples: Quality::default().samples,
            show: Show::Auto,
            skin: false,
            fog: None,
            drape: None,
            cut: None,
            hide: Vec::new(),
            wireframe: false,
            pairs: false,
            grids: false,
            plain: false,
            output: None,
            threads: Threads { threads: None },
            quiet: false,
        }
    }

    fn product(&self) -> Result<Product, Failure> {
        let usage = |text: String| Err(Failure::Usage(text));
        if self.folders.len() > 1 && !self.beside {
            return usage("several runs are drawn one at a time, or side by side with --beside".into());
        }
        let Some(path) = &self.output else {
            let folder = &self.folders[0];
            if self.folders.len() > 1 {
                return usage("say where the picture of several runs goes: -o both.mp4".into());
            }
            let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            let name = whole.file_name().map_or_else(|| "run".into(), |n| n.to_string_lossy().into_owned());
            return Ok(match self.frame {
                Some(_) => Product::Still(folder.join(format!("{name}.png"))),
                None => Product::Film(folder.join(format!("{name}.mp4"))),
            });
        };
        let shown = path.display();
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("png") if !path.is_dir() => Ok(Product::Still(path.clone())),
            Some("mp4") if self.frame.is_some() => usage(format!(
                "--frame draws one picture: name it with .png instead of {shown}, or leave out --frame for a film"
            )),
            Some("mp4") => Ok(Product::Film(path.clone())),
            None | Some("") if self.frame.is_some() => {
                usage(format!("--frame draws one picture: name it with .png, such as {shown}.png"))
            }
            None | Some("") => Ok(Product::Sequence(path.clone())),
            Some(_) if path.is_dir() => Ok(Product::Sequence(path.clone())),
            Some(other) => usage(format!(
                "{shown}: barchan writes films as .mp4, stills as .png and sequences into a folder, not .{other}; with ffmpeg at \
                 hand, convert an .mp4"
            )),
        }
    }
}

fn file(e: atomic::FileError) -> Failure {
    Failure::Failed(e.to_string())
}

fn film(e: FilmError) -> Failure {
    match e {
        FilmError::Unfit(_) => Failure::Usage(e.to_string()),
        e => Failure::Failed(e.to_string()),
    }
}

pub fn render(args: RenderArgs) -> Result<(), Failure> {
    args.threads.set()?;
    draw(&args, None)
}

/// What a finished run leaves: a film under the folder's name, and its last picture.
pub fn film_of(folder: &Path, quiet: bool) -> Result<(), Failure> {
    // At half the scene's size a film takes a fraction of the run's own time; `barchan render` draws it in full.
    let scene = setting::scene(folder)?;
    let size = Setting::new(&RenderArgs::of(folder), scene.clone())?.size().map(|n| (n / 4 * 2).max(16));
    let args = RenderArgs { quiet, size: Some(size), ..RenderArgs::of(folder) };
    draw(&args, Some(scene.clone()))?;
    let last = Some(folder.join("last.png"));
    draw(&RenderArgs { frame: Some(reel::Which::Last), output: last, quiet: true, size: None, ..args }, Some(scene))
}

/// A film of several runs side by side.
pub fn beside(folders: &[PathBuf], film: &Path, quiet: bool) -> Result<(), Failure> {
    let args = RenderArgs {
        folders: folders.to_vec(),
        beside: true,
        output: Some(film.into()),
        quiet,
        ..RenderArgs::of(&folders[0])
    };
    draw(&args, None)
}

/// Files that lie in a folder where [`film_of`] would write.
pub fn films_in(folder: &Path) -> Vec<PathBuf> {
    let film = match RenderArgs::of(folder).product() {
        Ok(Product::Film(path)) => Some(path),
        _ => None,
    };
    film.into_iter().chain([folder.join("last.png")]).filter(|path| path.exists()).collect()
}

/// One picture of a run as it stands, for the gallery.
pub fn portrait(folder: &Path, path: &Path, size: [u32; 2]) -> Result<(), Failure> {
    let args = RenderArgs {
        frame: Some(reel::Which::Last),
        output: Some(path.into()),
        size: Some(size),
        samples: 16,
        plain: true,
        ..RenderArgs::of(folder)
    };
    draw(&args, None)
}

/// The runs that are drawn, one or several side by side.
#[derive(Default)]
struct Panels {
    reels: Vec<Reel>,
    settings: Vec<Setting>,
}

impl Panels {
    /// Those that are asked for, each with its share of the picture's width.
    fn open(args: &RenderArgs, scene: Option<Parsed>) -> Result<Panels, Failure> {
        let (mut scene, mut panels) = (scene, Panels::default());
        for folder in &args.folders {
            let reel = Reel::open(folder)?;
            if !args.quiet {
                reel.warnings().for_each(|w| say::aside(format_args!("warning: {w}")));
            }
            let scene = scene.take().map_or_else(|| setting::scene(folder), Ok)?;
            let setting = Setting::new(args, scene)?.narrowed(args.folders.len() as u32);
            panels.reels.push(reel);
            panels.settings.push(setting);
        }
        Ok(panels)
    }

    fn iter(&self) -> impl Iterator<Item = (&Reel, &Setting)> {
        self.reels.iter().zip(&self.settings)
    }

    /// Pixels in a row and rows of all panels together.
    fn size(&self) -> [u32; 2] {
        let sizes = self.settings.iter().map(|s| s.size());
        sizes.fold([0, u32::MAX], |[w, h], [a, b]| [w + a, h.min(b)])
    }

    /// Lets every setting look at the same frames, so that all are drawn in one frame and with one scale of colours.
    fn survey(&mut self, sampled: &dyn Fn(&Reel) -> Vec<Sampled>) -> Result<(), Failure> {
        let shapes: Vec<_> = self.settings.iter().map(|s| s.shapes()).collect();
        for setting in &mut self.settings {
            let frames = self.reels.iter().zip(&shapes).flat_map(|(reel, shapes)| {
                let read = move |s: Sampled| match s {
                    Sampled::Which(which) => reel.still(which, shapes),
                    Sampled::Index(index) => reel.read_near(index, shapes),
                };
                sampled(reel).into_iter().map(read)
            });
            setting.survey(frames)?;
        }
        Ok(())
    }
}

/// A frame that is looked at before any is drawn.
#[derive(Clone, Copy)]
enum Sampled {
    Which(reel::Which),
    Index(usize),
}

/// Pictures of equal height, side by side.
fn joined(images: Vec<Image>) -> Image {
    let height = images.iter().map(|i| i.height).min().unwrap_or(0);
    let width = images.iter().map(|i| i.width).sum();
    let row = |i: &Image, y: u32| {
        let from = (4 * y * i.width) as usize;
        i.rgba[from..from + 4 * i.width as usize].to_vec()
    };
    let rgba = (0..height).flat_map(|y| images.iter().flat_map(move |i| row(i, y))).collect();
    Image { width, height, rgba }
}

/// Draws what is asked for. A scene that is at hand is not read again: lining its solids with spheres takes seconds.
fn draw(args: &RenderArgs, scene: Option<Parsed>) -> Result<(), Failure> {
    let product = args.product()?;
    let mut panels = Panels::open(args, scene)?;
    let mut renderer = renderer(args)?;
    let quality = Quality { samples: args.samples, ..Quality::default() };
    match product {
        Product::Still(path) => {
            let which = args.frame.unwrap_or(reel::Which::Last);
            panels.survey(&|_| vec![Sampled::Which(which)])?;
            let (mut images, mut time) = (Vec::new(), 0.0);
            for (reel, setting) in panels.iter() {
                let frame = reel.still(which, &setting.shapes())?;
                images.push(setting.draw(renderer.as_mut(), &quality, &frame, None)?);
                time = frame.time;
            }
            let image = joined(images);
            png::write(&path, image.width, image.height, &image.rgba).map_err(file)?;
            if !args.quiet {
                say!("{}: t = {}, {}×{}", path.display(), seconds(time), image.width, image.height);
            }
            Ok(())
        }
        Product::Film(path) => {
            let timing = Timing::new(args, &panels)?;
            let [width, height] = panels.size();
            let mut film = Film::create(&path, width, height, timing.rate).map_err(film)?;
            shoot(args, &mut panels, renderer.as_mut(), &quality, &timing, &mut |_, image| {
                film.push(&image.rgba).map_err(self::film)
            })?;
            film.finish().map_err(self::film)?;
            timing.report(args, &path, "film");
            Ok(())
        }
        Product::Sequence(path) => {
            let timing = Timing::new(args, &panels)?;
            atomic::create_folder(&path).map_err(file)?;
            shoot(args, &mut panels, renderer.as_mut(), &quality, &timing, &mut |n, image| {
                png::write(&path.join(format!("{n:06}.png")), image.width, image.height, &image.rgba).map_err(file)
            })?;
            timing.report(args, &path, "sequence");
            Ok(())
        }
    }
}

/// When the pictures of a film are taken, and how it plays.
struct Timing {
    times: Vec<f64>,
    /// Pictures a second [1/s].
    rate: f64,
    /// Simulated time over the film's.
    speed: f64,
}

impl Timing {
    /// Of the runs that are drawn: until the last of them ends, at the rate of the first.
    fn new(args: &RenderArgs, panels: &Panels) -> Result<Timing, Failure> {
        let (reel, setting) = (&panels.reels[0], &panels.settings[0]);
        let spans = panels.reels.iter().map(|r| r.span());
        let [first, last] = spans.fold(reel.span(), |[a, b], [c, d]| [a.min(c), b.max(d)]);
        let rate = setting.rate();
        let (every, speed, rate) = match (args.every, args.speed.or(setting.speed())) {
            (Some(every), _) if args.speed.is_none() => (every, every * rate, rate),
            (Some(every), Some(speed)) => (every, speed, speed / every),
            (None, Some(speed)) => (speed / rate, speed, rate),
            (_, None) => (reel.spacing(), reel.spacing() * rate, rate),
        };
        if !RATES.contains(&rate) {
            return Err(Failure::Usage(format!(
                "a picture every {} at {speed} × real time makes {rate:.2} pictures a second; {} to {} can be shown: change \
                 --every or --speed",
                seconds(every),
                RATES.start(),
                RATES.end()
            )));
        }
        // Frames are written at whole steps, a little before or after their time: a fiftieth of a picture is no reason to lose
        // the last one.
        let count = if last > first { ((last - first) / every + 0.02).floor() as u64 + 1 } else { 1 };
        if count > 1_000_000 {
            let text = format!("that makes {count} pictures; choose a longer --every or a higher --speed");
            return Err(Failure::Usage(text));
        }
        if !args.quiet && every < 0.75 * reel.spacing() {
            say::aside(format_args!(
                "note: frames are {} apart, so each is shown {:.1} times; for smoother slow motion run the scene with a shorter \
                 `output.every`",
                seconds(reel.spacing()),
                reel.spacing() / every
            ));
        }
        Ok(Timing { times: (0..count).map(|k| first + k as f64 * every).collect(), rate, speed })
    }

    fn report(&self, args: &RenderArgs, path: &Path, what: &str) {
        if !args.quiet {
            say!(
                "{}: {what} of {}, {:.1} s at {:.3} × real time",
                path.display(),
                many(self.times.len() as u64, "picture"),
                self.times.len() as f64 / self.rate,
                self.speed
            );
        }
    }
}

/// Draws a film, picture by picture.
fn shoot(
    args: &RenderArgs,
    panels: &mut Panels,
    renderer: &mut dyn Renderer,
    quality: &Quality,
    timing: &Timing,
    take: &mut dyn FnMut(usize, &Image) -> Result<(), Failure>,
) -> Result<(), Failure> {
    stop::listen("nothing is kept of the film");
    panels.survey(&|reel| reel.sample().into_iter().map(Sampled::Index).collect())?;
    let mut show = Drawing::new(args.quiet, timing.times.len(), &renderer.name());
    let mut last: Option<(Vec<usize>, f64, Image)> = None;
    for (n, time) in timing.times.iter().enumerate() {
        if stop::ASKED.load(Ordering::Relaxed) {
            show.finish();
            return Err(Failure::Stopped);
        }
        let indices: Vec<usize> = panels.reels.iter().map(|r| r.nearest(*time)).collect();
        // A camera at rest sees the same frame as before.
        let still = |t: f64| panels.settings.iter().all(|s| s.is_still(t, *time));
        let again = last.as_ref().filter(|(i, t, _)| *i == indices && still(*t));
        if again.is_none() {
            let mut images = Vec::new();
            for ((reel, setting), &index) in panels.iter().zip(&indices) {
                let frame = reel.read_near(index, &setting.shapes())?;
                images.push(setting.draw_at(renderer, quality, &frame, *time, Some(timing.speed))?);
            }
            last = Some((indices, *time, joined(images)));
        }
        if let Some((_, _, image)) = &last {
            take(n, image)?;
        }
        show.progress(n + 1, *time);
    }
    show.finish();
    Ok(())
}

/// Progress on a terminal as a bar, elsewhere as a line now and then.
struct Drawing {
    bar: Option<ProgressBar>,
    plain: bool,
    begun: Instant,
    last: Instant,
    count: usize,
    renderer: String,
}

impl Drawing {
    fn new(quiet: bool, count: usize, renderer: &str) -> Drawing {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr_with_hz(5));
            // A template that is a constant of ours; indicatif's own look stands in for it.
            let style = ProgressStyle::with_template("{bar:24.cyan/blue} {percent:>3}% {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
            bar
        });
        let now = Instant::now();
        Drawing { bar, plain: !quiet && !terminal, begun: now, last: now, count, renderer: renderer.into() }
    }

    fn progress(&mut self, done: usize, time: f64) {
        let each = self.begun.elapsed().as_secs_f64() / done as f64;
        let text = || {
            let left = say::span(each * (self.count - done) as f64);
            format!(
                "picture {done} of {} · t {} · {each:.2} s a picture · {left} left · {}",
                self.count,
                seconds(time),
                self.renderer
            )
        };
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
            bar.set_message(text());
        } else if self.plain && self.last.elapsed() >= PLAIN_EVERY {
            say::aside(format_args!("{:3.0}% {}", 100.0 * done as f64 / self.count as f64, text()));
            self.last = Instant::now();
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
