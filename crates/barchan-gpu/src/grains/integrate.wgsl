// Kick, drift, turn.

// Velocities: 48 bits in units of 2^-22 quanta a step, the lowest 16 apart.
struct Fixed { top: vec3<u32>, low: vec3<u32> };

fn plus(a: Fixed, b: Fixed) -> Fixed {
    let low = a.low + b.low;
    return Fixed(a.top + b.top + (low >> vec3<u32>(16u)), low & vec3<u32>(65535u));
}

// By size and sign: what two grains do to each other stays opposite to the last bit.
fn fixed(x: vec3<f32>) -> Fixed {
    let size = abs(x) * 64.0;
    let whole = floor(size);
    let rest = vec3<u32>(round((size - whole) * 65536.0));
    let top = vec3<u32>(whole) + (rest >> vec3<u32>(16u));
    let low = rest & vec3<u32>(65535u);
    let minus_top = ~top + select(vec3<u32>(0u), vec3<u32>(1u), low == vec3<u32>(0u));
    let minus_low = (vec3<u32>(65536u) - low) & vec3<u32>(65535u);
    let negative = x < vec3<f32>(0.0);
    return Fixed(select(top, minus_top, negative), select(low, minus_low, negative));
}

// Quanta a step.
fn real(x: Fixed) -> vec3<f32> {
    return vec3<f32>(bitcast<vec3<i32>>(x.top)) * 0.015625 + vec3<f32>(x.low) * 2.384185791015625e-7;
}

fn wrong(word: u32, i: u32) {
    atomicMin(&board[word], i);
    atomicMin(&board[WRONG], atomicLoad(&board[LEDGER]));
    atomicStore(&board[SPENT], 1u);
}

// Takes grain i, whose record is given, through a step under a force [N] and a torque [N m]; its record goes to row `to`.
fn advance(i: u32, to: u32, place: vec4<u32>, motion: vec4<u32>, spins: vec4<u32>, force: vec3<f32>, torque: vec3<f32>) {
    let radius = f32(place.w & 268435455u) * c.quantum;
    let inverse_mass = bitcast<f32>(motion.w);
    // 1/(m r) over 2/5: a sphere.
    let turning = 2.5 * inverse_mass / radius;
    let push = force * inverse_mass;
    let twist = torque * turning;
    let kick = push * c.kick;
    let turn = twist * c.kick;
    // What is not a number is not smaller than anything.
    if (!(all(abs(kick) < vec3<f32>(3e7)) && all(abs(turn) < vec3<f32>(3e7)))) {
        wrong(BROKEN, i);
        record[to] = place;
        record[to + 1u] = motion;
        record[to + 2u] = spins;
        return;
    }
    let f0 = fine[3u * i];
    let f1 = fine[3u * i + 1u];
    let f2 = fine[3u * i + 2u];
    let lows = vec3<u32>(f0.w, f1.w, f2.w);
    let v = plus(plus(Fixed(f1.xyz, lows >> vec3<u32>(16u)), fixed(kick)), Fixed(c.fall.xyz, c.fall_low.xyz));
    let s = plus(Fixed(f2.xyz, lows & vec3<u32>(65535u)), fixed(turn));
    let fraction = (f0.xyz & vec3<u32>(65535u)) + (((v.top & vec3<u32>(63u)) << vec3<u32>(10u)) | (v.low >> vec3<u32>(6u)));
    let step = bitcast<vec3<i32>>(v.top) >> vec3<u32>(6u);
    let one = vec3<u32>(1u);
    let none = vec3<u32>(0u);
    let low = place.xyz + bitcast<vec3<u32>>(step);
    let lower = low + (fraction >> vec3<u32>(16u));
    let carry = select(none, one, low < place.xyz) + select(none, one, lower < low);
    // The sign goes on into the high word.
    let high = high_of(f0.xyz) + bitcast<vec3<u32>>(step >> vec3<u32>(31u)) + carry;
    let both = (v.low << vec3<u32>(16u)) | s.low;
    fine[3u * i] = vec4<u32>((high << vec3<u32>(16u)) | (fraction & vec3<u32>(65535u)), both.x);
    fine[3u * i + 1u] = vec4<u32>(v.top, both.y);
    fine[3u * i + 2u] = vec4<u32>(s.top, both.z);
    let going = real(v);
    let velocity = going * c.speed + (push + c.gravity.xyz) * c.ahead;
    let spin = (real(s) * c.speed + twist * c.ahead) / radius;
    let moved = length(going);
    let left = bitcast<f32>(spins.w) - moved;
    record[to] = vec4<u32>(lower, place.w);
    record[to + 1u] = vec4<u32>(bitcast<vec3<u32>>(velocity), motion.w);
    record[to + 2u] = vec4<u32>(bitcast<vec3<u32>>(spin), bitcast<u32>(left));
    // Lists are built anew before the next step but one, in which a grain may go as far as in this one.
    if (!(left >= 0.0)) {
        wrong(FAST, i);
    } else if (left < 2.0 * moved + 0.05 * c.least) {
        atomicStore(&board[SPENT], 1u);
    }
}

// The first step of a submission: forces are those that were left.
@compute @workgroup_size(64)
fn begin(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * many.x + w.x) * 64u + t;
    if (i >= c.n) { return; }
    orient();
    let at = here + 3u * i;
    advance(i, at, record[at], record[at + 1u], record[at + 2u], load[3u * i].xyz, load[3u * i + 1u].xyz);
}
