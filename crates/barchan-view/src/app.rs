//! The window as a whole: what it shows, and who is asked when something is pressed.

use crate::canvas::{Canvas, Effects};
use crate::dock::{self, Dock};
use crate::gallery::Gallery;
use crate::panel;
use crate::playback::{Playback, is_run};
use crate::plots::Plots;
use crate::record::Recording;
use crate::simulation::{Answer, Command, Published, Simulation, Source, State};
use crate::slice::Slices;
use crate::sliders::Sliders;
use crate::stage::{Stage, Staging};
use crate::theme;
use crate::touch::{Hand, Tool};
use crate::{Start, help};
use barchan_engine::Dropped;
use barchan_render::RenderError;
use egui::{CentralPanel, Context, Frame as Surround, Panel, Ui};
use glam::DVec3;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How long a word stays.
const WORD: Duration = Duration::from_secs(6);

/// Where a film is, or why it is not.
type Filmed = Result<PathBuf, String>;

/// What is being looked at.
pub enum Content {
    /// The gallery.
    Gallery,
    /// A running scene.
    Live(Box<Live>),
    /// A finished run.
    Run(Box<Finished>),
}

/// A running scene.
pub struct Live {
    /// Its thread.
    pub simulation: Simulation,
    /// What the thread has shown last.
    pub published: Published,
    /// What it was started from.
    source: Source,
    path: Option<PathBuf>,
    /// Values that the user is changing.
    pub sliders: Sliders,
    answered: u64,
}

/// A finished run.
pub struct Finished {
    /// What reads its frames.
    pub playback: Playback,
    /// Name of its folder.
    pub name: String,
    suited: bool,
}

/// A word to the user.
pub struct Word {
    /// What is said.
    pub text: String,
    /// Whether it is about something that failed.
    pub bad: bool,
    said: Instant,
}

/// The window.
pub struct App {
    /// What is being looked at.
    pub content: Content,
    /// What is on show.
    pub stage: Option<Stage>,
    /// What draws.
    pub canvas: Canvas,
    /// Where the panels are.
    pub dock: Dock,
    /// What the pointer does.
    pub hand: Hand,
    /// Shadows and gaps.
    pub effects: Effects,
    /// Live plots.
    pub plots: Plots,
    /// The slice of a volume map.
    pub slices: Slices,
    /// A film under way.
    pub recording: Option<Recording>,
    /// The last word.
    pub word: Option<Word>,
    /// Whether the help sheet is open.
    pub help: bool,
    gallery: Gallery,
    epoch: u64,
    title: String,
    told: (Sender<Filmed>, Receiver<Filmed>),
}

impl App {
    pub fn new(context: &eframe::CreationContext<'_>, start: Start) -> Result<App, RenderError> {
        let Some(state) = &context.wgpu_render_state else {
            return Err(RenderError::NoAdapter { reason: "the window has no wgpu device".into() });
        };
        theme::apply(&context.egui_ctx);
        let mut app = App {
            content: Content::Gallery,
            stage: None,
            canvas: Canvas::new(state, &context.egui_ctx)?,
            dock: Dock::default(),
            hand: Hand::default(),
            effects: Effects { shadows: true, occlusion: true },
            plots: Plots::default(),
            slices: Slices::default(),
            recording: None,
            word: None,
            help: false,
            gallery: Gallery::default(),
            epoch: 0,
            title: String::new(),
            told: channel(),
        };
        match start {
            Start::Gallery => {}
            Start::Scene { source, path } => app.open_scene(&context.egui_ctx, source, path),
            Start::Run(folder) => app.open_run(&context.egui_ctx, &folder),
        }
        Ok(app)
    }

    fn open_scene(&mut self, ctx: &Context, source: Source, path: Option<PathBuf>) {
        self.leave();
        let wake = ctx.clone();
        let simulation = Simulation::start(source.clone(), true, move || wake.request_repaint());
        let published = Published::default();
        let live = Live { simulation, published, source, path, sliders: Sliders::default(), answered: 0 };
        self.content = Content::Live(Box::new(live));
    }

    fn open_run(&mut self, ctx: &Context, folder: &Path) {
        self.leave();
        let wake = ctx.clone();
        let playback = Playback::open(folder, move || wake.request_repaint());
        let name = folder.file_name().map_or_else(|| folder.display().to_string(), |n| n.to_string_lossy().into());
        self.content = Content::Run(Box::new(Finished { playback, name, suited: false }));
    }

    /// Opens a scene file or the folder of a run.
    fn open_path(&mut self, ctx: &Context, path: &Path) {
        if is_run(path) {
            return self.open_run(ctx, path);
        }
        match std::fs::read_to_string(path) {
            Ok(text) => {
                let source = Source { name: path.display().to_string(), text };
                self.open_scene(ctx, source, Some(path.into()));
            }
            Err(e) => self.say(format!("{} is neither a scene nor the folder of a run: {e}", path.display()), true),
        }
    }

    /// Leaves what was on show.
    pub fn leave(&mut self) {
        self.stop_recording();
        (self.stage, self.epoch, self.plots) = (None, 0, Plots::default());
        self.hand.tool = Tool::Look;
        self.content = Content::Gallery;
    }

