//! Where the legend hides least.

/// A rectangle of the drawing: left, top, right, bottom [px].
pub type Rect = [f64; 4];

/// Clear distance between legend, frame and data [px].
const GAP: f64 = 8.0;
/// Places tried from side to side and from top to bottom.
const TRIES: usize = 9;
/// Distance at which lines are sampled [px].
const FINE: f64 = 4.0;

/// Left upper corner of a legend of `size` within `frame` that hides none of the lines and points; none where all places
/// would. Corners are preferred, those at the top first.
///
/// `strokes` are lines by their corners; a point is a line of one.
pub fn place(frame: Rect, size: [f64; 2], strokes: &[Vec<[f64; 2]>]) -> Option<[f64; 2]> {
    let room = [frame[2] - frame[0] - size[0] - 2.0 * GAP, frame[3] - frame[1] - size[1] - 2.0 * GAP];
    if room[0] < 0.0 || room[1] < 0.0 {
        return None;
    }
    let spots = spots(strokes);
    let part = |k: usize, room: f64| room * k as f64 / (TRIES - 1) as f64;
    let mut corners: Vec<(usize, usize)> = (0..TRIES * TRIES).map(|k| (k % TRIES, k / TRIES)).collect();
    // Distance from the nearest corner, in places; the top goes before the bottom where it is the same.
    let off = |k: usize| k.min(TRIES - 1 - k);
    corners.sort_by_key(|&(i, j)| (off(i) + off(j), j));
    corners.into_iter().map(|(i, j)| [frame[0] + GAP + part(i, room[0]), frame[1] + GAP + part(j, room[1])]).find(
        |at| {
            let inside = |p: &[f64; 2]| (0..2).all(|a| p[a] > at[a] - 0.5 * GAP && p[a] < at[a] + size[a] + 0.5 * GAP);
            !spots.iter().any(inside)
        },
    )
}

/// Points along all lines, near enough to each other that none slips between them.
fn spots(strokes: &[Vec<[f64; 2]>]) -> Vec<[f64; 2]> {
    let mut spots = Vec::new();
    for stroke in strokes {
        spots.extend(stroke.first());
        for ends in stroke.windows(2) {
            let [a, b] = [ends[0], ends[1]];
            let steps = ((b[0] - a[0]).hypot(b[1] - a[1]) / FINE).ceil().clamp(1.0, 1e3) as usize;
            spots.extend((1..=steps).map(|k| {
                let t = k as f64 / steps as f64;
                [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
            }));
        }
    }
    spots
}
