// What every pass knows. Points are given along the camera's axes (x right, y up, z the depth) or the world's; a ray runs
// along (slope.x, slope.y, 1). Depth buffers hold near/depth: 1 at the near plane, 0 infinitely far.

struct Frame {
    right: vec3f, near: f32,
    up: vec3f, focal: f32,
    ahead: vec3f, softness: f32,
    eye: vec3f, open_reach: f32,
    // Pixels of the picture; first pixel of the tile in it.
    size: vec2f, origin: vec2f,
    // Pixels of the tile; 1/depth of the floor at pixel (x, y) of the picture is floor_slope·(x, y) + floor_start.
    tile: vec2f, floor_slope: vec2f,
    floor_colour: vec3f, floor_start: f32,
    // Middle of the grains on the ground, reach of the floor's fading; height of the floor.
    middle: vec2f, floor_reach: f32, floor_height: f32,
    // The sun's map (see look::SunMap): corner and texel [m], heights of depth 0 and 1, below its texels along a side.
    across: vec3f, texel: f32,
    along: vec3f, low: f32,
    to_sun: vec3f, high: f32,
    corner: vec2f, sun_top: f32, facet_first: u32,
    sun: vec3f, gloss: f32,
    sky: vec3f, shininess: f32,
    ground: vec3f, exposure: f32,
    top: vec3f, side: f32,
    foot: vec3f, spare: f32,
    // Grain, bump and glitter of snow; reach and fall of fog.
    snow: vec4f,
    fog: vec4f,
    // Corners of the rectangle on the ground that holds all matter.
    footprint: vec4f,
    // Corners of the rectangle of the sun's map that holds all that casts a shadow [texels].
    casters: vec4f,
    // Cosine and sine of look::turn for each number of the pattern, and look::open_between of half the number.
    turns: array<vec4f, 16>,
}

// What a picture has and asks for, known when the pipeline is made: a software driver walks through branches not taken.
override SHADOWS: bool = true;
override OCCLUSION: bool = true;
override FACETS: bool = true;
override GROUND: bool = true;
override VEIL: bool = true;
override SNOW: bool = true;
override FOG: bool = true;
// The target turns linear light into sRGB by itself.
override ENCODED: bool = false;
// Samples along a side of a pixel.
override SIDE: u32 = 1u;

// Numbers of surfaces: spheres from 1, triangles with the highest bit.
const NOTHING = 0u;
const FLOOR = 0x7fffffffu;
const FACET = 0x80000000u;

@group(0) @binding(0) var<uniform> frame: Frame;
// Spheres, two texels each: centre and radius, colour and row; from `facet_first` triangles, seven each: corners with a channel
// of the colour, normals, the first with the diameter of a ground's grains, the second with a 1 if each corner has a colour of its own;
// then what it is fixed to, and how much of its bumps is seen.
@group(0) @binding(1) var solids: texture_2d<f32>;

fn solid(texel: u32) -> vec4f {
    return textureLoad(solids, vec2u(texel % TEXELS_A_ROW, texel / TEXELS_A_ROW), 0);
}

// Corner of a triangle.
fn facet(vertex: u32) -> vec3f {
    return solid(frame.facet_first + vertex / 3u * 7u + vertex % 3u).xyz;
}

fn before_eye(p: vec3f) -> vec3f {
    let q = p - frame.eye;
    return vec3f(dot(q, frame.right), dot(q, frame.up), dot(q, frame.ahead));
}

fn along_world(v: vec3f) -> vec3f {
    return v.x * frame.right + v.y * frame.up + v.z * frame.ahead;
}

// Clip coordinates of a point before the eye, in the tile.
fn clip(p: vec3f) -> vec4f {
    let scale = 2.0 * frame.focal / frame.tile;
    let shift = (frame.size - 2.0 * frame.origin) / frame.tile - 1.0;
    return vec4f(p.x * scale.x + p.z * shift.x, p.y * scale.y - p.z * shift.y, frame.near, p.z);
}

// Clip coordinates of a point in the sun's map.
fn clip_sun(p: vec3f) -> vec4f {
    let at = (vec2f(dot(p, frame.across), dot(p, frame.along)) - frame.corner) / (frame.texel * frame.side);
    let height = (dot(p, frame.to_sun) - frame.low) / (frame.high - frame.low);
    return vec4f(2.0 * at.x - 1.0, 1.0 - 2.0 * at.y, height, 1.0);
}

// Corner of the square around the unit circle: two triangles, six vertices.
fn square(vertex: u32) -> vec2f {
    let c = vertex % 6u;
    return vec2f(select(-1.0, 1.0, c == 1u || c == 3u || c == 4u), select(-1.0, 1.0, c == 2u || c == 4u || c == 5u));
}

// A vertex of a triangle that is not drawn.
const UNSEEN = vec4f(0.0, 0.0, -1.0, 1.0);

fn slope_at(pixel: vec2f) -> vec2f {
    return vec2f(pixel.x - 0.5 * frame.size.x, 0.5 * frame.size.y - pixel.y) / frame.focal;
}

fn pattern(pixel: vec2u) -> u32 {
    // look::PATTERN, bit by bit: Bayer's matrix interleaves the bits of x ^ y and y.
    let a = pixel.x ^ pixel.y;
    return ((a & 1u) << 3u) | ((pixel.y & 1u) << 2u) | (a & 2u) | ((pixel.y & 2u) >> 1u);
}

struct Spot {
    depth: f32,
    // Along the camera's axes.
    normal: vec3f,
    plane: vec3f,
    colour: vec3f,
    // Diameter of the grains it is made of, if it is ground, below 0 for a smooth one, else 0.
    grain: f32,
    // What it is fixed to, along the world's axes, and how much of its bumps is seen.
    anchor: vec4f,
}

