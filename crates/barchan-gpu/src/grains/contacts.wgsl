@group(0) @binding(4) var<storage, read> starts: array<u32>;
@group(0) @binding(5) var<storage, read> partners: array<u32>;
// What pairs remember, in the order of the lists.
@group(0) @binding(6) var<storage, read_write> kept: array<vec4<f32>>;
// What grains remember of the features of walls.
@group(0) @binding(7) var<storage, read_write> wall_kept: array<vec4<f32>>;
// Sums over the grains of a workgroup: force and torque on each wall.
@group(0) @binding(8) var<storage, read_write> wall_loads: array<vec4<f32>>;
@group(0) @binding(9) var<uniform> rows: array<vec4<f32>, 512>;
@group(0) @binding(10) var<uniform> features: array<vec4<u32>, 384>;

var<workgroup> sum_force: array<vec4<f32>, 64>;
var<workgroup> sum_torque: array<vec4<f32>, 64>;
var<workgroup> met: atomic<u32>;
var<workgroup> walls_met: u32;

// s² − d² of whole numbers below 2^28, in halves of 14 bits: exact up to the last conversion.
fn excess(s: i32, d: vec3<i32>) -> f32 {
    let h = d >> vec3<u32>(14u);
    let l = d & vec3<i32>(16383);
    let sh = s >> 14u;
    let sl = s & 16383;
    let a = sh * sh - (h.x * h.x + h.y * h.y + h.z * h.z);
    let b = sh * sl - (h.x * l.x + h.y * l.y + h.z * l.z);
    let e = sl * sl - (l.x * l.x + l.y * l.y + l.z * l.z);
    let b2 = 2 * b + (e >> 14u);
    let a2 = a + (b2 >> 14u);
    return f32(a2) * 268435456.0 + (f32(b2 & 16383) * 16384.0 + f32(e & 16383));
}

struct Push { force: vec3<f32>, torque: vec3<f32>, press: f32, energy: f32, share: f32, touching: bool };

fn pair(i: u32, j: u32, at: u32) -> Push {
    // Both sides evaluate the contact as that of the lower slot: a driver may fuse products and sums, and then mirrored is not equal.
    let a = min(i, j);
    let b = max(i, j);
    let pa = record[4u * a];
    let pb = record[4u * b];
    let d = bitcast<vec3<i32>>(pb.xyz - pa.xyz);
    let s = i32(pa.w + pb.w);
    if (any(abs(d) >= vec3<i32>(s))) { return forget(at); }
    let over = excess(s, d);
    if (!(over > 0.0)) { return forget(at); }
    let df = vec3<f32>(d);
    let distance = sqrt(dot(df, df));
    let normal = df / distance;
    let overlap = over / (f32(s) + distance) * c.quantum;
    let va = bitcast<vec4<f32>>(record[4u * a + 2u]);
    let vb = bitcast<vec4<f32>>(record[4u * b + 2u]);
    let wa = bitcast<vec4<f32>>(record[4u * a + 3u]);
    let wb = bitcast<vec4<f32>>(record[4u * b + 3u]);
    let arm_a = wa.w - 0.5 * overlap;
    let arm_b = wb.w - 0.5 * overlap;
    let velocity = va.xyz - vb.xyz + cross(wa.xyz * arm_a + wb.xyz * arm_b, normal);
    let row = 2u * (record[4u * a + 1u].w * c.materials + record[4u * b + 1u].w);
    var roll = vec4<f32>(0.0);
    if (c.memory > 1u) { roll = kept[at * c.memory + 1u]; }
    let r = react(normal, overlap, velocity, wa.xyz - wb.xyz, wa.w * wb.w / (wa.w + wb.w), 1.0 / (va.w + vb.w), rows[row], rows[row + 1u],
        kept[at * c.memory], roll, c.dt, true);
    kept[at * c.memory] = r.slide;
    if (c.memory > 1u) { kept[at * c.memory + 1u] = r.roll; }
    let first = i == a;
    let force = r.traction.xyz - normal * r.traction.w;
    let turning = cross(normal, r.traction.xyz);
    let torque = select(turning * arm_b - r.couple.xyz, turning * arm_a + r.couple.xyz, first);
    // The energy of a pair stands half with each.
    return Push(select(-force, force, first), torque, r.traction.w, 0.5 * r.couple.w, overlap / min(wa.w, wb.w), true);
}

fn forget(at: u32) -> Push {
    if (kept[at * c.memory].w != 0.0) {
        kept[at * c.memory] = vec4<f32>(0.0);
        if (c.memory > 1u) { kept[at * c.memory + 1u] = vec4<f32>(0.0); }
    }
    return Push(vec3<f32>(0.0), vec3<f32>(0.0), 0.0, 0.0, 0.0, false);
}

// Whole numbers of 64 bits: low and high word.
struct Long { low: vec3<u32>, high: vec3<u32> };

fn minus(a: Long, b: Long) -> Long {
    return Long(a.low - b.low, a.high - b.high - select(vec3<u32>(0u), vec3<u32>(1u), a.low < b.low));
}

