// Veil over every sample: glass panes, then spray, then lines, each farthest first, in premultiplied light and opacity.

@group(1) @binding(0) var depths: texture_2d<f32>;

// Whether the surface of a sample leaves something at near/depth unhidden.
fn open_to(position: vec4f, inverse: f32) -> bool {
    return inverse > textureLoad(depths, vec2u(position.xy), 0).x;
}

struct Pane {
    @builtin(position) position: vec4f,
    @location(0) normal: vec3f,
    @location(1) @interpolate(flat) tint: vec3f,
}

@vertex
fn pane_vertex(@location(0) p: vec3f, @location(1) normal: vec3f, @location(2) tint: vec3f) -> Pane {
    return Pane(clip(before_eye(p)), normal, tint);
}

@fragment
fn pane_fragment(pane: Pane) -> @location(0) vec4f {
    if !open_to(pane.position, frame.near * pane.position.w) {
        discard;
    }
    let slope = slope_at(pane.position.xy / f32(SIDE) + frame.origin);
    let to_eye = -normalize(along_world(vec3f(slope, 1.0)));
    let slant = 1.0 - min(abs(dot(normalize(pane.normal), to_eye)), 1.0);
    let opacity = GLASS_FACE + (GLASS_EDGE - GLASS_FACE) * slant * slant * slant;
    return vec4f(pane.tint * (frame.sky + 0.3 * frame.sun) * opacity, opacity);
}

struct Puff {
    @builtin(position) position: vec4f,
    @location(0) at: vec2f,
    // Depth of the middle and radius [m], optical depth.
    @location(1) @interpolate(flat) ball: vec3f,
    @location(2) @interpolate(flat) colour: vec3f,
}

// `at`: corner of the square around the puff [pixels]; `corner`: the same from its middle [radii].
@vertex
fn puff_vertex(@location(0) at: vec2f, @location(1) corner: vec2f, @location(2) ball: vec3f, @location(3) colour: vec3f) -> Puff {
    let tile = 2.0 * (at - frame.origin) / frame.tile - 1.0;
    return Puff(vec4f(tile.x, -tile.y, 0.5, 1.0), corner, ball, colour);
}

@fragment
fn puff_fragment(puff: Puff) -> @location(0) vec4f {
    let round = max(1.0 - dot(puff.at, puff.at), 0.0);
    let inverse = textureLoad(depths, vec2u(puff.position.xy), 0).x;
    let behind = (frame.near / max(inverse, 1e-30) - puff.ball.x) / puff.ball.y;
    let soft = clamp(0.5 + 0.5 * behind, 0.0, 1.0);
    let share = 1.0 - exp(-puff.ball.z * round * round * soft);
    if share <= 0.0 {
        discard;
    }
    return vec4f(puff.colour * share, share);
}

struct Stroke {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) ends: vec4f,
    @location(1) @interpolate(flat) inverse: vec3f,
    @location(2) @interpolate(flat) colour: vec4f,
}

// `at`: corner of the rectangle around the line [pixels]; `inverse`: 1/depth of the ends [1/m], width [pixels].
@vertex
fn stroke_vertex(@location(0) at: vec2f, @location(1) ends: vec4f, @location(2) inverse: vec3f,
                 @location(3) colour: vec4f) -> Stroke {
    let tile = 2.0 * (at - frame.origin) / frame.tile - 1.0;
    return Stroke(vec4f(tile.x, -tile.y, 0.5, 1.0), ends, inverse, colour);
}

@fragment
fn stroke_fragment(stroke: Stroke) -> @location(0) vec4f {
    let p = stroke.position.xy / f32(SIDE) + frame.origin;
    let a = stroke.ends.xy;
    let along = stroke.ends.zw - a;
    let part = clamp(dot(p - a, along) / max(dot(along, along), 1e-37), 0.0, 1.0);
    let width = stroke.inverse.z;
    let drawn = max(width, 1.0);
    let share = clamp(0.5 * drawn + 0.5 - length(p - a - along * part), 0.0, 1.0) * (width / drawn) * stroke.colour.w;
    let inverse = mix(stroke.inverse.x, stroke.inverse.y, part) * frame.near / (1.0 - LINE_LIFT);
    if share <= 0.0 || !open_to(stroke.position, inverse) {
        discard;
    }
    return vec4f(stroke.colour.xyz * share, share);
}
