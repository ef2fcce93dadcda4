// Five rows a grain: fraction of the place; velocity [quanta a step], whole and fraction; spin times radius, whole and fraction.
@group(0) @binding(4) var<storage, read_write> fine: array<vec4<u32>>;
// Low words of the place when the lists were built.
@group(0) @binding(5) var<storage, read_write> anchor: array<vec4<u32>>;

// Numbers of 64 bits, half of them behind the point: sums are exact, whatever the size of what is added to.
struct Fixed { whole: vec3<u32>, fraction: vec3<u32> };

fn plus(a: Fixed, b: Fixed) -> Fixed {
    let fraction = a.fraction + b.fraction;
    let carry = select(vec3<u32>(0u), vec3<u32>(1u), fraction < a.fraction);
    return Fixed(a.whole + b.whole + carry, fraction);
}

// By size and sign: what two grains do to each other stays opposite to the last bit.
fn fixed(x: vec3<f32>) -> Fixed {
    let size = abs(x);
    let whole = floor(size);
    let w = vec3<u32>(whole);
    let f = vec3<u32>((size - whole) * 4294967296.0);
    let minus_w = ~w + select(vec3<u32>(0u), vec3<u32>(1u), f == vec3<u32>(0u));
    let negative = x < vec3<f32>(0.0);
    return Fixed(select(w, minus_w, negative), select(f, ~f + vec3<u32>(1u), negative));
}

fn real(x: Fixed) -> vec3<f32> {
    return vec3<f32>(bitcast<vec3<i32>>(x.whole)) + vec3<f32>(x.fraction) * 2.3283064365386963e-10;
}

@compute @workgroup_size(64)
fn integrate(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) wide: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * wide.x + w.x) * 64u + t;
    if (i >= c.n) { return; }
    let radius = bitcast<f32>(record[4u * i + 3u].w);
    let inverse_mass = bitcast<f32>(record[4u * i + 2u].w);
    // 1/(m r) over 2/5: a sphere.
    let turning = 2.5 * inverse_mass / radius;
    let push = load[3u * i].xyz * inverse_mass;
    let twist = load[3u * i + 1u].xyz * turning;
    let kick = push * c.kick;
    let turn = twist * c.kick;
    // What is not a number is not smaller than anything.
    if (!(all(abs(kick) < vec3<f32>(1e9)) && all(abs(turn) < vec3<f32>(1e9)))) {
        atomicMin(&status[1], i);
        return;
    }
    let fall = Fixed(c.fall.xyz, c.fall_fraction.xyz);
    let v = plus(plus(Fixed(fine[5u * i + 1u].xyz, fine[5u * i + 2u].xyz), fixed(kick)), fall);
    let s = plus(Fixed(fine[5u * i + 3u].xyz, fine[5u * i + 4u].xyz), fixed(turn));
    let fraction = fine[5u * i].xyz + v.fraction;
    let one = vec3<u32>(1u);
    let none = vec3<u32>(0u);
    let was = record[4u * i].xyz;
    let low = was + v.whole;
    let lower = low + select(none, one, fraction < v.fraction);
    let carry = select(none, one, low < was) + select(none, one, lower < low);
    // The sign goes on into the high word.
    let high = record[4u * i + 1u].xyz + bitcast<vec3<u32>>(bitcast<vec3<i32>>(v.whole) >> vec3<u32>(31u)) + carry;
    fine[5u * i] = vec4<u32>(fraction, 0u);
    fine[5u * i + 1u] = vec4<u32>(v.whole, 0u);
    fine[5u * i + 2u] = vec4<u32>(v.fraction, 0u);
    fine[5u * i + 3u] = vec4<u32>(s.whole, 0u);
    fine[5u * i + 4u] = vec4<u32>(s.fraction, 0u);
    record[4u * i] = vec4<u32>(lower, record[4u * i].w);
    record[4u * i + 1u] = vec4<u32>(high, record[4u * i + 1u].w);
    let velocity = real(v) * c.speed + (push + c.gravity.xyz) * c.ahead;
    let spin = (real(s) * c.speed + twist * c.ahead) / radius;
    record[4u * i + 2u] = vec4<u32>(bitcast<vec3<u32>>(velocity), record[4u * i + 2u].w);
    record[4u * i + 3u] = vec4<u32>(bitcast<vec3<u32>>(spin), record[4u * i + 3u].w);
    let moved = vec3<f32>(bitcast<vec3<i32>>(lower - anchor[i].xyz));
    let square = dot(moved, moved);
    // Lists are built anew before the next step, which may take up the other half of what they allow.
    if (square > 0.25 * c.allowance * c.allowance) { atomicMax(&status[0], 1u); }
    if (!(square <= c.allowance * c.allowance)) { atomicMin(&status[4], i); }
}
