//! A camera for every time of a film: fixed, round the scene, through given places, or after a grain.

use super::Stand;
use super::framing::{self, Aim};
use glam::DVec3;
use std::f64::consts::TAU;
use thiserror::Error;

/// A camera at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Simulated time [s].
    pub time: f64,
    /// The camera then.
    pub stand: Stand,
}

/// Where the camera is, at every time.
#[derive(Clone, Debug, PartialEq)]
pub enum CameraPath {
    /// It stays.
    Fixed(Stand),
    /// Round a vertical axis through what it looks at.
    Orbit {
        /// The camera at `start`.
        stand: Stand,
        /// When it starts [s].
        start: f64,
        /// Angular velocity about z [rad/s].
        rate: f64,
    },
    /// Through cameras at given times: see [`CameraPath::fly`].
    Fly(Vec<Key>),
    /// Keeps its distance from something that moves.
    Follow {
        /// The camera at the first place of the track.
        stand: Stand,
        /// Times [s], in order, and where the followed was [m].
        track: Vec<(f64, DVec3)>,
        /// Standard deviation of the Gaussian that smooths the track [s]: a camera does not shake with its grain.
        smooth: f64,
    },
}

/// Why there is no such path.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PathError {
    /// No keyframe.
    #[error("a camera that flies needs at least two keyframes; give them under `picture.camera.fly` in the scene")]
    NoKeys,
    /// Times that do not increase.
    #[error("the camera's keyframes are out of order at {time} s; sort them by time, with no time twice")]
    OutOfOrder {
        /// Time of the first one that does not come later than the one before it [s].
        time: f64,
    },
    /// Nothing to follow.
    #[error("there is no grain {id} in any frame to follow; give the id of one that is there")]
    NoGrain {
        /// The id.
        id: u32,
    },
}

/// Turns v about z by an angle [rad].
fn turned(v: DVec3, angle: f64) -> DVec3 {
    let (sin, cos) = angle.sin_cos();
    DVec3::new(cos * v.x - sin * v.y, sin * v.x + cos * v.y, v.z)
}

impl CameraPath {
    /// A camera that shows all spheres (centre, radius [m]) from the side of `aim`.
    pub fn framed(spheres: &[(DVec3, f64)], aim: Aim, up: DVec3, size: [u32; 2]) -> CameraPath {
        CameraPath::Fixed(framing::frame(spheres, aim.to_eye(), up, Stand::FIELD, size))
    }

    /// A camera that goes round all spheres (centre, radius [m]) so many `turns` from the first to the last time of the
    /// film, and has them in the picture from every side.
    pub fn orbit(spheres: &[(DVec3, f64)], aim: Aim, turns: f64, film: [f64; 2], size: [u32; 2]) -> CameraPath {
        let around = framing::bounds(spheres).unwrap_or([-DVec3::ONE, DVec3::ONE]);
        let target = 0.5 * (around[0] + around[1]);
        // Directions so near each other that what lies between is in the margin.
        const SIDES: usize = 90;
        let sides = (0..SIDES).map(|k| Aim { azimuth: TAU * k as f64 / SIDES as f64, ..aim }.to_eye());
        let far = sides.map(|side| framing::distance(spheres, target, side, DVec3::Z, Stand::FIELD, size));
        let eye = target + aim.to_eye() * far.fold(0.0, f64::max);
        let stand = Stand { eye, target, up: DVec3::Z, field: Stand::FIELD };
        let span = film[1] - film[0];
        CameraPath::Orbit { stand, start: film[0], rate: if span > 0.0 { TAU * turns / span } else { 0.0 } }
    }

    /// A camera that is at each of the keys at its time, and moves smoothly between them; before the first and after the
    /// last it rests.
    ///
    /// Places lie on a centripetal Catmull–Rom curve (Yuksel, Schaefer & Keyser 2011), which has no cusps or loops, however uneven the
    /// keys. The way along it is a monotone cubic of time (Fritsch & Butland 1984): no jolt at a key, no way back.
    pub fn fly(keys: Vec<Key>) -> Result<CameraPath, PathError> {
        if keys.len() < 2 {
            return Err(PathError::NoKeys);
        }
        let wrong = keys.windows(2).find(|w| w[1].time <= w[0].time || w.iter().any(|k| k.time.is_nan()));
        match wrong {
            Some(w) => Err(PathError::OutOfOrder { time: w[1].time }),
            None => Ok(CameraPath::Fly(keys)),
        }
    }

    /// The camera at a time [s].
    pub fn at(&self, time: f64) -> Stand {
        match self {
            CameraPath::Fixed(stand) => *stand,
            CameraPath::Orbit { stand, start, rate } => {
                let arm = turned(stand.eye - stand.target, rate * (time - start));
                Stand { eye: stand.target + arm, ..*stand }
            }
            CameraPath::Fly(keys) => fly(keys, time),
            CameraPath::Follow { stand, track, smooth } => {
                let shift =
                    smoothed(track, time, *smooth) - smoothed(track, track.first().map_or(0.0, |p| p.0), *smooth);
                Stand { eye: stand.eye + shift, target: stand.target + shift, ..*stand }
            }
        }
    }
}

