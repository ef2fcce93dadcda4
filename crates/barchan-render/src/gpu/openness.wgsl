// Openness and depth of every pixel's key sample: point 5 of the look.

@group(1) @binding(0) var depths: texture_depth_2d;
@group(1) @binding(1) var numbers: texture_2d<u32>;

@vertex
fn whole(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4f {
    return vec4f(f32(vertex & 1u) * 4.0 - 1.0, f32(vertex >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// Depths beyond this are background.
const FAR = 1e30;

@fragment
fn openness_fragment(@builtin(position) position: vec4f) -> @location(0) vec2f {
    let key = f32(frame.side / 2u);
    let inner = vec2f(key + 0.5) / f32(frame.side);
    let pixel = vec2u(position.xy);
    let here = vec2f(pixel) + frame.origin;
    let floored = (frame.flags & FLAG_FLOOR) != 0u;
    let sample = pixel * frame.side + u32(key);
    var number = textureLoad(numbers, sample, 0).x;
    if floored && floor_inverse(here + inner) * frame.near > textureLoad(depths, sample, 0) {
        number = FLOOR;
    }
    if number == NOTHING {
        return vec2f(1.0, FAR);
    }
    let slope = slope_at(here + inner);
    let spot = spot(number, slope);
    let pixels = clamp(frame.open_reach * frame.focal / spot.depth, OPEN_PIXELS_LEAST,
        max(OPEN_PIXELS_MOST * frame.size.y, OPEN_PIXELS_LEAST));
    let reach = pixels * spot.depth / frame.focal;
    let turn = frame.turns[pattern(vec2u(here))];
    let p = vec3f(slope, 1.0) * spot.depth;
    let fade = 1.0 / (reach * reach);
    var closed = 0.0;
    for (var i = 0u; i < OPEN_TAPS; i++) {
        let t = frame.open_taps[i];
        let radius = (f32(i) + turn.z) * (pixels / f32(OPEN_TAPS));
        let to = here + 0.5 + vec2f(t.x * turn.x - t.y * turn.y, t.x * turn.y + t.y * turn.x) * radius;
        let there = floor(to) - frame.origin;
        // Outside the picture the depth is 0; in it the tile reaches as far as any tap.
        var inverse = textureLoad(depths, vec2i(there) * i32(frame.side) + i32(key), 0);
        let q = floor(to) + inner;
        if floored {
            inverse = max(inverse, floor_inverse(q) * frame.near);
        }
        let inside = all(to >= vec2f(0.0)) && all(to < frame.size);
        let away = vec3f(slope_at(q), 1.0) * (frame.near / max(inverse, 1e-30)) - p;
        let square = dot(away, away);
        let above = dot(spot.plane, away) * inverseSqrt(max(square, 1e-37)) - OPEN_BIAS;
        closed += select(0.0, max(above, 0.0) * max(1.0 - square * fade, 0.0), inside && abs(away.z) < reach);
    }
    return vec2f(max(1.0 - OPEN_STRENGTH / f32(OPEN_TAPS) * closed, 0.0), spot.depth);
}
