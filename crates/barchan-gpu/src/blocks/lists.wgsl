// Who may touch whom: cells of 2^28 quanta, and for every ball the list of all others within reach.
struct Size { n: u32, stride: u32, bits: u32, skin: u32 };
@group(0) @binding(0) var<uniform> size: Size;
// Of each ball at i · stride: low words of the place and the radius, in quanta; then the high words of the place.
@group(0) @binding(1) var<storage, read> balls: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> keys: array<u32>;
@group(0) @binding(3) var<storage, read_write> order: array<u32>;
// Of each key, where its balls begin and end in `order`.
@group(0) @binding(4) var<storage, read_write> ranges: array<vec2<u32>>;
// Of each ball, how many are near; after a scan, where its list begins.
@group(0) @binding(5) var<storage, read_write> starts: array<u32>;
@group(0) @binding(6) var<storage, read_write> partners: array<u32>;

fn cell_of(i: u32) -> vec3<i32> {
    let low = balls[i * size.stride].xyz;
    let high = bitcast<vec3<i32>>(balls[i * size.stride + 1u].xyz);
    return (high << vec3<u32>(4u)) | bitcast<vec3<i32>>(low >> vec3<u32>(28u));
}

// The lowest bits of the three coordinates in turn: neighbours in space are neighbours in the order. Cells far apart may share a key.
fn key_of(cell: vec3<i32>) -> u32 {
    let c = bitcast<vec3<u32>>(cell);
    var key = 0u;
    for (var b = 0u; b < size.bits; b++) {
        key |= ((c[b % 3u] >> (b / 3u)) & 1u) << b;
    }
    return key;
}

@compute @workgroup_size(64)
fn key(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * wide.x + w.x) * 64u + t;
    if (i >= size.n) { return; }
    keys[i] = key_of(cell_of(i));
    order[i] = i;
}

@compute @workgroup_size(64)
fn range(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let p = (w.y * wide.x + w.x) * 64u + t;
    if (p >= size.n) { return; }
    let own = keys[p];
    if (p == 0u || keys[p - 1u] != own) { ranges[own].x = p; }
    if (p + 1u == size.n || keys[p + 1u] != own) { ranges[own].y = p + 1u; }
}

fn visit(i: u32, fills: bool) -> u32 {
    let own = balls[i * size.stride];
    let cell = cell_of(i);
    var found = 0u;
    var at = 0u;
    if (fills) { at = starts[i]; }
    for (var k = 0; k < 27; k++) {
        let asked = cell + vec3<i32>(k % 3 - 1, (k / 3) % 3 - 1, k / 9 - 1);
        let span = ranges[key_of(asked)];
        for (var p = span.x; p < span.y; p++) {
            let j = order[p];
            // Each ball counts in its own cell alone, whatever else shares the key.
            if (j == i || any(cell_of(j) != asked)) { continue; }
            let other = balls[j * size.stride];
            let d = vec3<f32>(bitcast<vec3<i32>>(other.xyz - own.xyz));
            // Rounding must not lose a pair: a millionth more.
            let reach = f32(own.w + other.w + size.skin) * 1.000001;
            if (dot(d, d) < reach * reach) {
                if (fills) { partners[at + found] = j; }
                found++;
            }
        }
    }
    return found;
}

@compute @workgroup_size(64)
fn count(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * wide.x + w.x) * 64u + t;
    if (i < size.n) { starts[i] = visit(i, false); }
    if (i == size.n) { starts[i] = 0u; }
}

@compute @workgroup_size(64)
fn fill(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * wide.x + w.x) * 64u + t;
    if (i < size.n) { visit(i, true); }
}
