// The sun's map: what stands nearest to the sun, by its height.

struct Disc {
    @builtin(position) position: vec4f,
    @location(0) at: vec2f,
    @location(1) @interpolate(flat) radius: f32,
}

@vertex
fn sphere_vertex(@builtin(vertex_index) vertex: u32) -> Disc {
    let b = solid(vertex / 6u * 2u);
    if !(b.w > 0.0) {
        return Disc(UNSEEN, vec2f(2.0), 0.0);
    }
    let at = square(vertex);
    let p = b.xyz + b.w * (at.x * frame.across + at.y * frame.along);
    return Disc(clip_sun(p), at, b.w / (frame.high - frame.low));
}

@fragment
fn sphere_fragment(disc: Disc) -> @builtin(frag_depth) f32 {
    let rest = 1.0 - dot(disc.at, disc.at);
    if rest < 0.0 {
        discard;
    }
    return disc.position.z + disc.radius * sqrt(rest);
}

@vertex
fn facet_vertex(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4f {
    return clip_sun(facet(vertex));
}
