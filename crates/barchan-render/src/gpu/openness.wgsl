// Openness and depth of the key sample of every second pixel: point 5 of the look.

@group(1) @binding(0) var depths: texture_2d<f32>;
@group(1) @binding(1) var numbers: texture_2d<u32>;

@vertex
fn whole(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4f {
    return vec4f(f32(vertex & 1u) * 4.0 - 1.0, f32(vertex >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// Depth of what is infinitely far.
const FAR = 1e30;

@fragment
fn openness_fragment(@builtin(position) position: vec4f) -> @location(0) u32 {
    let key = i32(SIDE / 2u);
    let inner = vec2f(f32(key) + 0.5) / f32(SIDE);
    // Tiles begin at even pixels.
    let row = i32(position.y);
    let pixel = vec2i(2 * i32(position.x) + (row & 1), row);
    let here = vec2f(pixel) + frame.origin;
    let number = textureLoad(numbers, pixel * i32(SIDE) + key, 0).x;
    let slope = slope_at(here + inner);
    let spot = spot(number, slope);
    let reach = open_reach(spot.depth);
    let turn = frame.turns[2u * pattern(vec2u(here))];
    let p = vec3f(slope, 1.0) * spot.depth;
    let fade = 1.0 / (reach.y * reach.y);
    var direction = turn.xy;
    var closed = 0.0;
    // A count that is 0 where there is nothing, since a branch around the loop would be walked through.
    let bare = number == NOTHING || (number == FLOOR && floor_open(p, reach.y));
    let taps = select(OPEN_TAPS, 0u, bare);
    for (var i = 0u; i < taps; i++) {
        let to = here + 0.5 + direction * ((f32(i) + turn.z) * (reach.x / f32(OPEN_TAPS)));
        let there = floor(to);
        let inverse = textureLoad(depths, vec2i(there - frame.origin) * i32(SIDE) + key, 0).x;
        let inside = all(to >= vec2f(0.0)) && all(to < frame.size);
        let away = vec3f(slope_at(there + inner), 1.0) * (frame.near / max(inverse, 1e-30)) - p;
        let square = dot(away, away);
        let above = dot(spot.plane, away) / (sqrt(square) + OPEN_LEAST * reach.y) - OPEN_BIAS;
        closed += select(0.0, max(above, 0.0) * max(1.0 - square * fade, 0.0), inside && abs(away.z) < reach.y);
        direction = turned(direction);
    }
    let open = max(1.0 - OPEN_STRENGTH / f32(OPEN_TAPS) * closed, 0.0);
    // One word, since a fetch costs by the channel: depth to 17 bits, openness in the lowest 8.
    let depth = select(spot.depth, FAR, number == NOTHING);
    return (bitcast<u32>(depth) & 0xffffff00u) | u32(open * 255.0 + 0.5);
}
