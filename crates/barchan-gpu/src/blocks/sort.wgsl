// One pass of a stable radix sort by four bits: 256 keys to a workgroup.
struct Pass { n: u32, shift: u32, groups: u32, c: u32 };
@group(0) @binding(0) var<uniform> pass_: Pass;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<u32>;
// Keys of a digit in a workgroup, at digit · groups + group; scanned between the two launches.
@group(0) @binding(3) var<storage, read_write> counts: array<u32>;
@group(0) @binding(4) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(5) var<storage, read_write> values_out: array<u32>;

// Sixteen counters of 8 bits, one for each digit, of the threads before this one: 255 at most.
var<workgroup> before: array<vec4<u32>, 256>;
var<workgroup> total: array<atomic<u32>, 16>;

fn digit_of(key: u32) -> u32 { return (key >> pass_.shift) & 15u; }

@compute @workgroup_size(256)
fn count(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let group = w.y * wide.x + w.x;
    let at = group * 256u + t;
    // Whole numbers: the order of the additions does not matter.
    if (at < pass_.n) { atomicAdd(&total[digit_of(keys[at])], 1u); }
    workgroupBarrier();
    if (t < 16u && group < pass_.groups) { counts[t * pass_.groups + group] = atomicLoad(&total[t]); }
}

fn one(digit: u32) -> vec4<u32> {
    let place = 1u << ((digit & 3u) * 8u);
    let word = digit >> 2u;
    return vec4<u32>(select(0u, place, word == 0u), select(0u, place, word == 1u), select(0u, place, word == 2u), select(0u, place, word == 3u));
}

@compute @workgroup_size(256)
fn scatter(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let group = w.y * wide.x + w.x;
    let at = group * 256u + t;
    let there = at < pass_.n;
    var key = 0u;
    if (there) { key = keys[at]; }
    let digit = digit_of(key);
    // Moved on by one thread: a scan of these counts what stands before each.
    if (t == 0u) { before[0] = vec4<u32>(0u); }
    if (t < 255u) { before[t + 1u] = select(vec4<u32>(0u), one(digit), there); }
    workgroupBarrier();
    for (var reach = 1u; reach < 256u; reach *= 2u) {
        var add = vec4<u32>(0u);
        if (t >= reach) { add = before[t - reach]; }
        workgroupBarrier();
        before[t] += add;
        workgroupBarrier();
    }
    if (!there) { return; }
    let rank = (before[t][digit >> 2u] >> ((digit & 3u) * 8u)) & 255u;
    let to = counts[digit * pass_.groups + group] + rank;
    keys_out[to] = key;
    values_out[to] = values[at];
}