/// Gaussian mean of a track about a time; the nearest place where the times are too far apart for one.
fn smoothed(track: &[(f64, DVec3)], time: f64, deviation: f64) -> DVec3 {
    let (mut weight, mut sum) = (0.0, DVec3::ZERO);
    for (t, place) in track {
        let w = (-0.5 * ((t - time) / deviation.max(1e-300)).powi(2)).exp();
        weight += w;
        sum += *place * w;
    }
    if weight > 1e-12 {
        return sum / weight;
    }
    let nearest = track.iter().min_by(|a, b| (a.0 - time).abs().total_cmp(&(b.0 - time).abs()));
    nearest.map_or(DVec3::ZERO, |p| p.1)
}

/// What is interpolated of a camera: eye, target, up, and the logarithm of the field, so that zooming is even.
type Place = [DVec3; 4];

fn place(stand: &Stand) -> Place {
    [stand.eye, stand.target, stand.up, DVec3::splat(stand.field.max(1e-6).ln())]
}

fn mix(a: Place, b: Place, share: f64) -> Place {
    std::array::from_fn(|k| a[k] + (b[k] - a[k]) * share)
}

fn fly(keys: &[Key], time: f64) -> Stand {
    let next = keys.partition_point(|k| k.time <= time);
    if next == 0 {
        return keys[0].stand;
    }
    if next == keys.len() {
        return keys[next - 1].stand;
    }
    // Knots of the curve: the square root of the way (of eye and target together) from key to key. A camera that rests
    // or only zooms has no way; a little of the whole keeps knots apart.
    let way = |w: &[Key]| (w[1].stand.eye - w[0].stand.eye).length() + (w[1].stand.target - w[0].stand.target).length();
    let whole: f64 = keys.windows(2).map(way).sum();
    let mut knots = vec![0.0];
    for w in keys.windows(2) {
        knots.push(knots[knots.len() - 1] + (way(w) + 1e-6 * whole.max(1e-12)).sqrt());
    }
    let times: Vec<f64> = keys.iter().map(|k| k.time).collect();
    let u = monotone(&times, &knots, next, time);
    let [eye, target, up, field] = catmull_rom(keys, &knots, next, u);
    Stand { eye, target, up: up.normalize_or(DVec3::Z), field: field.x.exp() }
}

/// Value at `x` of the monotone cubic through (xs, ys), at rest at both ends; `next` is the index of the key after `x`.
fn monotone(xs: &[f64], ys: &[f64], next: usize, x: f64) -> f64 {
    let slope = |i: usize| {
        if i == 0 || i + 1 == xs.len() {
            return 0.0;
        }
        let (h0, h1) = (xs[i] - xs[i - 1], xs[i + 1] - xs[i]);
        let (before, after) = ((ys[i] - ys[i - 1]) / h0, (ys[i + 1] - ys[i]) / h1);
        let weight = (h0 + 2.0 * h1) / (3.0 * (h0 + h1));
        if before * after > 0.0 { before * after / (weight * after + (1.0 - weight) * before) } else { 0.0 }
    };
    let (i, h) = (next - 1, xs[next] - xs[next - 1]);
    let t = (x - xs[i]) / h;
    let (t2, t3) = (t * t, t * t * t);
    ys[i]
        + (ys[next] - ys[i]) * (3.0 * t2 - 2.0 * t3)
        + slope(i) * h * (t3 - 2.0 * t2 + t)
        + slope(next) * h * (t3 - t2)
}

