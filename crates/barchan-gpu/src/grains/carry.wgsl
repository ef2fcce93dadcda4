// What pairs remember goes from the old lists to the new ones, partner by partner.
struct Size { n: u32, memory: u32, a: u32, b: u32 };
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> record: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> old_starts: array<u32>;
@group(0) @binding(3) var<storage, read> old_partners: array<u32>;
@group(0) @binding(4) var<storage, read> old_kept: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> starts: array<u32>;
@group(0) @binding(6) var<storage, read> partners: array<u32>;
@group(0) @binding(7) var<storage, read_write> kept: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> anchor: array<vec4<u32>>;

@compute @workgroup_size(64)
fn carry(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * wide.x + w.x) * 64u + t;
    if (i >= size.n) { return; }
    anchor[i] = record[4u * i];
    for (var at = starts[i]; at < starts[i + 1u]; at++) {
        var slide = vec4<f32>(0.0);
        var roll = vec4<f32>(0.0);
        for (var old = old_starts[i]; old < old_starts[i + 1u]; old++) {
            if (old_partners[old] == partners[at]) {
                slide = old_kept[old * size.memory];
                if (size.memory > 1u) { roll = old_kept[old * size.memory + 1u]; }
            }
        }
        kept[at * size.memory] = slide;
        if (size.memory > 1u) { kept[at * size.memory + 1u] = roll; }
    }
}
