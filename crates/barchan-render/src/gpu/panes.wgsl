// Veil over every sample: glass panes, then lines, each farthest first, in premultiplied light and opacity.

@group(1) @binding(0) var depths: texture_depth_2d;

// Whether the surface of a sample leaves something at near/depth unhidden.
fn open_to(position: vec4f, inverse: f32) -> bool {
    return inverse > textureLoad(depths, vec2u(position.xy), 0);
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
    if !open_to(pane.position, pane.position.z) {
        discard;
    }
    let slope = slope_at(pane.position.xy / f32(SIDE) + frame.origin);
    let to_eye = -normalize(along_world(vec3f(slope, 1.0)));
    let slant = 1.0 - min(abs(dot(normalize(pane.normal), to_eye)), 1.0);
    let opacity = GLASS_FACE + (GLASS_EDGE - GLASS_FACE) * slant * slant * slant;
    return vec4f(pane.tint * (frame.sky + 0.3 * frame.sun) * opacity, opacity);
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