fn negative(a: Long) -> vec3<bool> { return (a.high >> vec3<u32>(31u)) == vec3<u32>(1u); }

fn to_real(a: Long) -> vec3<f32> {
    return vec3<f32>(bitcast<vec3<i32>>(a.high)) * 4294967296.0 + vec3<f32>(a.low);
}

// Product of two words.
fn wide(a: u32, b: u32) -> vec2<u32> {
    let al = a & 65535u; let ah = a >> 16u; let bl = b & 65535u; let bh = b >> 16u;
    let low = al * bl;
    let mid = ah * bl + (low >> 16u);
    let mid2 = al * bh + (mid & 65535u);
    return vec2<u32>((mid2 << 16u) | (low & 65535u), ah * bh + (mid >> 16u) + (mid2 >> 16u));
}

fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// Distance from a plane [quanta], where it is within some cells; `d` is the place relative to a point of the plane. The normal is known in whole
// numbers, in units of 2^-30 within a cell and of 2^-52 from cell to cell, so that nothing is lost however far the point is.
fn plane_distance(d: Long, at: u32) -> f32 {
    let unit = bitcast<vec3<i32>>(features[at + 3u].xyz);
    let step_low = features[at + 4u].xyz;
    let step_high = features[at + 5u].xyz;
    let cell = (d.high << vec3<u32>(4u)) | (d.low >> vec3<u32>(28u));
    let within = d.low & vec3<u32>(268435455u);
    var sum = vec2<u32>(0u);
    for (var k = 0u; k < 3u; k++) {
        let cells = cell[k];
        var product = wide(cells, step_low[k]);
        product.y += cells * step_high[k];
        if ((cells >> 31u) == 1u) { product.y -= step_low[k]; }
        sum = add(sum, product);
        var inner = wide(u32(abs(unit[k])), within[k]);
        inner = vec2<u32>((inner.x >> 6u) | (inner.y << 26u), inner.y >> 6u);
        if (unit[k] < 0) { inner = add(vec2<u32>(~inner.x, ~inner.y), vec2<u32>(1u, 0u)); }
        sum = add(sum, inner);
    }
    // By sign and size, so that a small number keeps its digits on both sides of the plane.
    let below = (sum.y >> 31u) == 1u;
    if (below) { sum = add(vec2<u32>(~sum.x, ~sum.y), vec2<u32>(1u, 0u)); }
    let size = (f32(sum.y) * 4294967296.0 + f32(sum.x)) * 5.9604644775390625e-8;
    return select(size, -size, below);
}

struct Meeting { overlap: f32, inward: vec3<f32> };

const APART: f32 = -1.0;

// How deep grain i is in a feature [quanta], and the direction out of it.
fn meet(i: u32, at: u32) -> Meeting {
    let own = record[4u * i];
    let r = f32(own.w);
    let d = minus(Long(own.xyz, record[4u * i + 1u].xyz), Long(features[at + 1u].xyz, features[at + 2u].xyz));
    let kind = features[at].x;
    if (kind == 0u) {
        let normal = bitcast<vec3<f32>>(features[at + 6u].xyz);
        let about = dot(to_real(d), normal);
        // Farther than the largest radius and the error of this estimate: most grains are.
        if (about > 134217728.0 + 1e-6 * (abs(to_real(d).x) + abs(to_real(d).y) + abs(to_real(d).z))) { return Meeting(APART, normal); }
        var distance = about;
        if (about > -1073741824.0) { distance = plane_distance(d, at); }
        return Meeting(r - distance, normal);
    }
    // A face of a box with an open side (kind 1), or a block (kind 2): the offset from its nearest point.
    let half = Long(features[at + 7u].xyz, features[at + 8u].xyz);
    let lowest = minus(Long(vec3<u32>(0u), vec3<u32>(0u)), half);
    let over = minus(d, half);
    let under = minus(d, lowest);
    var low = select(select(vec3<u32>(0u), over.low, !negative(over)), under.low, negative(under));
    var high = select(select(vec3<u32>(0u), over.high, !negative(over)), under.high, negative(under));
    if (kind == 1u) {
        let axis = features[at].w >> 1u;
        let upper = (features[at].w & 1u) == 1u;
        low[axis] = select(under.low[axis], over.low[axis], upper);
        high[axis] = select(under.high[axis], over.high[axis], upper);
    }
    let offset = bitcast<vec3<i32>>(low);
    // Beyond the radius in some direction, by the words themselves: the rest is small.
    let fits = (bitcast<vec3<i32>>(high) == (offset >> vec3<u32>(31u))) & (abs(offset) < vec3<i32>(i32(own.w)));
    if (!all(fits)) { return Meeting(APART, vec3<f32>(0.0)); }
    let beyond = excess(i32(own.w), offset);
    let away = vec3<f32>(offset);
    let distance = sqrt(dot(away, away));
    // A centre on the surface has no direction; it overlaps by its radius, which is refused as too deep.
    let inward = select(vec3<f32>(0.0), away / distance, distance > 0.0);
    return Meeting(select(APART, beyond / (r + distance), beyond > 0.0), inward);
}