/// The curve between the keys `next − 1` and `next` at the knot value u, by Barry and Goldman's pyramid (1988). Beyond
/// the ends the curve is continued by mirrored keys.
fn catmull_rom(keys: &[Key], knots: &[f64], next: usize, u: f64) -> Place {
    let at = |i: isize| -> (f64, Place) {
        let last = keys.len() as isize - 1;
        let own = |i: isize| (knots[i as usize], place(&keys[i as usize].stand));
        let mirror = |end: isize, inner: isize| {
            let ((a, p), (b, q)) = (own(end), own(inner));
            (2.0 * a - b, mix(q, p, 2.0))
        };
        if i < 0 {
            mirror(0, 1)
        } else if i > last {
            mirror(last, last - 1)
        } else {
            own(i)
        }
    };
    let i = next as isize;
    let p: [(f64, Place); 4] = std::array::from_fn(|k| at(i - 2 + k as isize));
    let between = |a: f64, b: f64, p: Place, q: Place| mix(p, q, (u - a) / (b - a));
    let [t0, t1, t2, t3] = p.map(|p| p.0);
    let (a1, a2, a3) =
        (between(t0, t1, p[0].1, p[1].1), between(t1, t2, p[1].1, p[2].1), between(t2, t3, p[2].1, p[3].1));
    let (b1, b2) = (between(t0, t2, a1, a2), between(t1, t3, a2, a3));
    between(t1, t2, b1, b2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(time: f64, eye: [f64; 3], target: [f64; 3], field: f64) -> Key {
        Key { time, stand: Stand { eye: eye.into(), target: target.into(), up: DVec3::Z, field } }
    }

    fn keys() -> Vec<Key> {
        vec![
            key(0.0, [0.0, -2.0, 1.0], [0.0; 3], 0.5),
            key(0.5, [0.1, -1.9, 1.0], [0.0; 3], 0.5),
            key(2.0, [3.0, 0.0, 0.5], [0.2, 0.0, 0.1], 0.3),
            key(2.5, [3.0, 0.0, 0.5], [0.2, 0.0, 0.1], 0.6),
            key(4.0, [0.0, 4.0, 2.0], [0.0; 3], 0.5),
        ]
    }

    fn apart(a: Stand, b: Stand) -> f64 {
        (a.eye - b.eye).length() + (a.target - b.target).length() + (a.field - b.field).abs()
    }

    #[test]
    fn a_flight_passes_through_its_keys_and_rests_at_its_ends() {
        let path = CameraPath::fly(keys()).unwrap();
        for k in keys() {
            assert!(apart(path.at(k.time), k.stand) < 1e-9, "{k:?}");
        }
        assert_eq!(path.at(-1.0), keys()[0].stand);
        assert_eq!(path.at(9.0), keys()[4].stand);
        assert!(apart(path.at(1e-4), keys()[0].stand) < 1e-6, "it starts from rest");
    }

    #[test]
    fn a_flight_has_no_jolt() {
        let path = CameraPath::fly(keys()).unwrap();
        let speed = |t: f64| (path.at(t + 1e-6).eye - path.at(t).eye) / 1e-6;
        for k in &keys()[1..4] {
            let (before, after) = (speed(k.time - 2e-6), speed(k.time + 1e-6));
            assert!((before - after).length() < 1e-2 * (1.0 + before.length()), "{before} then {after}");
        }
    }

    #[test]
    fn two_keys_make_a_straight_way() {
        let path = CameraPath::fly(vec![keys()[0], keys()[4]]).unwrap();
        let (a, b) = (keys()[0].stand.eye, keys()[4].stand.eye);
        let middle = path.at(2.0).eye;
        assert!((middle - 0.5 * (a + b)).length() < 1e-9, "{middle}");
    }

    #[test]
    fn keys_that_cannot_be_are_refused() {
        assert_eq!(CameraPath::fly(vec![keys()[0]]), Err(PathError::NoKeys));
        let mut twice = keys();
        twice[2].time = 0.5;
        assert_eq!(CameraPath::fly(twice), Err(PathError::OutOfOrder { time: 0.5 }));
    }

    #[test]
    fn an_orbit_closes_and_keeps_its_distance() {
        let spheres = [(DVec3::new(1.0, 2.0, 3.0), 0.5), (DVec3::new(2.0, 2.0, 3.0), 0.1)];
        let aim = Aim { azimuth: 0.4, elevation: 0.3 };
        let path = CameraPath::orbit(&spheres, aim, 2.0, [1.0, 5.0], [1920, 1080]);
        let first = path.at(1.0);
        assert!(apart(first, path.at(5.0)) < 1e-9 && apart(first, path.at(3.0)) < 1e-9, "two turns");
        for t in [1.3, 2.0, 4.9] {
            let s = path.at(t);
            assert!(((s.eye - s.target).length() - (first.eye - first.target).length()).abs() < 1e-9);
            assert!((s.eye.z - first.eye.z).abs() < 1e-12);
        }
    }

    #[test]
    fn a_follower_keeps_up_without_shaking() {
        let stand = keys()[0].stand;
        // Steady motion with a shake on it.
        let shake = |i: u32| if i.is_multiple_of(2) { 0.05 } else { -0.05 };
        let place = |i: u32| (f64::from(i) * 0.01, DVec3::X * (f64::from(i) * 0.02 + shake(i)));
        let path = CameraPath::Follow { stand, track: (0..=100).map(place).collect(), smooth: 0.05 };
        let moved = path.at(0.7).eye - path.at(0.3).eye;
        assert!((moved - DVec3::X * 0.8).length() < 1e-2, "{moved}");
        let step = (path.at(0.51).eye - path.at(0.50).eye).length();
        assert!((step - 0.02).abs() < 2e-3, "{step}");
        assert_eq!(path.at(0.0).eye, stand.eye);
    }
}
