// Forces of all contacts of a grain: one thread has a grain, its whole list and its own side of each contact.

var<workgroup> sum_force: array<vec4<f32>, 64>;
var<workgroup> sum_torque: array<vec4<f32>, 64>;
var<workgroup> met: atomic<u32>;
var<workgroup> walls_met: u32;

// What contacts do to a grain: force and how many touch, torque and normal force, energy and largest overlap.
struct Net { force: vec4<f32>, torque: vec4<f32>, rest: vec4<f32> };

struct Push { force: vec3<f32>, torque: vec3<f32>, press: f32, energy: f32, share: f32, touching: bool };

const APART: Push = Push(vec3<f32>(0.0), vec3<f32>(0.0), 0.0, 0.0, 0.0, false);

fn material(place: vec4<u32>) -> u32 { return place.w >> 28u; }

// Where the image of an entry stands, from the grain itself: low words.
fn image(entry: u32) -> vec3<u32> {
    let code = vec3<i32>(i32((entry >> 26u) & 31u));
    let shift = vec3<i32>(code.x % 3, (code.y / 3) % 3, code.z / 9) - vec3<i32>(1);
    return bitcast<vec3<u32>>(shift) * c.period.xyz;
}

// A pair as grain i sees it; what it remembers is at `at`. The one with the lower slot writes what it will.
fn pair(i: u32, entry: u32, at: u32) -> Push {
    let j = entry & 67108863u;
    // Both sides evaluate the contact as that of the lower slot: a driver may fuse products and sums, and then mirrored is not equal.
    let first = i < j;
    let a = min(i, j);
    let b = max(i, j);
    let pa = record[here + 3u * a];
    let pb = record[here + 3u * b];
    let own = pb.xyz - pa.xyz;
    let shift = image(entry);
    let d = bitcast<vec3<i32>>(select(own - shift, own + shift, first));
    let s = i32((pa.w & 268435455u) + (pb.w & 268435455u));
    if (any(abs(d) >= vec3<i32>(s))) { return APART; }
    let over = excess(s, d);
    if (!(over > 0.0)) { return APART; }
    let df = vec3<f32>(d);
    let distance = sqrt(dot(df, df));
    let normal = df / distance;
    let overlap = over / (f32(s) + distance) * c.quantum;
    let va = bitcast<vec4<f32>>(record[here + 3u * a + 1u]);
    let vb = bitcast<vec4<f32>>(record[here + 3u * b + 1u]);
    let wa = bitcast<vec3<f32>>(record[here + 3u * a + 2u].xyz);
    let wb = bitcast<vec3<f32>>(record[here + 3u * b + 2u].xyz);
    let ra = f32(pa.w & 268435455u) * c.quantum;
    let rb = f32(pb.w & 268435455u) * c.quantum;
    let arm_a = ra - 0.5 * overlap;
    let arm_b = rb - 0.5 * overlap;
    let velocity = va.xyz - vb.xyz + cross(wa * arm_a + wb * arm_b, normal);
    let row = 2u * (material(pa) * c.materials + material(pb));
    var slide = vec4<f32>(0.0);
    var roll = vec4<f32>(0.0);
    if ((entry >> 31u) == 1u) {
        slide = memory[had + at * c.memory];
        if (c.memory > 1u) { roll = memory[had + at * c.memory + 1u]; }
    }
    let r = react(normal, overlap, velocity, wa - wb, ra * rb / (ra + rb), 1.0 / (va.w + vb.w), rows[row], rows[row + 1u], slide, roll,
        c.dt, true);
    if (first) {
        memory[has + at * c.memory] = r.slide;
        if (c.memory > 1u) { memory[has + at * c.memory + 1u] = r.roll; }
    }
    let force = r.traction.xyz - normal * r.traction.w;
    let turning = cross(normal, r.traction.xyz);
    let torque = select(turning * arm_b - r.couple.xyz, turning * arm_a + r.couple.xyz, first);
    // The energy of a pair stands half with each.
    return Push(select(-force, force, first), torque, r.traction.w, 0.5 * r.couple.w, overlap / min(ra, rb), true);
}

