// Exclusive prefix sums of whole numbers, 1,024 to a workgroup; sums of workgroups are scanned in turn, then added.
struct Size { n: u32, a: u32, b: u32, c: u32 };
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read_write> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

var<workgroup> partial: array<u32, 256>;

@compute @workgroup_size(256)
fn scan(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let group = w.y * wide.x + w.x;
    let at = group * 1024u + t * 4u;
    var own = array<u32, 4>();
    var sum = 0u;
    for (var k = 0u; k < 4u; k++) {
        own[k] = sum;
        if (at + k < size.n) { sum += data[at + k]; }
    }
    partial[t] = sum;
    workgroupBarrier();
    for (var reach = 1u; reach < 256u; reach *= 2u) {
        var before = 0u;
        if (t >= reach) { before = partial[t - reach]; }
        workgroupBarrier();
        partial[t] += before;
        workgroupBarrier();
    }
    var before = 0u;
    if (t > 0u) { before = partial[t - 1u]; }
    for (var k = 0u; k < 4u; k++) {
        if (at + k < size.n) { data[at + k] = before + own[k]; }
    }
    if (t == 255u && group * 1024u < size.n) { sums[group] = partial[255]; }
}

@compute @workgroup_size(256)
fn add(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let group = w.y * wide.x + w.x;
    if (group * 1024u >= size.n) { return; }
    let before = sums[group];
    for (var k = 0u; k < 4u; k++) {
        let at = group * 1024u + t * 4u + k;
        if (at < size.n) { data[at] += before; }
    }
}
