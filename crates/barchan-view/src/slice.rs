//! A slice through the volume map of a wall or a body, as particles of a continuum see it.

use crate::theme;
use barchan_engine::{ShownOfMap, WallMap};
use egui::{ColorImage, ComboBox, Image, Slider, TextureHandle, TextureOptions, Ui};
use glam::DVec3;

/// Pixels along the longer side of a picture.
const PIXELS: usize = 384;
/// What can be shown, by name.
const SHOWN: [(ShownOfMap, &str); 3] =
    [(ShownOfMap::Volume, "volume V_B"), (ShownOfMap::Distance, "distance Φ"), (ShownOfMap::Normal, "normal n")];

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Choice {
    /// Which start of the scene the maps are of.
    epoch: u64,
    wall: usize,
    axis: usize,
    /// Where the plane is, from one side of the map (0) to the other (1).
    share: f64,
    shown: ShownOfMap,
}

/// The slice that is shown.
pub struct Slices {
    choice: Choice,
    drawn: Option<(Choice, TextureHandle)>,
}

impl Default for Slices {
    fn default() -> Slices {
        // Across y: as one looks at the scene from the front.
        let choice = Choice { epoch: 0, wall: 0, axis: 1, share: 0.5, shown: ShownOfMap::Volume };
        Slices { choice, drawn: None }
    }
}

/// The picture of a choice: its width, and its bytes; none without a map.
fn picture(maps: &[WallMap], choice: &Choice) -> Option<ColorImage> {
    let map = maps.get(choice.wall)?.map()?;
    let (low, high) = map.bounds();
    let through: DVec3 = low + choice.share * (high - low);
    let [picture] = map.pictures(choice.axis, through, PIXELS, [choice.shown]);
    Some(ColorImage::from_rgba_unmultiplied(picture.size, &picture.rgba))
}

impl Slices {
    /// Choices and the picture; nothing where no wall has a map.
    pub fn show(&mut self, ui: &mut Ui, epoch: u64, maps: &[WallMap]) {
        if maps.is_empty() {
            return;
        }
        theme::head(ui, "Volume map");
        let choice = &mut self.choice;
        (choice.epoch, choice.wall) = (epoch, choice.wall.min(maps.len() - 1));
        ComboBox::from_id_salt("map of").selected_text(&maps[choice.wall].name).show_ui(ui, |ui| {
            for (k, map) in maps.iter().enumerate() {
                ui.selectable_value(&mut choice.wall, k, &map.name);
            }
        });
        ui.horizontal(|ui| {
            let name = SHOWN.iter().find(|s| s.0 == choice.shown).map_or("", |s| s.1);
            ComboBox::from_id_salt("map shows").selected_text(name).width(110.0).show_ui(ui, |ui| {
                SHOWN.iter().for_each(|(shown, name)| {
                    ui.selectable_value(&mut choice.shown, *shown, *name);
                });
            });
            for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
                ui.selectable_value(&mut choice.axis, axis, name).on_hover_text("the axis that the plane is across");
            }
        });
        ui.add(Slider::new(&mut choice.share, 0.0..=1.0).show_value(false).text("plane"))
            .on_hover_text("where the plane is, in the frame of the mesh");
        if self.drawn.as_ref().is_none_or(|d| d.0 != *choice) {
            let image = picture(maps, choice);
            self.drawn =
                image.map(|image| (*choice, ui.ctx().load_texture("volume map", image, TextureOptions::LINEAR)));
        }
        if let Some((_, texture)) = &self.drawn {
            ui.add(Image::new(texture).max_width(ui.available_width()).max_height(ui.available_width()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const SCENE: &str = r#"
duration = 0.1
[domain]
min = [-0.2, -0.2, -0.1]
max = [0.2, 0.2, 0.5]
[materials.wood]
density = 600
young = "5 MPa"
restitution = 0.5
friction = 0.4
[[walls]]
name = "ring"
material = "wood"
mesh = { file = "torus", scale = 0.1, at = [0, 0, 0.1] }
[[continuum]]
name = "sand"
spacing = "1 cm"
density = 2650
friction_angle = "33 deg"
fill = { box = { min = [-0.1, -0.1, 0.15], max = [0.1, 0.1, 0.22] } }
"#;

    #[test]
    fn a_slice_shows_the_tube_of_a_ring_on_both_sides() {
        let parsed = barchan_engine::load(SCENE, "ring", Path::new("")).unwrap_or_else(|e| panic!("{}", e.listing()));
        let world = barchan_engine::assemble(&parsed).unwrap_or_else(|e| panic!("{}", e.listing()));
        let maps = world.volume_maps();
        assert_eq!(maps.iter().map(|m| &m.name[..]).collect::<Vec<_>>(), ["ring"]);
        let choice = Slices::default().choice;
        let image = picture(&maps, &choice).unwrap();
        let [w, h] = image.size;
        assert!(w == PIXELS && h < w, "a ring lies: {w} by {h}");
        let (low, high) = maps[0].map().unwrap().bounds();
        // Pixels of points of the plane y = 0: in the tube, in the hole, outside.
        let at = |image: &ColorImage, x: f64, z: f64| {
            let column = (x - low.x) / (high.x - low.x) * w as f64;
            let row = (high.z - z) / (high.z - low.z) * h as f64;
            image.pixels[(row as usize).min(h - 1) * w + (column as usize).min(w - 1)]
        };
        for side in [-0.1, 0.1] {
            assert!(at(&image, side, 0.1).r() < 80, "in the tube all is wall");
        }
        assert!(at(&image, 0.0, 0.1).r() > 200, "in the hole there is none");
        let distance = picture(&maps, &Choice { shown: ShownOfMap::Distance, ..choice }).unwrap();
        let inside = at(&distance, 0.1, 0.1);
        assert!(inside.r() > inside.b(), "inside is orange: {inside:?}");
        let normal = picture(&maps, &Choice { shown: ShownOfMap::Normal, ..choice }).unwrap();
        let (left, right) = (at(&normal, -0.142, 0.1), at(&normal, 0.142, 0.1));
        assert!(left.r() < 60 && right.r() > 200, "normals point outwards: {left:?} {right:?}");
        assert!(picture(&maps, &Choice { wall: 1, ..choice }).is_none());
    }
}