// Whether they touch is noted with the entry, where that has changed: memory of what did not touch is never read.
fn note(at: u32, entry: u32, touching: bool) {
    let now = select(0u, 2147483648u, touching);
    if ((entry & 2147483648u) != now) { lists[at] = entry ^ 2147483648u; }
}

fn taken(net: Net, p: Push) -> Net {
    return Net(net.force + vec4<f32>(p.force, 1.0), net.torque + vec4<f32>(p.torque, p.press),
        vec4<f32>(net.rest.x + p.energy, max(net.rest.y, p.share), 0.0, 0.0));
}

fn of_pairs(i: u32) -> Net {
    var net = Net(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
    let begin = lists[3u * i];
    let first = lists[3u * i + 1u];
    let counts = lists[3u * i + 2u];
    let above = counts & 2047u;
    for (var k = 0u; k < above; k++) {
        let entry = lists[begin + k];
        let p = pair(i, entry, first + k);
        note(begin + k, entry, p.touching);
        if (p.touching) { net = taken(net, p); }
    }
    let below = (counts >> 11u) & 2047u;
    for (var k = 0u; k < below; k++) {
        let at = begin + above + 2u * k;
        let entry = lists[at];
        let p = pair(i, entry, lists[at + 1u]);
        note(at, entry, p.touching);
        if (p.touching) { net = taken(net, p); }
    }
    return net;
}

// Row of the smooth feature that a wall's entry is about, or that stands for the wall of its bump, in the present step.
fn feature_of(entry: u32) -> u32 {
    let now = atomicLoad(&board[LEDGER]) * c.stride;
    let k = entry & 67108863u;
    if ((entry & 1073741824u) == 0u) { return now + FEATURE * k; }
    return now + FEATURE * walls[c.bumps_at + 3u * k].z;
}

fn of_walls(i: u32, there: bool, group: u32, t: u32, pairs: Net) -> Net {
    var net = pairs;
    var begin = 0u;
    var first = 0u;
    var many = 0u;
    if (there) {
        let counts = lists[3u * i + 2u];
        let above = counts & 2047u;
        many = counts >> 22u;
        begin = lists[3u * i] + above + 2u * ((counts >> 11u) & 2047u);
        first = lists[3u * i + 1u] + above;
    }
    // Which walls some grain of the workgroup may touch: sums are made of these alone, as a barrier costs more than all else here.
    for (var k = 0u; k < many; k++) { atomicOr(&met, 1u << walls[feature_of(lists[begin + k])].y); }
    workgroupBarrier();
    if (t == 0u) { walls_met = atomicLoad(&met); }
    let near = workgroupUniformLoad(&walls_met);
    for (var wall = 0u; wall < c.walls; wall++) {
        let sums = c.sums_at + 2u * (group * c.walls + wall);
        if (((near >> wall) & 1u) == 0u) {
            if (t == 0u && there) {
                walls[sums] = vec4<u32>(0u);
                walls[sums + 1u] = vec4<u32>(0u);
            }
            continue;
        }
        var on_wall = vec4<f32>(0.0);
        var turns_wall = vec4<f32>(0.0);
        for (var k = 0u; k < many; k++) {
            let entry = lists[begin + k];
            let at = feature_of(entry);
            if (walls[at].y != wall) { continue; }
            let own = record[here + 3u * i];
            let radius = own.w & 268435455u;
            let place = place_of(i);
            var m: Meeting;
            if ((entry & 1073741824u) == 0u) {
                m = meet(place, radius, at, 0.0);
            } else {
                m = meet_bump(place, radius, c.bumps_at + 3u * (entry & 67108863u), at);
            }
            note(begin + k, entry, m.overlap > 0.0);
            if (!(m.overlap > 0.0)) { continue; }
            let motion = bitcast<vec4<f32>>(record[here + 3u * i + 1u]);
            let spin = bitcast<vec3<f32>>(record[here + 3u * i + 2u].xyz);
            let of_wall = bitcast<vec4<f32>>(walls[at + 9u]);
            let is_bump = m.bump > 0.0;
            let moves = walls[at + 11u].w == 1u;
            let spin_of_wall = bitcast<vec3<f32>>(vec3<u32>(walls[at + 9u].w, walls[at + 10u].zw));
            let r = f32(radius) * c.quantum;
            let overlap = m.overlap * c.quantum;
            let arm = r - 0.5 * overlap;
            let normal = -m.inward;
            let d = minus(place, Long(walls[at + 1u].xyz, walls[at + 2u].xyz));
            // The contact point from the pivot of the wall.
            let point = to_real(d) * c.quantum + bitcast<vec3<f32>>(walls[at + 11u].xyz) + normal * arm;
            var velocity = motion.xyz + cross(spin * arm, normal);
            if (moves) { velocity -= of_wall.xyz + cross(spin_of_wall, point); }
            let row = 2u * (material(own) * c.materials + walls[at].z);
            var slide = vec4<f32>(0.0);
            var roll = vec4<f32>(0.0);
            if ((entry >> 31u) == 1u) {
                slide = memory[had + (first + k) * c.memory];
                if (c.memory > 1u) { roll = memory[had + (first + k) * c.memory + 1u]; }
            }
            let rb = m.bump * c.quantum;
            let curved = select(r, r * rb / (r + rb), is_bump);
            let yields = bitcast<f32>(walls[at + 8u].w);
            let q = react(normal, overlap, velocity, spin - spin_of_wall, curved, 1.0 / (motion.w + yields), rows[row], rows[row + 1u],
                slide, roll, c.dt, true);
            memory[has + (first + k) * c.memory] = q.slide;
            if (c.memory > 1u) { memory[has + (first + k) * c.memory + 1u] = q.roll; }
            let push = q.traction.xyz - normal * q.traction.w;
            let turn = cross(normal, q.traction.xyz) * arm + q.couple.xyz;
            net = taken(net, Push(push, turn, q.traction.w, q.couple.w, overlap / r, true));
            on_wall -= vec4<f32>(push, 0.0);
            turns_wall -= vec4<f32>(cross(point, push) + q.couple.xyz, 0.0);
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
            walls[sums] = bitcast<vec4<u32>>(sum_force[0]);
            walls[sums + 1u] = bitcast<vec4<u32>>(sum_torque[0]);
        }
        workgroupBarrier();
    }
    return net;
}

fn watch(i: u32, share: f32) {
    // Positive numbers are ordered as their bits are.
    if (share > 0.0) { atomicMax(&board[SHARE], bitcast<u32>(share)); }
    if (share > c.max_overlap) { wrong(DEEP, i); }
}

// A step within a submission: forces where grains are, and on to where they are next.
@compute @workgroup_size(64)
fn flow(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let group = w.y * many.x + w.x;
    let i = group * 64u + t;
    let there = i < c.n;
    orient();
    var net = Net(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
    if (there) { net = of_pairs(i); }
    net = of_walls(i, there, group, t, net);
    if (!there) { return; }
    watch(i, net.rest.y);
    let at = here + 3u * i;
    advance(i, onward + 3u * i, record[at], record[at + 1u], record[at + 2u], net.force.xyz, net.torque.xyz);
}

// The last step of a submission: forces where grains are, which are left for the next submission and for readers.
@compute @workgroup_size(64)
fn rest(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let group = w.y * many.x + w.x;
    let i = group * 64u + t;
    let there = i < c.n;
    orient();
    var net = Net(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
    if (there) { net = of_pairs(i); }
    net = of_walls(i, there, group, t, net);
    if (!there) { return; }
    watch(i, net.rest.y);
    load[3u * i] = net.force;
    load[3u * i + 1u] = net.torque;
    load[3u * i + 2u] = net.rest;
    for (var k = 0u; k < 3u; k++) { record[onward + 3u * i + k] = record[here + 3u * i + k]; }
}
