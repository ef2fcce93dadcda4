//! The plot of a scaling: time of a step against grains, both logarithmic, with the fitted line; SVG written directly.

use super::Scaling;
use barchan_scene::words::{count, seconds};
use std::fmt::Write;
use std::ops::RangeInclusive;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 440.0;
/// Room for the axes [px]: left, right, top, bottom.
const MARGIN: [f64; 4] = [86.0, 24.0, 44.0, 60.0];

/// Decades that hold all values.
fn decades(values: impl Iterator<Item = f64> + Clone) -> RangeInclusive<i32> {
    let low = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
    let high = values.fold(0.0, f64::max).log10().ceil();
    low as i32..=(high.max(low + 1.0)) as i32
}

/// The plot as an SVG file's text; empty axes for a scaling without points.
pub fn svg(scaling: &Scaling, title: &str) -> String {
    let [left, right, top, bottom] = MARGIN;
    let points: Vec<(f64, f64)> = match scaling.points.as_slice() {
        [] => vec![],
        points => points.iter().map(|&(n, s)| (n as f64, s)).collect(),
    };
    let or = |values: Vec<f64>, none: f64| if values.is_empty() { vec![none] } else { values };
    let xs = decades(or(points.iter().map(|p| p.0).collect(), 1e3).into_iter());
    let ys = decades(or(points.iter().map(|p| p.1).collect(), 1e-3).into_iter());
    let along = |v: f64, r: &RangeInclusive<i32>| (v.log10() - f64::from(*r.start())) / f64::from(r.end() - r.start());
    let x = |n: f64| left + (WIDTH - left - right) * along(n, &xs);
    let y = |s: f64| HEIGHT - bottom - (HEIGHT - top - bottom) * along(s, &ys);
    let (x0, x1, y0, y1) = (left, WIDTH - right, HEIGHT - bottom, top);

    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    let text = |at: (f64, f64), anchor: &str, more: &str, words: &str| {
        let words = words.replace('&', "&amp;").replace('<', "&lt;");
        format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\"{more}>{words}</text>", at.0, at.1)
    };
    let stroke = |a: (f64, f64), b: (f64, f64), style: &str| {
        format!("<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>", a.0, a.1, b.0, b.1)
    };
    for decade in xs.clone() {
        for part in 1..10 {
            let n = f64::from(part) * 10f64.powi(decade);
            if x(n) <= x1 + 0.1 {
                let shade = if part == 1 { "stroke=\"#bbb\"" } else { "stroke=\"#eee\"" };
                line(stroke((x(n), y0), (x(n), y1), shade));
            }
        }
        line(text((x(10f64.powi(decade)), y0 + 18.0), "middle", "", &count(10u64.pow(decade.max(0) as u32))));
    }
    for decade in ys.clone() {
        for part in 1..10 {
            let s = f64::from(part) * 10f64.powi(decade);
            if y(s) >= y1 - 0.1 {
                let shade = if part == 1 { "stroke=\"#bbb\"" } else { "stroke=\"#eee\"" };
                line(stroke((x0, y(s)), (x1, y(s)), shade));
            }
        }
        line(text((x0 - 8.0, y(10f64.powi(decade)) + 4.0), "end", "", &seconds(10f64.powi(decade))));
    }
    line(format!(
        "<rect x=\"{x0}\" y=\"{y1}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>",
        x1 - x0,
        y0 - y1
    ));
    if let (Some((factor, exponent)), Some(first), Some(last)) = (scaling.fit(), points.first(), points.last()) {
        let fit = |n: f64| (x(n), y(factor * n.powf(exponent)));
        line(stroke(fit(first.0), fit(last.0), "stroke=\"#c33\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\""));
        let words = format!("time = {:.3e} s · grains^{exponent:.3}", factor);
        line(text((x0 + 14.0, y1 + 24.0), "start", " fill=\"#c33\"", &words));
    }
    for &(n, s) in &points {
        line(format!("<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"#225\"/>", x(n), y(s)));
    }
    line(text((0.5 * (x0 + x1), y1 - 16.0), "middle", " font-size=\"15\"", title));
    line(text((0.5 * (x0 + x1), HEIGHT - 16.0), "middle", "", "grains"));
    let middle = 0.5 * (y0 + y1);
    line(text((20.0, middle), "middle", &format!(" transform=\"rotate(-90 20 {middle})\""), "time of a step"));
    let _ = writeln!(out, "</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_straight_line_lie_on_the_fitted_line() {
        let scaling = Scaling { points: vec![(1_000, 1e-4), (10_000, 1e-3), (100_000, 1e-2)] };
        let plot = svg(&scaling, "a < b");
        assert!(plot.starts_with("<svg") && plot.trim_end().ends_with("</svg>") && plot.contains("a &lt; b"));
        assert_eq!(plot.matches("<circle").count(), 3);
        let number = |line: &str, key: &str| -> f64 {
            line.split(&format!(" {key}=\"")).nth(1).and_then(|r| r.split('"').next()).unwrap().parse().unwrap()
        };
        let fit = plot.lines().find(|l| l.contains("dasharray")).unwrap();
        let dots: Vec<&str> = plot.lines().filter(|l| l.starts_with("<circle")).collect();
        assert_eq!((number(fit, "x1"), number(fit, "y1")), (number(dots[0], "cx"), number(dots[0], "cy")));
        assert_eq!((number(fit, "x2"), number(fit, "y2")), (number(dots[2], "cx"), number(dots[2], "cy")));
        assert!(plot.contains("grains^1.000"));
    }

    #[test]
    fn no_points_make_an_empty_plot() {
        assert!(svg(&Scaling::default(), "").contains("</svg>"));
    }
}
