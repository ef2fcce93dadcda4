//! Colours, type and spacing of the window: dark and neutral, so that the grains are what is seen.

use egui::{Color32, CornerRadius, FontFamily, FontId, Stroke, TextStyle, vec2};

/// The colour of what is active: pale sand.
pub const ACCENT: Color32 = Color32::from_rgb(226, 182, 104);
/// Text that explains.
pub const WEAK: Color32 = Color32::from_rgb(140, 142, 148);
/// Something is wrong.
pub const ALARM: Color32 = Color32::from_rgb(232, 112, 92);
/// It goes on.
pub const GOOD: Color32 = Color32::from_rgb(126, 192, 128);
/// Behind panels.
pub const PANEL: Color32 = Color32::from_rgb(27, 28, 31);
/// Behind cards and plots.
pub const CARD: Color32 = Color32::from_rgb(37, 38, 42);
/// Behind everything.
pub const BACK: Color32 = Color32::from_rgb(18, 19, 21);

/// Puts the theme in force.
pub fn apply(ctx: &egui::Context) {
    ctx.set_theme(egui::Theme::Dark);
    ctx.all_styles_mut(|style| {
        let visuals = &mut style.visuals;
        *visuals = egui::Visuals::dark();
        visuals.panel_fill = PANEL;
        visuals.window_fill = Color32::from_rgb(32, 33, 37);
        visuals.extreme_bg_color = BACK;
        visuals.selection.bg_fill = Color32::from_rgb(98, 78, 44);
        visuals.selection.stroke = Stroke::new(1.0, ACCENT);
        visuals.hyperlink_color = ACCENT;
        visuals.slider_trailing_fill = true;
        visuals.widgets.noninteractive.fg_stroke.color = Color32::from_rgb(206, 207, 210);
        visuals.widgets.noninteractive.bg_stroke.color = Color32::from_rgb(50, 51, 56);
        visuals.widgets.inactive.weak_bg_fill = Color32::from_rgb(48, 49, 54);
        visuals.widgets.inactive.bg_fill = Color32::from_rgb(58, 59, 65);
        visuals.widgets.hovered.weak_bg_fill = Color32::from_rgb(62, 63, 69);
        for widget in [
            &mut visuals.widgets.noninteractive,
            &mut visuals.widgets.inactive,
            &mut visuals.widgets.hovered,
            &mut visuals.widgets.active,
            &mut visuals.widgets.open,
        ] {
            widget.corner_radius = CornerRadius::same(5);
            widget.expansion = 0.0;
        }
        style.spacing.item_spacing = vec2(8.0, 7.0);
        style.spacing.button_padding = vec2(9.0, 5.0);
        style.spacing.slider_width = 130.0;
        style.spacing.interact_size.y = 24.0;
        let sizes = [
            (TextStyle::Heading, 19.0, FontFamily::Proportional),
            (TextStyle::Body, 14.0, FontFamily::Proportional),
            (TextStyle::Button, 14.0, FontFamily::Proportional),
            (TextStyle::Small, 12.0, FontFamily::Proportional),
            (TextStyle::Monospace, 13.0, FontFamily::Monospace),
        ];
        style.text_styles = sizes.into_iter().map(|(name, size, family)| (name, FontId::new(size, family))).collect();
    });
}

/// The head of a section.
pub fn head(ui: &mut egui::Ui, text: &str) {
    ui.add_space(6.0);
    ui.label(egui::RichText::new(text.to_uppercase()).size(11.5).color(WEAK).strong());
}

/// A number with at most four digits and a prefix of its unit, as a person would write it.
pub fn number(value: f64, unit: &str) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value} {unit}").trim_end().into();
    }
    let power = (value.abs().log10() / 3.0 + 1e-9).floor().clamp(-4.0, 3.0);
    let prefix = ["p", "n", "µ", "m", "", "k", "M", "G"][(power + 4.0) as usize];
    let scaled = value / 1000f64.powf(power);
    let digits = if scaled.abs() >= 100.0 {
        0
    } else if scaled.abs() >= 10.0 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {prefix}{unit}").trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short_and_keep_their_size() {
        let cases = [(0.0123, "12.3 mJ"), (4500.0, "4.50 kJ"), (-3.0e-7, "-300 nJ"), (0.0, "0 J"), (1.0, "1.00 J")];
        cases.iter().for_each(|(value, text)| assert_eq!(number(*value, "J"), *text));
        assert_eq!(number(2.0e-14, ""), "0.02 p");
    }
}
