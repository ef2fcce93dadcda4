//! The drawing of a plot.

use super::scale::{Scale, superscript};
use super::{Mark, Plot, Series, legend};
use crate::xml::escaped;
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 440.0;
/// Room above, below and right of the frame [px]; on the left it follows from the labels.
const TOP: f64 = 40.0;
const BOTTOM: f64 = 56.0;
const RIGHT: f64 = 22.0;
/// Size of letters [px], and about how wide one is over that.
const LETTER: f64 = 13.0;
const WIDE: f64 = 0.56;
/// A row of the legend, and the room for its sign [px].
const ROW: f64 = 19.0;
const SIGN: f64 = 36.0;
/// Radius of dots and rings [px].
const DOT: f64 = 3.5;
/// Points of a line nearer than this to the last one drawn change nothing that could be seen [px].
const SEEN: f64 = 0.3;

/// Colours that can be told apart with any colour vision [Okabe and Ito 2008].
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];

fn wide(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * WIDE
}

/// A series on the drawing: its unbroken runs of points, and the error bars.
struct Drawn<'a> {
    series: &'a Series,
    colour: &'static str,
    runs: Vec<Vec<[f64; 2]>>,
    bars: Vec<[[f64; 2]; 2]>,
}

impl Drawn<'_> {
    fn is_line(&self) -> bool {
        matches!(self.series.mark, Mark::Line | Mark::Dashes)
    }
}

pub fn draw(plot: &Plot) -> String {
    let all = || plot.series.iter().flat_map(|s| &s.points);
    // Bars belong to what must be seen.
    let bars = plot.series.iter().flat_map(|s| s.points.iter().zip(&s.errors).flat_map(|(p, e)| [p[1] - e, p[1] + e]));
    let x = Scale::new(&plot.x, all().map(|p| p[0]));
    let y = Scale::new(&plot.y, all().map(|p| p[1]).chain(bars));
    let ((x_ticks, x_power), (y_ticks, y_power)) = (x.ticks(), y.ticks());
    let widest = y_ticks.iter().filter_map(|t| t.label.as_ref()).map(|l| wide(l, LETTER)).fold(0.0, f64::max);
    let left = (widest + 44.0).max(60.0).round();
    let (x0, x1, y0, y1) = (left, WIDTH - RIGHT, HEIGHT - BOTTOM, TOP);
    let (w, h) = (x1 - x0, y0 - y1);
    let at = |p: &[f64; 2]| [x0 + w * x.place(p[0]), y0 - h * y.place(p[1])];
    let drawn: Vec<Drawn> = plot
        .series
        .iter()
        .enumerate()
        .map(|(k, series)| Drawn {
            series,
            colour: COLOURS[k % COLOURS.len()],
            runs: runs(series.points.iter().map(at)),
            bars: series.points.iter().zip(&series.errors).filter_map(|(p, e)| bar(p, *e, &at, y0)).collect(),
        })
        .collect();
    let keys = Keys::new(&drawn, [x0, y1, x1, y0]);

    let height = HEIGHT + keys.below;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{LETTER}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for (ticks, upright) in [(&x_ticks, true), (&y_ticks, false)] {
        for t in ticks.iter() {
            let shade = if t.label.is_some() { "#ddd" } else { "#f0f0f0" };
            let style = format!("stroke=\"{shade}\"");
            let (px, py) = (x0 + w * t.at, y0 - h * t.at);
            if upright {
                stroke(&mut out, [px, y0], [px, y1], &style);
                stroke(&mut out, [px, y0], [px, y0 + 4.0], "stroke=\"#333\"");
            } else {
                stroke(&mut out, [x0, py], [x1, py], &style);
                stroke(&mut out, [x0 - 4.0, py], [x0, py], "stroke=\"#333\"");
            }
            match &t.label {
                Some(label) if upright => text(&mut out, [px, y0 + 19.0], "middle", "", label),
                Some(label) => text(&mut out, [x0 - 8.0, py + 4.5], "end", "", label),
                None => {}
            }
        }
    }
    let _ = writeln!(
        out,
        "<rect x=\"{x0:.1}\" y=\"{y1:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" fill=\"none\" stroke=\"#333\"/>"
    );
    // Several plots may share a page, and names with it: one that tells the frame is the same clip wherever it stands.
    let clip = format!("frame-{x0:.0}-{w:.0}");
    let _ = writeln!(
        out,
        "<clipPath id=\"{clip}\"><rect x=\"{x0:.1}\" y=\"{y1:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"/></clipPath>\n\
         <g clip-path=\"url(#{clip})\">"
    );
    drawn.iter().for_each(|d| lines(&mut out, d));
    out.push_str("</g>\n");
    // Whole dots or none: one at the edge is not cut in half.
    let inside = |p: &&[f64; 2]| p[0] >= x0 - 0.5 && p[0] <= x1 + 0.5 && p[1] >= y1 - 0.5 && p[1] <= y0 + 0.5;
    for d in drawn.iter().filter(|d| !d.is_line()) {
        d.runs.iter().flatten().filter(inside).for_each(|p| dot(&mut out, *p, d.series.mark, d.colour));
    }
    keys.draw(&mut out, &drawn);

    let size = (WIDTH - 40.0) / wide(&plot.title, 1.0).max(1.0);
    let style = format!(" font-size=\"{:.1}\" font-weight=\"bold\"", size.min(15.0));
    text(&mut out, [0.5 * WIDTH, 20.0], "middle", &style, &plot.title);
    text(&mut out, [0.5 * (x0 + x1), HEIGHT - 16.0], "middle", "", &plot.x.label);
    let turned = format!(" transform=\"translate(18 {:.1}) rotate(-90)\"", 0.5 * (y0 + y1));
    text(&mut out, [0.0, 0.0], "middle", &turned, &plot.y.label);
    let small = " font-size=\"11\"";
    if let Some(power) = x_power {
        text(&mut out, [x1, y0 + 33.0], "end", small, &format!("×10{}", superscript(power)));
    }
    if let Some(power) = y_power {
        text(&mut out, [x0, y1 - 6.0], "start", small, &format!("×10{}", superscript(power)));
    }
    out.push_str("</svg>\n");
    out
}

