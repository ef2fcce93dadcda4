// The number and depth of the nearest surface of every sample.

struct Disc {
    @builtin(position) position: vec4f,
    @location(0) at: vec2f,
    @location(1) @interpolate(flat) ratio: f32,
    @location(2) @interpolate(flat) number: u32,
}

struct Seen {
    @location(0) number: u32,
    @builtin(frag_depth) depth: f32,
}

// The square lies in the plane of the circle in which the cone of sight touches the sphere: the sphere's silhouette is the
// square's inscribed circle, from everywhere. With k = radius/distance, the circle lies at (1 − k²) of the way to the centre
// and has the radius r·√(1 − k²).
@vertex
fn sphere_vertex(@builtin(vertex_index) vertex: u32) -> Disc {
    let i = vertex / 6u;
    let b = solid(2u * i);
    let centre = before_eye(b.xyz);
    let distance = length(centre);
    let k = b.w / distance;
    if !(b.w > 0.0 && k < 1.0 && centre.z + b.w > frame.near) {
        return Disc(UNSEEN, vec2f(2.0), 0.0, 0u);
    }
    let to = centre / distance;
    let across = normalize(vec3f(to.z, 0.0, -to.x) + vec3f(1e-20, 0.0, 0.0));
    let at = square(vertex);
    let shrink = 1.0 - k * k;
    let p = centre * shrink + b.w * sqrt(shrink) * (at.x * across + at.y * cross(to, across));
    return Disc(clip(p), at, k, i + 1u);
}

// A ray through point q of the circle's plane, at w of its radius, meets the sphere at q/(1 + k·√(1 − w²)).
@fragment
fn sphere_fragment(disc: Disc) -> Seen {
    let rest = 1.0 - dot(disc.at, disc.at);
    if rest < 0.0 {
        discard;
    }
    return Seen(disc.number, disc.position.z * (1.0 + disc.ratio * sqrt(rest)));
}

struct Facet {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) number: u32,
}

@vertex
fn facet_vertex(@builtin(vertex_index) vertex: u32) -> Facet {
    return Facet(clip(before_eye(facet(vertex))), FACET | (vertex / 3u));
}

@fragment
fn facet_fragment(facet: Facet) -> @location(0) u32 {
    return facet.number;
}

@vertex
fn whole(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4f {
    return vec4f(f32(vertex & 1u) * 4.0 - 1.0, f32(vertex >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// 1/depth is even over the picture on any plane; not positive above the horizon.
@fragment
fn floor_fragment(@builtin(position) position: vec4f) -> Seen {
    let pixel = position.xy / f32(SIDE) + frame.origin;
    let depth = (dot(frame.floor_slope, pixel) + frame.floor_start) * frame.near;
    return Seen(select(NOTHING, FLOOR, depth > 0.0 && depth <= 1.0), select(0.0, depth, depth <= 1.0));
}
