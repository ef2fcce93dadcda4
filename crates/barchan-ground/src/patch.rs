//! The underside of a body as the columns see it: one height a column.

use crate::columns::Columns;
use crate::grid::{Area, Grid};
use glam::{DVec2, DVec3};

/// How high the lower surface of a body is over the middle of each column of an area.
///
/// A part of a body that covers no column's middle is not seen: a blade should be thicker than a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    pub(crate) area: Area,
    /// Height of the underside [m], row by row; infinite where the body is not.
    pub(crate) underside: Vec<f64>,
}

impl Patch {
    /// The patch of a body that is over no column.
    pub fn clear(&mut self) {
        self.start(Area::default());
    }

    fn start(&mut self, area: Area) {
        let [w, h] = area.size();
        self.area = area;
        self.underside.clear();
        self.underside.resize(w * h, f64::INFINITY);
    }

    /// Asks for the underside at every column of an area, which is to hold all of the body that may touch.
    pub fn ask(&mut self, grid: &Grid, area: Area, underside: &dyn Fn(f64, f64) -> Option<f64>) {
        let area = area.on(grid);
        self.start(area);
        let [w, _] = area.size();
        for (place, z) in self.underside.iter_mut().enumerate() {
            let column = area.low[0] + place % w + (area.low[1] + place / w) * grid.size[0];
            let at = grid.centre(column);
            *z = underside(at.x, at.y).filter(|z| !z.is_nan()).unwrap_or(f64::INFINITY);
        }
    }

    /// Draws triangles, given by the places of their corners [m], into the patch, as far as they may touch the ground. Of a
    /// `solid`, whose triangles look outwards, those that look up are left out.
    pub fn draw(&mut self, ground: &Columns, vertices: &[DVec3], triangles: &[[u32; 3]], solid: bool) {
        let grid = &ground.grid;
        let bounds = |low: DVec2, high: DVec2, p: DVec3| (low.min(p.truncate()), high.max(p.truncate()));
        let none = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        let (low, high) = vertices.iter().fold(none, |(low, high), &p| bounds(low, high, p));
        let ceiling = ground.highest_in(grid.area(low, high));
        if vertices.iter().all(|p| p.z > ceiling) {
            return self.clear();
        }
        let corners = |t: &[u32; 3]| t.map(|v| vertices[v as usize]);
        let seen = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            let up = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
            (a.z.min(b.z).min(c.z) <= ceiling && !(solid && up > 0.0)).then_some([a, b, c])
        };
        let (low, high) = triangles.iter().filter_map(seen).flatten().fold(none, |(low, high), p| bounds(low, high, p));
        if !(low.is_finite() && high.is_finite()) {
            return self.clear();
        }
        self.start(grid.area(low, high));
        triangles.iter().filter_map(seen).for_each(|t| self.triangle(grid, t));
    }

    /// The columns whose middles lie in a triangle, edges among them: no middle falls between two triangles.
    fn triangle(&mut self, grid: &Grid, [a, b, c]: [DVec3; 3]) {
        let (low, high) = (a.min(b).min(c).truncate(), a.max(b).max(c).truncate());
        let area = grid.area(low, high);
        let (ab, ac) = (b - a, c - a);
        let twice = ab.x * ac.y - ab.y * ac.x;
        // Seen from above it is a line, and what it bounds is bounded by its neighbours too.
        if twice.abs() <= EDGE * ab.truncate().length() * ac.truncate().length() {
            return;
        }
        let [w, _] = self.area.size();
        let first = grid.centre(area.low[0] + area.low[1] * grid.size[0]) - a.truncate();
        let (u_x, u_y, v_x, v_y) = (ac.y / twice, -ac.x / twice, -ab.y / twice, ab.x / twice);
        for y in area.low[1]..area.high[1] {
            let row = (y - self.area.low[1]) * w;
            let dy = first.y + (y - area.low[1]) as f64 * grid.cell;
            for x in area.low[0]..area.high[0] {
                let dx = first.x + (x - area.low[0]) as f64 * grid.cell;
                let (u, v) = (dx * u_x + dy * u_y, dx * v_x + dy * v_y);
                // A little beyond the edge: two neighbours may round a middle on their edge out of both.
                if u >= -EDGE && v >= -EDGE && u + v <= 1.0 + EDGE {
                    let z = &mut self.underside[x - self.area.low[0] + row];
                    *z = z.min(a.z + u * ab.z + v * ac.z);
                }
            }
        }
    }

    /// The underside over a column by its place on the grid; infinite where the body is not.
    #[inline]
    pub(crate) fn at(&self, x: usize, y: usize) -> f64 {
        let [w, h] = self.area.size();
        let (x, y) = (x.wrapping_sub(self.area.low[0]), y.wrapping_sub(self.area.low[1]));
        if x < w && y < h { self.underside[x + y * w] } else { f64::INFINITY }
    }
}

/// How far beyond its edge a triangle still covers a column's middle, in barycentric coordinates.
const EDGE: f64 = 1e-9;