/// Points in unbroken runs: one that has no place on the drawing ends a run.
fn runs(points: impl Iterator<Item = [f64; 2]>) -> Vec<Vec<[f64; 2]>> {
    let mut runs = vec![vec![]];
    for p in points {
        if p[0].is_finite() && p[1].is_finite() {
            runs.last_mut().expect("there is always one").push(p);
        } else if runs.last().is_some_and(|r| !r.is_empty()) {
            runs.push(vec![]);
        }
    }
    runs.retain(|r| !r.is_empty());
    runs
}

/// Ends of an error bar; on a logarithmic axis one that reaches 0 goes down to the frame.
fn bar(p: &[f64; 2], error: f64, at: &impl Fn(&[f64; 2]) -> [f64; 2], floor: f64) -> Option<[[f64; 2]; 2]> {
    let (mut low, high) = (at(&[p[0], p[1] - error]), at(&[p[0], p[1] + error]));
    if low[1].is_nan() {
        low[1] = floor;
    }
    (error > 0.0 && low.iter().chain(&high).all(|v| v.is_finite())).then_some([low, high])
}

fn lines(out: &mut String, d: &Drawn) {
    for [low, high] in &d.bars {
        let style = format!("stroke=\"{}\"", d.colour);
        stroke(out, *low, *high, &style);
        for end in [low, high] {
            stroke(out, [end[0] - 3.0, end[1]], [end[0] + 3.0, end[1]], &style);
        }
    }
    if !d.is_line() {
        return;
    }
    let dashes = if d.series.mark == Mark::Dashes { " stroke-dasharray=\"6 4\"" } else { "" };
    for run in &d.runs {
        let mut points = String::new();
        let mut last = [f64::INFINITY; 2];
        for (k, p) in run.iter().enumerate() {
            let far = (p[0] - last[0]).abs() > SEEN || (p[1] - last[1]).abs() > SEEN;
            if far || k + 1 == run.len() {
                // Far outside the frame a number need not be exact, but it must be one that readers take.
                let _ = write!(points, "{:.1},{:.1} ", p[0].clamp(-1e5, 1e5), p[1].clamp(-1e5, 1e5));
                last = *p;
            }
        }
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.7\" stroke-linejoin=\"round\"{dashes}/>",
            points.trim_end(),
            d.colour
        );
    }
}