    /// Says something for a while.
    pub fn say(&mut self, text: impl Into<String>, bad: bool) {
        self.word = Some(Word { text: text.into(), bad, said: Instant::now() });
    }

    /// Short name of what is on show.
    pub fn name(&self) -> String {
        match &self.content {
            Content::Gallery => "gallery".into(),
            Content::Live(live) => {
                let stem = Path::new(&live.source.name).file_stem();
                stem.map_or_else(|| live.source.name.clone(), |s| s.to_string_lossy().into())
            }
            Content::Run(run) => run.name.clone(),
        }
    }

    /// How it stands, in a word.
    pub fn state(&self) -> Option<State> {
        match &self.content {
            Content::Gallery => None,
            Content::Live(live) => Some(live.published.state),
            Content::Run(run) if run.playback.failed().is_some() => Some(State::Failed),
            Content::Run(_) if self.stage.is_none() => Some(State::Loading),
            Content::Run(run) if run.playback.playing => Some(State::Playing),
            Content::Run(_) => Some(State::Paused),
        }
    }

    /// Looks at what other threads have done.
    fn look(&mut self, ctx: &Context) {
        let mut words = Vec::new();
        match &mut self.content {
            Content::Gallery => {}
            Content::Live(live) => {
                live.published = live.simulation.published();
                let p = &live.published;
                live.sliders.take(&p.values, p.scene.as_deref());
                self.plots.note(&p.stats);
                if let Some((number, answer)) = &p.answer
                    && *number > live.answered
                {
                    live.answered = *number;
                    words.extend(word(answer));
                }
                if let (Some(scene), Some(frame)) = (&p.scene, &p.frame) {
                    match &mut self.stage {
                        Some(stage) if p.epoch == self.epoch => stage.set_frame(frame.clone()),
                        stage => {
                            let mut new = Stage::new(scene.clone(), frame.clone());
                            if let Some(old) = stage {
                                // A reset keeps the looks, and the eye where the scene is as large as before.
                                new.choose(old.shown.choice().clone());
                                new.eye = old.eye.map(|e| crate::eye::Eye::at(e.stand));
                            }
                            (*stage, self.epoch) = (Some(new), p.epoch);
                        }
                    }
                }
            }
            Content::Run(run) => {
                run.playback.advance(f64::from(ctx.input(|i| i.stable_dt)).min(0.1));
                if run.playback.playing {
                    ctx.request_repaint();
                }
                if !run.suited && run.playback.span().is_some() {
                    run.playback.suit_speed();
                    run.suited = true;
                }
                if let (Some(scene), Some(frame)) = (run.playback.scene(), run.playback.frame()) {
                    match &mut self.stage {
                        Some(stage) => stage.set_frame(frame),
                        stage => *stage = Some(Stage::new(scene, frame)),
                    }
                }
            }
        }
        while let Ok(done) = self.told.1.try_recv() {
            words.push(match done {
                Ok(path) => (format!("The film is in {}", path.display()), false),
                Err(e) => (format!("The film failed: {e}"), true),
            });
        }
        for (text, bad) in words {
            self.say(text, bad);
        }
        if self.recording.as_ref().is_some_and(Recording::has_ended) {
            self.stop_recording();
        }
        if let (Some(recording), Some(stage)) = (&mut self.recording, &self.stage) {
            if recording.is_due()
                && let Some(shot) = stage.shot()
            {
                recording.add(shot);
            }
            ctx.request_repaint_after(Duration::from_millis(30));
        }
        if self.word.as_ref().is_some_and(|w| w.said.elapsed() > WORD) {
            self.word = None;
        }
        let title = match self.state() {
            None => "barchan".to_string(),
            Some(state) => format!("{} · {} · barchan", self.name(), state.name()),
        };
        if title != self.title {
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    /// Sends a command to the simulation, if one runs.
    pub fn send(&self, command: Command) {
        if let Content::Live(live) = &self.content {
            live.simulation.send(command);
        }
    }

    /// Goes on, or stands still.
    pub fn toggle(&mut self) {
        match &mut self.content {
            Content::Gallery => {}
            Content::Live(live) => {
                let playing = live.published.state == State::Playing;
                live.simulation.send(if playing { Command::Pause } else { Command::Play });
            }
            Content::Run(run) => {
                let at_end = run.playback.span().is_some_and(|s| run.playback.time() >= s[1]);
                if let (true, false, Some([from, _])) = (at_end, run.playback.playing, run.playback.span()) {
                    run.playback.seek(from);
                }
                run.playback.playing = !run.playback.playing;
            }
        }
    }

    /// One step, or one frame.
    pub fn step(&mut self, by: isize) {
        match &mut self.content {
            Content::Run(run) => run.playback.step(by),
            _ if by > 0 => self.send(Command::Step),
            _ => {}
        }
    }

    /// Back to the beginning; a file is read anew if it has changed.
    pub fn reset(&mut self, ctx: &Context) {
        match &mut self.content {
            Content::Gallery => {}
            Content::Run(run) => {
                run.playback.playing = false;
                run.playback.seek(f64::NEG_INFINITY);
            }
            Content::Live(live) => {
                let fresh = live.path.as_ref().and_then(|p| std::fs::read_to_string(p).ok());
                match fresh.filter(|text| *text != live.source.text) {
                    Some(text) => {
                        let source = Source { text, ..live.source.clone() };
                        let path = live.path.clone();
                        self.open_scene(ctx, source, path);
                    }
                    None => {
                        let play = live.published.state == State::Playing;
                        live.simulation.send(Command::Reset { play, fresh: live.sliders.fresh });
                    }
                }
            }
        }
    }

    /// Keeps the world as it stands in a folder of its own.
    pub fn save(&mut self) {
        let folder = free(&format!("{}-kept", self.name()), "");
        self.send(Command::Save(folder));
    }

    /// Begins a film, or ends it.
    pub fn record(&mut self) {
        if self.recording.is_some() {
            return self.stop_recording();
        }
        let Some(stage) = &self.stage else { return };
        match Recording::begin(&free(&format!("{}-seen", self.name()), ".mp4"), stage.size()) {
            Ok(recording) => self.recording = Some(recording),
            Err(e) => self.say(format!("A film cannot be recorded: {e}"), true),
        }
    }

    fn stop_recording(&mut self) {
        if let Some(recording) = self.recording.take() {
            let tell = self.told.0.clone();
            recording.finish(move |done| {
                let _ = tell.send(done);
            });
        }
    }

    fn central(&mut self, ui: &mut Ui) {
        let failed = match &self.content {
            Content::Gallery => {
                if let Some(source) = self.gallery.show(ui) {
                    let ctx = ui.ctx().clone();
                    self.open_scene(&ctx, source, None);
                }
                return;
            }
            Content::Live(live) => live.published.message.clone(),
            Content::Run(run) => run.playback.failed(),
        };
        let grain = match &self.content {
            Content::Live(live) if failed.is_none() => {
                let values = &live.published.values;
                values.grain.map(|r| (r, -values.gravity.normalize_or(DVec3::NEG_Z)))
            }
            _ => None,
        };
        let mut rest = ui.available_rect_before_wrap();
        if let Some(message) = &failed {
            rest = panel::failure(ui, message, self.stage.is_some());
        }
        match &mut self.stage {
            Some(stage) => {
                let staging = Staging { canvas: &mut self.canvas, hand: &mut self.hand, effects: self.effects, grain };
                let mut place = ui.new_child(egui::UiBuilder::new().max_rect(rest));
                let (commands, wrong) = stage.show(&mut place, staging);
                commands.into_iter().for_each(|c| self.send(c));
                if let Some(wrong) = wrong {
                    self.say(wrong, true);
                }
            }
            None if failed.is_none() => panel::waiting(ui),
            None => {}
        }
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        self.look(&ctx);
        self.keys(&ctx);
        let dropped = ctx.input(|i| i.raw.dropped_files.first().map(|f| f.path().to_owned()));
        if let Some(path) = dropped {
            self.open_path(&ctx, &path);
        }
        let surround = |x: i8, y: i8| Surround::new().fill(theme::PANEL).inner_margin(egui::Margin::symmetric(x, y));
        Panel::top("bar").frame(surround(12, 8)).show(ui, |ui| panel::bar(ui, self));
        if !matches!(self.content, Content::Gallery) {
            Panel::bottom("status").frame(surround(12, 6)).show(ui, |ui| panel::status(ui, self));
            dock::show(ui, self);
        }
        CentralPanel::default().frame(Surround::new().fill(theme::BACK)).show(ui, |ui| self.central(ui));
        help::show(&ctx, &mut self.help);
    }

    fn on_exit(&mut self) {
        self.stop_recording();
    }
}

/// What is said about an answer.
fn word(answer: &Answer) -> Option<(String, bool)> {
    Some(match answer {
        Answer::Pushed(_) | Answer::Poured(1..) | Answer::Dug(_) | Answer::Broken(1..) => return None,
        Answer::Dropped(Dropped::Grain) => ("Dropped a ball: one large grain".into(), false),
        Answer::Dropped(Dropped::Matter { pieces }) => {
            (format!("Dropped a ball of the continuum: {pieces} particles"), false)
        }
        Answer::Broken(0) => ("There is no bond here to cut".into(), false),
        Answer::Poured(0) => ("There is no room to pour here".into(), false),
        Answer::Dropped(Dropped::NoRoom) => ("There is no room for a ball here".into(), false),
        Answer::Saved(folder) => {
            let folder = folder.display();
            (format!("Kept in {folder}; go on with: barchan run --resume {folder}"), false)
        }
        Answer::Refused(why) => (why.clone(), true),
    })
}

/// A name in `out/` that nothing has yet.
fn free(stem: &str, ending: &str) -> PathBuf {
    let path = |n: u32| Path::new("out").join(format!("{stem}-{n}{ending}"));
    (1..).map(path).find(|p| !p.exists()).unwrap_or_else(|| path(0))
}