// A colour that came as one number: scene::packed.
fn unpacked(colour: f32) -> vec3f {
    let bits = u32(colour);
    let roots = vec3f(f32(bits >> 16u), f32((bits >> 8u) & 255u), f32(bits & 255u)) / 255.0;
    return roots * roots;
}

// The surface with this number along a ray that meets it; anything for NOTHING.
fn spot(number: u32, slope: vec2f) -> Spot {
    let ray = vec3f(slope, 1.0);
    let round = number != NOTHING && number < FLOOR;
    let flat = FACETS && (number & FACET) != 0u;
    // A counted loop fetches no more than the pixels around need; a branch would be walked through by a software driver.
    var t0 = vec4f(0.0, 0.0, 0.0, 1.0);
    var t1 = vec4f(0.0);
    var t2 = vec4f(0.0);
    var n0 = vec3f(0.0);
    var n1 = vec3f(0.0);
    var n2 = vec3f(0.0);
    var grain = 0.0;
    var differ = 0.0;
    var anchor = vec4f(0.0, 0.0, 0.0, 1.0);
    let first = select(2u * (number - 1u), frame.facet_first + 7u * (number & ~FACET), flat);
    let count = select(select(0u, 2u, round), select(6u, 7u, SNOW), flat);
    for (var k = 0u; k < count; k++) {
        let t = solid(first + k);
        t0 = select(t0, t, k == 0u);
        t1 = select(t1, t, k == 1u);
        if FACETS {
            t2 = select(t2, t, k == 2u);
            n0 = select(n0, t.xyz, k == 3u);
            n1 = select(n1, t.xyz, k == 4u);
            n2 = select(n2, t.xyz, k == 5u);
            grain = select(grain, t.w, k == 3u);
            differ = select(differ, t.w, k == 4u);
            anchor = select(anchor, t, k == 6u);
        }
    }
    // The ray passes the plane of the centre's depth at e from the centre; e is as small as the sphere, so nothing cancels
    // however far away the sphere is [cf. Haines et al. 2019, Precision improvements for ray/sphere intersection].
    let p0 = before_eye(t0.xyz);
    let e = slope * p0.z - p0.xy;
    let a = dot(ray, ray);
    let h = dot(slope, e);
    let s = -(h + sqrt(max(h * h - a * (dot(e, e) - t0.w * t0.w), 0.0))) / a;
    let normal = normalize(ray * s + vec3f(e, 0.0));
    var spot = Spot(p0.z + s, normal, normal, t1.xyz, 0.0, vec4f(t0.xyz, 0.0));
    if FACETS {
        let p1 = before_eye(t1.xyz);
        let p2 = before_eye(t2.xyz);
        var plane = normalize(cross(normalize(p1 - p0), normalize(p2 - p0)));
        plane = select(plane, -plane, dot(plane, ray) > 0.0);
        // Shares of the corners from the volumes the ray cuts off.
        let shares = vec3f(dot(ray, cross(p1, p2)), dot(ray, cross(p2, p0)), dot(ray, cross(p0, p1)));
        let sum = shares.x * n0 + shares.y * n1 + shares.z * n2;
        var normal = vec3f(dot(sum, frame.right), dot(sum, frame.up), dot(sum, frame.ahead));
        let length = length(normal);
        normal = select(plane, normal / length, length > 0.0);
        normal = select(normal, -normal, dot(normal, plane) < 0.0);
        if flat {
            var colour = vec3f(t0.w, t1.w, t2.w);
            if differ > 0.0 {
                let mixed = shares.x * unpacked(t0.w) + shares.y * unpacked(t1.w) + shares.z * unpacked(t2.w);
                colour = clamp(mixed / (shares.x + shares.y + shares.z), vec3f(0.0), vec3f(1.0));
            }
            spot = Spot(dot(plane, p0) / dot(plane, ray), normal, plane, colour, grain, anchor);
        }
    }
    if number == FLOOR {
        let up = vec3f(frame.right.z, frame.up.z, frame.ahead.z);
        spot = Spot((frame.floor_height - frame.eye.z) / dot(up, ray), up, up, frame.floor_colour, 0.0, vec4f(0.0, 0.0, 0.0, 1.0));
    }
    return spot;
}

// The next tap of a spiral [Vogel 1979] has this direction.
fn turned(direction: vec2f) -> vec2f {
    return vec2f(direction.x * GOLDEN_COS - direction.y * GOLDEN_SIN, direction.x * GOLDEN_SIN + direction.y * GOLDEN_COS);
}

// Reach of the openness at a depth: pixels and, what that is there, metres.
fn open_reach(depth: f32) -> vec2f {
    let pixels = clamp(frame.open_reach * frame.focal / depth, OPEN_PIXELS_LEAST,
        max(OPEN_PIXELS_MOST * frame.size.y, OPEN_PIXELS_LEAST));
    return vec2f(pixels, pixels * depth / frame.focal);
}

// Whether nothing closes off the floor at a point, along the camera's axes, since all is out of reach.
fn floor_open(p: vec3f, reach: f32) -> bool {
    let at = frame.eye.xy + along_world(p).xy;
    return any(at + reach < frame.footprint.xy) || any(at - reach > frame.footprint.zw);
}

// Share of a surface's light that fog leaves: look::fog_share.
fn fog_share(distance: f32, above: f32) -> f32 {
    let d = clamp(above / max(frame.fog.y, 1e-20), -20.0, 80.0);
    let thin = select(1.0, select((1.0 - exp(-d)) / d, 1.0 - 0.5 * d, abs(d) < 1e-3), frame.fog.y > 0.0);
    let depth = distance / frame.fog.x * thin;
    return exp(-depth * depth);
}