fn dot(out: &mut String, [x, y]: [f64; 2], mark: Mark, colour: &str) {
    let style = match mark {
        Mark::Rings => format!("r=\"{DOT}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\""),
        _ => format!("r=\"{:.1}\" fill=\"{colour}\"", DOT - 0.5),
    };
    let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" {style}/>");
}

fn stroke(out: &mut String, a: [f64; 2], b: [f64; 2], style: &str) {
    let _ =
        writeln!(out, "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>", a[0], a[1], b[0], b[1]);
}

fn text(out: &mut String, at: [f64; 2], anchor: &str, more: &str, words: &str) {
    let words = escaped(words);
    let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\"{more}>{words}</text>", at[0], at[1]);
}

/// The legend: where each name stands.
struct Keys {
    /// Box behind it, where it lies among the data.
    over: Option<[f64; 4]>,
    /// Left ends of the signs, by series.
    at: Vec<[f64; 2]>,
    /// Room it takes below the drawing [px].
    below: f64,
}

impl Keys {
    fn new(drawn: &[Drawn], frame: legend::Rect) -> Keys {
        if drawn.iter().all(|d| d.series.name.is_empty()) {
            return Keys { over: None, at: vec![], below: 0.0 };
        }
        let widths: Vec<f64> = drawn.iter().map(|d| SIGN + wide(&d.series.name, LETTER) + 10.0).collect();
        let size = [widths.iter().copied().fold(0.0, f64::max), ROW * drawn.len() as f64 + 6.0];
        let mut strokes = Vec::new();
        for d in drawn {
            match d.is_line() {
                true => strokes.extend(d.runs.iter().cloned()),
                false => strokes.extend(d.runs.iter().flatten().map(|p| vec![*p])),
            }
            strokes.extend(d.bars.iter().map(|b| b.to_vec()));
        }
        if let Some([x, y]) = legend::place(frame, size, &strokes) {
            let at = (0..drawn.len()).map(|k| [x, y + 3.0 + ROW * (k as f64 + 0.5)]).collect();
            return Keys { over: Some([x, y, size[0], size[1]]), at, below: 0.0 };
        }
        // No room among the data: in rows below.
        let (mut x, mut row, mut at) = (frame[0], 0.0, Vec::new());
        for w in widths {
            if x > frame[0] && x + w > WIDTH {
                (x, row) = (frame[0], row + 1.0);
            }
            at.push([x, HEIGHT + ROW * (row + 0.3)]);
            x += w + 12.0;
        }
        Keys { over: None, at, below: ROW * (row + 1.0) + 6.0 }
    }

    fn draw(&self, out: &mut String, drawn: &[Drawn]) {
        if let Some([x, y, w, h]) = self.over {
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"3\" fill=\"#fff\" \
                 fill-opacity=\"0.85\" stroke=\"#ccc\"/>"
            );
        }
        for (d, [x, y]) in drawn.iter().zip(&self.at) {
            let dashes = if d.series.mark == Mark::Dashes { " stroke-dasharray=\"6 4\"" } else { "" };
            if d.is_line() {
                let style = format!("stroke=\"{}\" stroke-width=\"1.7\"{dashes}", d.colour);
                stroke(out, [x + 6.0, *y], [x + 30.0, *y], &style);
            } else {
                dot(out, [x + 18.0, *y], d.series.mark, d.colour);
            }
            text(out, [x + SIGN, y + 4.5], "start", "", &d.series.name);
        }
    }
}
