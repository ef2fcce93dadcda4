//! What keys do; the help sheet says the same in words.

use crate::app::{App, Content};
use crate::touch::Tool;
use barchan_render::ColourBy;
use egui::{Context, Key};

impl App {
    /// The next way of colouring.
    fn next_colour(&mut self) {
        if let Some(stage) = &mut self.stage {
            let mut choice = stage.shown.choice().clone();
            let names = ColourBy::NAMES;
            let at = names.iter().position(|n| *n == choice.by.name()).map_or(0, |i| i + 1);
            choice.by = ColourBy::named(names[at % names.len()]);
            stage.choose(choice);
        }
    }

    /// Does what the keys that went down ask for.
    pub fn keys(&mut self, ctx: &Context) {
        if ctx.input(|i| i.modifiers.command && i.key_pressed(Key::Q)) {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
        if ctx.memory(|m| m.focused().is_some()) {
            return;
        }
        let pressed = |key| ctx.input(|i| i.key_pressed(key) && !i.modifiers.command && !i.modifiers.alt);
        if pressed(Key::H) || pressed(Key::Questionmark) {
            self.help = !self.help;
        }
        if pressed(Key::Escape) {
            self.escape();
        }
        if pressed(Key::G) {
            self.leave();
        }
        if pressed(Key::Space) {
            self.toggle();
        }
        if pressed(Key::S) || pressed(Key::ArrowRight) {
            self.step(1);
        }
        if pressed(Key::ArrowLeft) {
            self.step(-1);
        }
        if pressed(Key::R) {
            self.reset(ctx);
        }
        if pressed(Key::C) {
            self.next_colour();
        }
        if pressed(Key::P) {
            self.record();
        }
        if let (true, Some(stage)) = (pressed(Key::F), &mut self.stage) {
            stage.frame_all();
        }
        let tools = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7];
        for (key, (tool, ..)) in tools.into_iter().zip(Tool::ALL) {
            if pressed(key) && matches!(self.content, Content::Live(_)) {
                self.hand.tool = tool;
            }
        }
        for (key, factor) in [(Key::OpenBracket, 1.0 / 1.25), (Key::CloseBracket, 1.25)] {
            if pressed(key) {
                self.hand.reach = (self.hand.reach * factor).clamp(2.0, 40.0);
            }
        }
    }

    fn escape(&mut self) {
        let follows = self.stage.as_mut().and_then(|s| s.eye.as_mut()).is_some_and(|e| e.follows.take().is_some());
        if self.help {
            self.help = false;
        } else if self.hand.tool != Tool::Look {
            self.hand.tool = Tool::Look;
        } else if self.stage.as_mut().is_some_and(|s| s.picked.take().is_some()) || follows {
        } else {
            self.leave();
        }
    }
}
