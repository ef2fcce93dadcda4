// Light of every pixel, and its bytes: points 2 to 4, 6 and 8 of the look.

@group(1) @binding(0) var depths: texture_depth_2d;
@group(1) @binding(1) var numbers: texture_2d<u32>;
@group(1) @binding(2) var opens: texture_2d<f32>;
@group(1) @binding(3) var heights: texture_depth_2d;
@group(1) @binding(4) var veils: texture_2d<f32>;

// Samples along a side of a pixel: known when the pipeline is made, so that loops over samples unroll.
override SIDE: u32 = 1u;

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
    let inside = all(texel >= vec2f(0.0)) && all(texel < vec2f(f32(SHADOW_SIDE)));
    let map = textureLoad(heights, vec2i(texel), 0);
    let height = r.depth + dot(r.slope, texel + 0.5 - r.at) + map * r.scale + r.shift;
    return select(-1.0, height, inside && map > 0.0);
}

fn tent(x: f32) -> vec3f {
    let f = fract(x);
    return vec3f(0.5 * (1.0 - f) * (1.0 - f), 0.5 + f * (1.0 - f), 0.5 * f * f);
}

// Share of the sun that reaches p (along the world's axes) on a plane of normal n, in a pixel of this turn.
fn sun_share(p: vec3f, n: vec3f, turn: vec2f) -> f32 {
    let at = (vec2f(dot(p, frame.across), dot(p, frame.along)) - frame.corner) / frame.texel;
    let height = dot(p, frame.to_sun);
    let depth = (frame.sun_top - height) / frame.texel;
    let radius = clamp(frame.softness * depth, SHADOW_TENT, SHADOW_REACH);
    let most = f32(SHADOW_SIDE) + radius;
    if !(depth > 0.0 && all(at > vec2f(-radius)) && all(at < vec2f(most))) {
        return 1.0;
    }
    var slope = vec2f(dot(n, frame.across), dot(n, frame.along)) / max(dot(n, frame.to_sun), 1e-6);
    slope *= min(1.0, SHADOW_SLOPE / max(length(slope), 1e-6));
    let range = (frame.high - frame.low) / frame.texel;
    let r = Receiver(at, depth - SHADOW_BIAS, slope, range, (frame.low - frame.sun_top) / frame.texel);
    var sum = 0.0;
    var count = 0.0;
    for (var i = 0u; i < SHADOW_SEARCH; i++) {
        let t = frame.search[i];
        let to = vec2f(t.x * turn.x - t.y * turn.y, t.x * turn.y + t.y * turn.x) * radius;
        let distance = above(r, floor(at + to));
        sum += max(distance, 0.0);
        count += select(0.0, 1.0, distance > 0.0);
    }
    let penumbra = min(frame.softness * sum / max(count, 1.0), SHADOW_REACH);
    var dark = 0.0;
    if penumbra <= SHADOW_TENT {
        let columns = tent(at.x);
        let rows = tent(at.y);
        let first = floor(at) - 1.0;
        for (var j = 0u; j < 3u; j++) {
            for (var i = 0u; i < 3u; i++) {
                let shaded = above(r, first + vec2f(f32(i), f32(j))) > 0.0;
                dark += select(0.0, rows[j] * columns[i], shaded);
            }
        }
    } else {
        for (var i = 0u; i < SHADOW_TAPS; i++) {
            let t = frame.taps[i];
            let to = vec2f(t.x * turn.x - t.y * turn.y, t.x * turn.y + t.y * turn.x) * penumbra;
            let first = floor(at + to - 0.5);
            let part = at + to - 0.5 - first;
            let upper = mix(select(0.0, 1.0, above(r, first) > 0.0),
                select(0.0, 1.0, above(r, first + vec2f(1.0, 0.0)) > 0.0), part.x);
            let lower = mix(select(0.0, 1.0, above(r, first + vec2f(0.0, 1.0)) > 0.0),
                select(0.0, 1.0, above(r, first + vec2f(1.0, 1.0)) > 0.0), part.x);
            dark += mix(upper, lower, part.y) / f32(SHADOW_TAPS);
        }
    }
    return clamp(1.0 - dark, 0.0, 1.0);
}

// Openness for a surface at a depth, in pixel `here` of the picture.
fn openness(here: vec2f, depth: f32) -> f32 {
    let pixels = clamp(frame.open_reach * frame.focal / depth, OPEN_PIXELS_LEAST,
        max(OPEN_PIXELS_MOST * frame.size.y, OPEN_PIXELS_LEAST));
    let scale = 2.0 / (pixels * depth / frame.focal);
    var sum = 0.0;
    var weights = 0.0;
    for (var j = -1; j < 3; j++) {
        for (var i = -1; i < 3; i++) {
            let at = here + vec2f(f32(i), f32(j));
            let inside = all(at >= vec2f(0.0)) && all(at < frame.size);
            let open = textureLoad(opens, vec2i(at - frame.origin), 0).xy;
            let weight = select(0.0, max(1.0 - scale * abs(depth - open.y), 1e-3), inside);
            sum += weight * open.x;
            weights += weight;
        }
    }
    return sum / weights;
}

