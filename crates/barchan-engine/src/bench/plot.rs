//! The plot of a scaling: time of a step against grains, both logarithmic, with the fitted line.

use super::Scaling;
use barchan_core::math;
use barchan_io::plot::{Axis, Plot, Series};

impl Scaling {
    /// Time of a step against the number of grains, with the fit where there is one.
    pub fn plot(&self, title: &str) -> Plot {
        let points: Vec<[f64; 2]> = self.points.iter().map(|&(n, s)| [n as f64, s]).collect();
        let mut series = vec![Series::dots("measured", points.clone())];
        if let (Some((factor, exponent)), [first, .., last]) = (self.fit(), points.as_slice()) {
            let ends = [first[0], last[0]].map(|n| [n, factor * math::powf(n, exponent)]);
            series.push(Series::dashes(format!("time = {factor:.3e} s · grains^{exponent:.3}"), ends.to_vec()));
        }
        Plot { title: title.into(), x: Axis::log("grains"), y: Axis::log("time of a step [s]"), series }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_straight_line_lie_on_the_fitted_line() {
        let scaling = Scaling { points: vec![(1_000, 1e-4), (10_000, 1e-3), (100_000, 1e-2)] };
        let plot = scaling.plot("a < b");
        let [dots, fit] = plot.series.as_slice() else { panic!("points and their fit") };
        assert_eq!(dots.points.len(), 3);
        for (ours, fitted) in [(dots.points[0], fit.points[0]), (dots.points[2], fit.points[1])] {
            assert!(ours[0] == fitted[0] && (ours[1] / fitted[1] - 1.0).abs() < 1e-9);
        }
        assert!(fit.name.contains("grains^1.000"));
        assert!(plot.svg().contains("a &lt; b"));
    }

    #[test]
    fn one_point_has_no_line() {
        assert_eq!(Scaling { points: vec![(1000, 1.0)] }.plot("").series.len(), 1);
        assert!(Scaling::default().plot("").svg().contains("</svg>"));
    }
}
