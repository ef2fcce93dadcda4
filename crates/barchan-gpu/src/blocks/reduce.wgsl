// Sums of rows of four numbers in a fixed order: each workgroup 256 rows, as a tree, until one is left.
struct Size { n: u32, columns: u32, b: u32, c: u32 };
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> rows: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4<f32>>;

var<workgroup> partial: array<vec4<f32>, 256>;

// Row r of column c stands at r · columns + c.
@compute @workgroup_size(256)
fn reduce(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let group = w.y * wide.x + w.x;
    let at = group * 256u + t;
    for (var c = 0u; c < size.columns; c++) {
        var own = vec4<f32>(0.0);
        if (at < size.n) { own = rows[at * size.columns + c]; }
        partial[t] = own;
        workgroupBarrier();
        for (var half = 128u; half > 0u; half /= 2u) {
            if (t < half) { partial[t] += partial[t + half]; }
            workgroupBarrier();
        }
        if (t == 0u && group * 256u < max(size.n, 1u)) { sums[group * size.columns + c] = partial[0]; }
        workgroupBarrier();
    }
}