@compute @workgroup_size(64)
fn contacts(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let group = w.y * many.x + w.x;
    let i = group * 64u + t;
    let there = i < c.n;
    var force = vec4<f32>(0.0);
    var torque = vec4<f32>(0.0);
    var rest = vec4<f32>(0.0);
    if (there) {
        for (var at = starts[i]; at < starts[i + 1u]; at++) {
            let p = pair(i, partners[at], at);
            if (p.touching) {
                force += vec4<f32>(p.force, 1.0);
                torque += vec4<f32>(p.torque, p.press);
                rest = vec4<f32>(rest.x + p.energy, max(rest.y, p.share), 0.0, 0.0);
            }
        }
    }
    // Which walls some grain of the workgroup touches: sums are made of these alone, as a barrier costs more than all else here.
    for (var f = 0u; there && f < c.features; f++) {
        if (meet(i, 12u * f).overlap > 0.0) {
            atomicOr(&met, 1u << features[12u * f].y);
        } else {
            let memory = (i * c.features + f) * c.memory;
            if (wall_kept[memory].w != 0.0) {
                wall_kept[memory] = vec4<f32>(0.0);
                if (c.memory > 1u) { wall_kept[memory + 1u] = vec4<f32>(0.0); }
            }
        }
    }
    workgroupBarrier();
    if (t == 0u) { walls_met = atomicLoad(&met); }
    let near = workgroupUniformLoad(&walls_met);
    for (var wall = 0u; wall < c.walls; wall++) {
        if (((near >> wall) & 1u) == 0u) {
            if (t == 0u && there) {
                wall_loads[2u * (group * c.walls + wall)] = vec4<f32>(0.0);
                wall_loads[2u * (group * c.walls + wall) + 1u] = vec4<f32>(0.0);
            }
            continue;
        }
        var on_wall = vec4<f32>(0.0);
        var turns_wall = vec4<f32>(0.0);
        for (var f = 0u; there && f < c.features; f++) {
            let at = 12u * f;
            if (features[at].y != wall) { continue; }
            let memory = (i * c.features + f) * c.memory;
            let m = meet(i, at);
            if (!(m.overlap > 0.0)) { continue; }
            let own = bitcast<vec4<f32>>(record[4u * i + 2u]);
            let spin = bitcast<vec4<f32>>(record[4u * i + 3u]);
            let of_wall = bitcast<vec4<f32>>(features[at + 9u]);
            let spin_of_wall = bitcast<vec4<f32>>(features[at + 10u]);
            let overlap = m.overlap * c.quantum;
            let arm = spin.w - 0.5 * overlap;
            let normal = -m.inward;
            let d = minus(Long(record[4u * i].xyz, record[4u * i + 1u].xyz), Long(features[at + 1u].xyz, features[at + 2u].xyz));
            // The contact point from the pivot of the wall.
            let point = to_real(d) * c.quantum + bitcast<vec3<f32>>(features[at + 11u].xyz) + normal * arm;
            let velocity = own.xyz + cross(spin.xyz * arm, normal) - (of_wall.xyz + cross(spin_of_wall.xyz, point));
            let row = 2u * (record[4u * i + 1u].w * c.materials + features[at].z);
            var roll = vec4<f32>(0.0);
            if (c.memory > 1u) { roll = wall_kept[memory + 1u]; }
            let r = react(normal, overlap, velocity, spin.xyz - spin_of_wall.xyz, spin.w, 1.0 / (own.w + of_wall.w), rows[row], rows[row + 1u],
                wall_kept[memory], roll, c.dt, true);
            wall_kept[memory] = r.slide;
            if (c.memory > 1u) { wall_kept[memory + 1u] = r.roll; }
            let push = r.traction.xyz - normal * r.traction.w;
            force += vec4<f32>(push, 1.0);
            torque += vec4<f32>(cross(normal, r.traction.xyz) * arm + r.couple.xyz, r.traction.w);
            rest = vec4<f32>(rest.x + r.couple.w, max(rest.y, overlap / spin.w), 0.0, 0.0);
            on_wall -= vec4<f32>(push, 0.0);
            turns_wall -= vec4<f32>(cross(point, push) + r.couple.xyz, 0.0);
        }
        sum_force[t] = on_wall;
        sum_torque[t] = turns_wall;
        workgroupBarrier();
        for (var half = 32u; half > 0u; half /= 2u) {
            if (t < half) {
                sum_force[t] += sum_force[t + half];
                sum_torque[t] += sum_torque[t + half];
            }
            workgroupBarrier();
        }
        if (t == 0u && there) {
            wall_loads[2u * (group * c.walls + wall)] = sum_force[0];
            wall_loads[2u * (group * c.walls + wall) + 1u] = sum_torque[0];
        }
        workgroupBarrier();
    }
    if (!there) { return; }
    load[3u * i] = force;
    load[3u * i + 1u] = torque;
    load[3u * i + 2u] = rest;
    // Positive numbers are ordered as their bits are.
    atomicMax(&status[2], bitcast<u32>(rest.y));
    if (rest.y > c.max_overlap) { atomicMin(&status[3], i); }
}