fn bounce(open: f32, a: vec3f) -> vec3f {
    let p = 2.0404 * a - 0.3324;
    let q = -4.7951 * a + 0.6417;
    let r = 2.7552 * a + 0.6903;
    return max(((p * open + q) * open + r) * open, vec3f(open));
}

// Light along a ray of pixel `here` from the surface of a number.
fn surface(number: u32, slope: vec2f, here: vec2f) -> vec3f {
    let down = clamp(0.5 - slope.y * frame.focal / frame.size.y, 0.0, 1.0);
    let behind = mix(frame.top, frame.foot, down);
    if number == NOTHING {
        return behind;
    }
    let spot = spot(number, slope);
    let ray = along_world(vec3f(slope, 1.0));
    let p = frame.eye + ray * spot.depth;
    var seen = 1.0;
    if number == FLOOR {
        seen = 1.0 - smoothstep(FLOOR_WHOLE, FLOOR_GONE, length(p.xy - frame.middle) / frame.floor_reach);
        if seen == 0.0 {
            return behind;
        }
    }
    let n = along_world(spot.normal);
    let plane = along_world(spot.plane);
    let slant = dot(n, frame.to_sun);
    let lit = slant > 0.0 && dot(plane, frame.to_sun) > 0.0;
    var share = 1.0;
    if (frame.flags & FLAG_SHADOWS) != 0u {
        share = 0.0;
        if lit {
            share = sun_share(p, plane, frame.turns[pattern(vec2u(here))].xy);
        }
    }
    var open = 1.0;
    if (frame.flags & FLAG_OCCLUSION) != 0u {
        open = openness(here, spot.depth);
    }
    let a = spot.colour;
    var sum = a * mix(frame.ground, frame.sky, 0.5 + 0.5 * n.z) * bounce(open, a);
    if slant > 0.0 && share > 0.0 {
        let h = frame.to_sun - normalize(ray);
        let shine = frame.gloss * pow(max(dot(n, h) * inverseSqrt(max(dot(h, h), 1e-12)), 0.0), frame.shininess);
        sum += frame.sun * share * (a * slant + shine);
    }
    return mix(behind, sum, seen);
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
    let pixel = vec2u(here - frame.origin);
    let floored = (frame.flags & FLAG_FLOOR) != 0u;
    let veiled = (frame.flags & FLAG_VEIL) != 0u;
    var number: array<u32, 16>;
    var clear: array<f32, 16>;
    var sum = vec3f(0.0);
    for (var k = 0u; k < SIDE * SIDE; k++) {
        let inner = vec2u(k % SIDE, k / SIDE);
        let sample = pixel * SIDE + inner;
        number[k] = textureLoad(numbers, sample, 0).x;
        if floored {
            let at = here + (vec2f(inner) + 0.5) / f32(SIDE);
            if floor_inverse(at) * frame.near > textureLoad(depths, sample, 0) {
                number[k] = FLOOR;
            }
        }
        clear[k] = 1.0;
        if veiled {
            let veil = textureLoad(veils, sample, 0);
            sum += veil.xyz;
            clear[k] = 1.0 - veil.w;
        }
    }
    // Samples of one surface are shaded at once, at their mean ray.
    let all_done = (1u << (SIDE * SIDE)) - 1u;
    var done = 0u;
    while done != all_done {
        var current = NOTHING;
        for (var k = 0u; k < SIDE * SIDE; k++) {
            if firstTrailingBit(~done) == k {
                current = number[k];
            }
        }
        var count = 0.0;
        var through = 0.0;
        var mean = vec2f(0.0);
        for (var k = 0u; k < SIDE * SIDE; k++) {
            if number[k] == current && (done & (1u << k)) == 0u {
                done |= 1u << k;
                count += 1.0;
                through += clear[k];
                mean += (vec2f(f32(k % SIDE), f32(k / SIDE)) + 0.5) / f32(SIDE);
            }
        }
        sum += through * surface(current, slope_at(here + mean / count), here);
    }
    let x = max(sum * (frame.exposure / f32(SIDE * SIDE)), vec3f(0.0));
    let filmic = clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), vec3f(0.0), vec3f(1.0));
    let dither = (f32(pattern(vec2u(here))) + 0.5) / 16.0;
    let bytes = clamp(floor(255.0 * srgb(filmic) + dither) / 255.0, vec3f(0.0), vec3f(1.0));
    // Targets that encode by themselves are handed what they will encode to the same bytes.
    return vec4f(select(bytes, linear(bytes), (frame.flags & FLAG_ENCODED) != 0u), 1.0);
}
