// Light of every pixel, and its bytes: points 2 to 4, 6, 7 and 9 of the look.

@group(1) @binding(0) var numbers: texture_2d<u32>;
@group(1) @binding(1) var opens: texture_2d<u32>;
@group(1) @binding(2) var heights: texture_2d<f32>;
@group(1) @binding(3) var veils: texture_2d<f32>;
@group(1) @binding(4) var nearest: sampler;

@vertex
fn whole(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4f {
    return vec4f(f32(vertex & 1u) * 4.0 - 1.0, f32(vertex >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// A point that may be in shadow, and its tangent plane [texels].
struct Receiver {
    at: vec2f,
    depth: f32,
    slope: vec2f,
    // From the map's numbers to depths counted from the highest thing.
    scale: f32,
    shift: f32,
}

// How far the map stands above the tangent plane in a texel; not positive outside the map.
fn above(r: Receiver, texel: vec2f) -> f32 {
    let inside = all(texel >= vec2f(0.0)) && all(texel < vec2f(frame.side));
    let map = textureLoad(heights, vec2i(texel), 0).x;
    let height = r.depth + dot(r.slope, texel + 0.5 - r.at) + map * r.scale + r.shift;
    return select(-1.0, height, inside && map > 0.0);
}

// Where the map stands above the tangent plane, 1, else 0, in four texels from `first` on: upper left, upper right, lower left,
// lower right.
fn shaded(r: Receiver, first: vec2f) -> vec4f {
    let map = textureGather(0, heights, nearest, (first + 1.0) / frame.side).wzxy;
    let start = r.depth + dot(r.slope, first + 0.5 - r.at) + r.shift;
    let height = start + vec4f(0.0, r.slope.x, r.slope.y, r.slope.x + r.slope.y) + map * r.scale;
    let inside = all(first > vec2f(-1.5)) && all(first < vec2f(frame.side - 0.5));
    return select(vec4f(0.0), vec4f(1.0), (height > vec4f(0.0)) & (map > vec4f(0.0)) & vec4<bool>(inside));
}

// Weight of a texel at a distance [texels] along a side of the tent: the quadratic B-spline.
fn tent(distance: f32) -> f32 {
    let d = abs(distance);
    return select(0.5 * (1.5 - d) * (1.5 - d), 0.75 - d * d, d < 0.5);
}

// Share of the sun that reaches p (along the world's axes) on a plane of normal n, in a pixel of this turn. Loops are counted
// for each lane, since a software driver walks through branches not taken but leaves loops when all lanes are done.
fn sun_share(p: vec3f, n: vec3f, turn: vec2f, lit: bool) -> f32 {
    let at = (vec2f(dot(p, frame.across), dot(p, frame.along)) - frame.corner) / frame.texel;
    let depth = (frame.sun_top - dot(p, frame.to_sun)) / frame.texel;
    let radius = clamp(frame.softness * depth, SHADOW_TENT, SHADOW_REACH);
    // Taps read texels that begin up to two beyond the disc.
    let over = lit && depth > 0.0 && all(at + radius + 2.0 > frame.casters.xy) && all(at - radius - 2.0 < frame.casters.zw);
    var slope = vec2f(dot(n, frame.across), dot(n, frame.along)) / max(dot(n, frame.to_sun), 1e-6);
    let steep = length(slope);
    slope *= min(1.0, SHADOW_SLOPE / max(steep, 1e-6));
    let bias = SHADOW_BIAS + SHADOW_TENT * max(steep - SHADOW_SLOPE, 0.0);
    let range = (frame.high - frame.low) / frame.texel;
    let r = Receiver(at, depth - bias, slope, range, (frame.low - frame.sun_top) / frame.texel);
    var sum = 0.0;
    var count = 0.0;
    var direction = turn;
    let search = select(0u, SHADOW_SEARCH, over);
    for (var i = 0u; i < search; i++) {
        let to = direction * (radius * sqrt((f32(i) + 0.5) / f32(SHADOW_SEARCH)));
        let distance = above(r, floor(at + to));
        sum += max(distance, 0.0);
        count += select(0.0, 1.0, distance > 0.0);
        direction = turned(direction);
    }
    let penumbra = min(frame.softness * sum / max(count, 1.0), SHADOW_REACH);
    let wide = penumbra > SHADOW_TENT;
    var dark = 0.0;
    // 3×3 texels: two times two fetches, the last column and row of which have no weight.
    let first = floor(at) - 1.0;
    let x = first.x + 0.5 - at.x;
    let y = first.y + 0.5 - at.y;
    let halves = select(0u, 2u, over && !wide);
    for (var j = 0u; j < halves; j++) {
        let down = f32(2u * j);
        let left = shaded(r, first + vec2f(0.0, down));
        let right = shaded(r, first + vec2f(2.0, down));
        let columns = vec3f(tent(x), tent(x + 1.0), tent(x + 2.0));
        let upper = dot(columns, vec3f(left.xy, right.x));
        let lower = dot(columns, vec3f(left.zw, right.z));
        dark += tent(y + down) * upper + select(tent(y + 1.0), 0.0, j == 1u) * lower;
    }
    direction = turn;
    let taps = select(0u, SHADOW_TAPS, over && wide);
    for (var i = 0u; i < taps; i++) {
        let corner = at + direction * (penumbra * sqrt((f32(i) + 0.5) / f32(SHADOW_TAPS))) - 0.5;
        let first = floor(corner);
        let part = corner - first;
        let four = shaded(r, first);
        let upper = mix(four.x, four.y, part.x);
        let lower = mix(four.z, four.w, part.x);
        dark += mix(upper, lower, part.y) / f32(SHADOW_TAPS);
        direction = turned(direction);
    }
    return select(0.0, clamp(1.0 - dark, 0.0, 1.0), lit);
}

// Openness for a surface at a depth, in pixel `here` of the picture.
fn openness(here: vec2f, depth: f32, seen: bool) -> f32 {
    let scale = 2.0 / open_reach(depth).y;
    var sum = 0.0;
    var weights = 0.0;
    let size = vec2f(textureDimensions(opens));
    let first = vec2f(floor(0.5 * (here.x - frame.origin.x - 1.0)), here.y - frame.origin.y - 1.0);
    let halves = select(0u, 2u, seen);
    for (var i = 0u; i < halves; i++) {
        // Four at once; beyond the edge of the picture they are those of the edge again.
        let corner = first + vec2f(1.0, 1.0 + f32(2u * i));
        let open = textureGather(0, opens, nearest, corner / size);
        let others = bitcast<vec4f>(open & vec4u(0xffffff00u));
        let weight = max(1.0 - scale * abs(depth - others), vec4f(1e-3));
        sum += dot(weight, vec4f(open & vec4u(0xffu)));
        weights += dot(weight, vec4f(255.0));
    }
    return select(1.0, sum / max(weights, 1e-20), seen);
}

fn bounce(open: f32, a: vec3f) -> vec3f {
    let p = 2.0404 * a - 0.3324;
    let q = -4.7951 * a + 0.6417;
    let r = 2.7552 * a + 0.6903;
    return max(((p * open + q) * open + r) * open, vec3f(open));
}

// Light of the ground at p over its mean: look::mottle.
fn mottle(p: vec3f, diameter: f32, width: f32) -> f32 {
    let c = vec3u(vec3i(floor(p / diameter + MOTTLE_START)));
    var h = (c.x * 0x9e3779b9u) ^ (c.y * 0x85ebca6bu) ^ (c.z * 0xc2b2ae35u);
    h = (h ^ (h >> 16u)) * 0x85ebca6bu;
    h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
    let share = f32(h ^ (h >> 16u)) / 4294967296.0;
    let seen = smoothstep(MOTTLE_FAINT, MOTTLE_WHOLE, width) * (1.0 - smoothstep(MOTTLE_FADING, MOTTLE_GONE, width));
    return 1.0 + MOTTLE * seen * (2.0 * share - 1.0);
}

// Light along a ray of pixel `here` from the surface of a number.
fn surface(number: u32, slope: vec2f, here: vec2f) -> vec3f {
    let down = clamp(0.5 - slope.y * frame.focal / frame.size.y, 0.0, 1.0);
    let behind = mix(frame.top, frame.foot, down);
    let spot = spot(number, slope);
    let ray = along_world(vec3f(slope, 1.0));
    let p = frame.eye + ray * spot.depth;
    var seen = select(1.0, 0.0, number == NOTHING);
    if number == FLOOR {
        seen = 1.0 - smoothstep(FLOOR_WHOLE, FLOOR_GONE, length(p.xy - frame.middle) / frame.floor_reach);
    }
    let n = along_world(spot.normal);
    let plane = along_world(spot.plane);
    let slant = dot(n, frame.to_sun);
    let lit = slant > 0.0 && dot(plane, frame.to_sun) > 0.0 && seen > 0.0;
    var share = 1.0;
    if SHADOWS {
        let lift = select(0.0, GROUND_LIFT * frame.texel, GROUND && spot.grain != 0.0);
        share = sun_share(p + frame.to_sun * lift, plane, frame.turns[pattern(vec2u(here))].xy, lit);
    }
    var open = 1.0;
    if OCCLUSION {
        let bare = number == FLOOR && floor_open(vec3f(slope, 1.0) * spot.depth, open_reach(spot.depth).y);
        open = openness(here, spot.depth, seen > 0.0 && !bare);
    }
    var a = spot.colour;
    if GROUND {
        a *= select(1.0, mottle(p, spot.grain, spot.grain * frame.focal / spot.depth), spot.grain > 0.0);
    }
    var sum = a * mix(frame.ground, frame.sky, 0.5 + 0.5 * n.z) * bounce(open, a);
    if slant > 0.0 && share > 0.0 {
        let h = frame.to_sun - normalize(ray);
        let shine = frame.gloss * pow(max(dot(n, h) * inverseSqrt(max(dot(h, h), 1e-12)), 0.0), frame.shininess);
        sum += frame.sun * share * (a * slant + shine);
    }
    if SNOW {
        let snowy = smoothstep(SNOWY_NONE, SNOWY_WHOLE, min(min(a.x, a.y), a.z));
        if snowy > 0.0 {
            let q = p - spot.anchor.xyz;
            let white = shade_snow(q, spot.anchor.w, spot.depth / frame.focal, a, n, ray, share, open);
            sum = mix(sum, white, snowy);
        }
    }
    if FOG {
        let way = ray * spot.depth;
        sum = mix(behind, sum, fog_share(length(way), way.z));
    }
    return select(behind, mix(behind, sum, seen), seen > 0.0);
}

fn srgb(x: vec3f) -> vec3f {
    return select(1.055 * pow(x, vec3f(1.0 / 2.4)) - 0.055, 12.92 * x, x <= vec3f(0.0031308));
}

fn linear(x: vec3f) -> vec3f {
    return select(pow((x + 0.055) / 1.055, vec3f(2.4)), x / 12.92, x <= vec3f(0.04045));
}

@fragment
fn light_fragment(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let here = floor(position.xy);
    let first = vec2u(here - frame.origin) * SIDE;
    var sum = vec3f(0.0);
    // Samples of one surface are shaded at once, at their mean ray.
    var done = 0u;
    while done != (1u << (SIDE * SIDE)) - 1u {
        let lead = firstTrailingBit(~done);
        let current = textureLoad(numbers, first + vec2u(lead % SIDE, lead / SIDE), 0).x;
        var count = 0.0;
        var clear = 0.0;
        var mean = vec2f(0.0);
        for (var k = lead; k < SIDE * SIDE; k++) {
            let inner = vec2u(k % SIDE, k / SIDE);
            if textureLoad(numbers, first + inner, 0).x == current {
                done |= 1u << k;
                count += 1.0;
                mean += vec2f(inner);
                if VEIL {
                    let veil = textureLoad(veils, first + inner, 0);
                    sum += veil.xyz;
                    clear += 1.0 - veil.w;
                } else {
                    clear += 1.0;
                }
            }
        }
        sum += clear * surface(current, slope_at(here + (mean / count + 0.5) / f32(SIDE)), here);
    }
    let x = max(sum * (frame.exposure / f32(SIDE * SIDE)), vec3f(0.0));
    let filmic = clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), vec3f(0.0), vec3f(1.0));
    let dither = (f32(pattern(vec2u(here))) + 0.5) / 16.0;
    let bytes = clamp(floor(255.0 * srgb(filmic) + dither) / 255.0, vec3f(0.0), vec3f(1.0));
    // Targets that encode by themselves are handed what they will encode to the same bytes.
    if ENCODED {
        return vec4f(linear(bytes), 1.0);
    }
    return vec4f(bytes, 1.0);
}
