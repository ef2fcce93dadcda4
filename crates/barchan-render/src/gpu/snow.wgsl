// Snow: point 10 of the look, function by function those of look/snow.rs.

fn cell_share(cell: vec3i, salt: u32) -> f32 {
    let c = vec3u(cell);
    var h = (c.x * 0x9e3779b9u) ^ (c.y * 0x85ebca6bu) ^ (c.z * 0xc2b2ae35u) ^ (salt * 0x27d4eb2fu);
    h = (h ^ (h >> 16u)) * 0x85ebca6bu;
    h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
    return f32((h ^ (h >> 16u)) >> 8u) / 16777216.0;
}

fn noise_gradient(p: vec3f, salt: u32) -> vec3f {
    let low = floor(p);
    let f = p - low;
    let u = f * f * (3.0 - 2.0 * f);
    let rise = 6.0 * f * (1.0 - f);
    var sum = vec3f(0.0);
    for (var k = 0; k < 8; k++) {
        let corner = vec3i(k & 1, (k >> 1u) & 1, k >> 2u);
        let value = 2.0 * cell_share(vec3i(low) + corner, salt) - 1.0;
        let far = vec3f(corner);
        let weight = far * u + (1.0 - far) * (1.0 - u);
        sum += value * (2.0 * far - 1.0) * rise * weight.yxx * weight.zzy;
    }
    return sum;
}

fn bump(q: vec3f, n: vec3f, pixel: f32) -> vec3f {
    var sum = vec3f(0.0);
    for (var k = 0u; k < 2u; k++) {
        let length = select(BUMP_COARSE, BUMP_FINE, k == 1u) * frame.snow.x;
        let seen = smoothstep(BUMP_FAINT, BUMP_WHOLE, length / pixel);
        if seen > 0.0 {
            sum += seen * noise_gradient(q / length, 77u + k);
        }
    }
    sum *= BUMP * frame.snow.y;
    return sum - n * dot(n, sum);
}

fn glint(q: vec3f, h: vec3f, octave: i32) -> f32 {
    let width = bitcast<f32>(u32(clamp(octave + 127, 1, 254)) << 23u);
    let cell = vec3i(floor(q / width + MOTTLE_START));
    let z = 2.0 * cell_share(cell, 2u * u32(octave) + 1001u) - 1.0;
    let turn = 6.2831855 * cell_share(cell, 2u * u32(octave) + 1002u);
    let facet = vec3f(vec2f(cos(turn), sin(turn)) * sqrt(max(1.0 - z * z, 0.0)), z);
    return select(0.0, 1.0 / GLINT, abs(dot(facet, h)) > 1.0 - GLINT);
}

fn glitter(q: vec3f, h: vec3f, pixel: f32) -> f32 {
    let level = log2(max(GLINT_PIXELS * pixel, 1e-9));
    let octave = floor(level);
    return glint(q, h, i32(octave)) * (1.0 - (level - octave)) + glint(q, h, i32(octave) + 1) * (level - octave);
}

// Light from snow: `q` in the material's frame, the rest as in `surface`.
fn shade_snow(q: vec3f, still: f32, pixel: f32, a: vec3f, n: vec3f, ray: vec3f, sun_share: f32, open: f32) -> vec3f {
    let to_eye = -normalize(ray);
    let rough = n + bump(q, n, pixel / max(dot(n, to_eye), 0.2)) * still;
    let slant = dot(rough, frame.to_sun);
    let share = select(0.0, sun_share, dot(n, frame.to_sun) > 0.0);
    let around = mix(frame.ground, frame.sky, clamp(0.5 + 0.5 * rough.z, 0.0, 1.0));
    var sum = a * around * bounce(open, a) * mix(vec3f(SHADE_RED, SHADE_GREEN, SHADE_BLUE), vec3f(1.0), share);
    if slant > 0.0 && share > 0.0 {
        let half = frame.to_sun + to_eye;
        let h = half * inverseSqrt(max(dot(half, half), 1e-12));
        var glints = 1.0;
        if frame.snow.z > 0.0 {
            glints = glitter(q, h, pixel);
        }
        let sheen = SHEEN * pow(max(dot(n, h), 0.0), SHEEN_POWER) * (1.0 + frame.snow.z * (glints - 1.0));
        sum += frame.sun * share * (a * (slant * (1.0 + FLAT) / (slant + FLAT)) + sheen);
    }
    return sum;
}
