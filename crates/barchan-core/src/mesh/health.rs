//! What a surface lacks to bound a solid, and where.
//!
//! Reads the mesh and changes nothing. Edges are sorted once; crossings are found through a tree (`crossing`).

use super::Mesh;
use super::edges::{Parts, Use, by_edge, uses};
use crate::words::{count, many};
use glam::DVec3;
use std::fmt::{self, Display, Formatter};

/// How many places a report keeps of each fault; all are counted.
const KEPT: usize = 8;

/// Counting of crossings stops a little after this many: in a heap of random triangles their number grows as the square.
pub const MOST_CROSSINGS: usize = 10_000;

/// How often something was found, and where first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// How often.
    pub count: usize,
    /// The first few places [m].
    pub first: Vec<DVec3>,
}

impl Places {
    pub(super) fn add(&mut self, place: DVec3) {
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(place);
        }
    }
}

/// A rim: edges that only one triangle has, followed once round. Holes that touch in a vertex may count as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hole {
    /// Mean of the rim's vertices [m].
    pub at: DVec3,
    /// Edges along it.
    pub edges: usize,
    /// Length of the rim [m].
    pub length: f64,
}

/// State of a mesh; its text says what is wrong and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// Triangles.
    pub triangles: usize,
    /// Parts, held together by shared edges.
    pub parts: usize,
    /// Holes, the longest first.
    pub holes: Vec<Hole>,
    /// Edges that more than two triangles share.
    pub forks: Places,
    /// Edges whose two triangles do not agree which side is outside; [`Mesh::orient`] turns them.
    pub disagreements: Places,
    /// Pairs of triangles without a common edge that cut through or lie on each other; from [`MOST_CROSSINGS`] on not all
    /// are counted.
    pub crossings: Places,
    /// Volume within [m³]; negative where the mesh is inside out.
    pub volume: f64,
}

impl Mesh {
    /// Looks for holes, forks, disagreements and crossings. Weld first, or every triangle is a part with a hole.
    pub fn health(&self) -> Health {
        let uses = uses(&self.triangles);
        let mut health = Health {
            triangles: self.triangles.len(),
            volume: self.volume(),
            crossings: self.crossings(),
            ..Health::default()
        };
        let mut parts = Parts::new(self.triangles.len());
        let mut rim = Vec::new();
        for edge in by_edge(&uses) {
            for pair in edge.windows(2) {
                parts.join(pair[0].triangle, pair[1].triangle, false);
            }
            match edge {
                [one] => rim.push(*one),
                [a, b] if a.forward != b.forward => {}
                [a, _] => health.disagreements.add(self.middle(a.low, a.high)),
                more => health.forks.add(self.middle(more[0].low, more[0].high)),
            }
        }
        health.parts = (0..self.triangles.len() as u32).filter(|&i| parts.find(i).0 == i).count();
        health.holes = self.holes(&rim);
        health
    }

    fn holes(&self, rim: &[Use]) -> Vec<Hole> {
        // Edges at each vertex, vertex by vertex; `next` skips those already walked.
        let mut ends: Vec<(u32, usize)> =
            rim.iter().enumerate().flat_map(|(i, edge)| [(edge.low, i), (edge.high, i)]).collect();
        ends.sort_unstable();
        let mut next = vec![usize::MAX; self.vertices.len()];
        for (place, (vertex, _)) in ends.iter().enumerate().rev() {
            next[*vertex as usize] = place;
        }
        let mut walked = vec![false; rim.len()];
        let mut holes = Vec::new();
        for start in 0..rim.len() {
            if walked[start] {
                continue;
            }
            let (mut at, mut edge) = (rim[start].low, start);
            let mut hole = Hole { at: DVec3::ZERO, edges: 0, length: 0.0 };
            loop {
                walked[edge] = true;
                let Use { low, high, .. } = rim[edge];
                let length = self.vertices[low as usize].distance(self.vertices[high as usize]);
                hole.edges += 1;
                hole.length += length;
                hole.at += self.middle(low, high);
                at = if at == low { high } else { low };
                if at == rim[start].low {
                    break;
                }
                let cursor = &mut next[at as usize];
                while ends.get(*cursor).is_some_and(|e| e.0 == at && walked[e.1]) {
                    *cursor += 1;
                }
                match ends.get(*cursor) {
                    Some(&(vertex, other)) if vertex == at => edge = other,
                    _ => break, // the rim ends at a fork
                }
            }
            hole.at /= hole.edges as f64;
            holes.push(hole);
        }
        holes.sort_by(|a, b| b.length.total_cmp(&a.length));
        holes
    }
}

impl Health {
    /// Whether the surface bounds a solid: no holes, no forks, no disagreements, and some triangles. It may still be
    /// inside out or cut through itself.
    pub fn is_closed(&self) -> bool {
        self.triangles > 0 && self.holes.is_empty() && self.forks.count == 0 && self.disagreements.count == 0
    }
}

impl Display for Health {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        /// Holes told one by one.
        const TOLD: usize = 3;
        if self.triangles == 0 {
            return write!(f, "empty");
        }
        f.write_str(match (self.is_closed(), self.volume < 0.0) {
            (true, false) => "closed",
            (true, true) => "closed but inside out",
            (false, _) => "not closed",
        })?;
        write!(f, ", {}, {}", many(self.triangles as u64, "triangle"), many(self.parts as u64, "part"))?;
        for (i, hole) in self.holes.iter().take(TOLD).enumerate() {
            match i {
                0 => write!(f, "; {}: ", many(self.holes.len() as u64, "hole"))?,
                _ => write!(f, ", ")?,
            }
            write!(f, "{} round {}, {} m long", many(hole.edges as u64, "edge"), Point(hole.at), short(hole.length))?;
        }
        if self.holes.len() > TOLD {
            write!(f, ", and {} more", count((self.holes.len() - TOLD) as u64))?;
        }
        let faults = [
            (&self.forks, "edge", "that more than two triangles share"),
            (&self.disagreements, "edge", "whose triangles disagree which side is outside"),
            (&self.crossings, "pair", "of triangles that cut through each other"),
        ];
        for (places, noun, what) in faults {
            if let Some(first) = places.first.first() {
                let more = if noun == "pair" && places.count >= MOST_CROSSINGS { "at least " } else { "" };
                let lead = if places.count == 1 { "at" } else { "first at" };
                write!(f, "; {more}{} {what}, {lead} {}", many(places.count as u64, noun), Point(*first))?;
            }
        }
        Ok(())
    }
}

/// A point with as many digits as one wants to read.
struct Point(DVec3);

impl Display for Point {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0.to_array().map(short);
        write!(f, "({x}, {y}, {z})")
    }
}

/// Four digits that count, without zeros after them: `0.1`, `-12.35`, `1.2e-7`.
fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    // What is left of a zero after adding and subtracting coordinates is a zero to the reader.
    if rounded.abs() < 1e-12 {
        return "0".into();
    }
    if (1e-4..1e6).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}
