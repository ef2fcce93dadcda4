// Lists of neighbours and of walls, and what pairs remember goes along.
@group(0) @binding(10) var<storage, read_write> keys: array<u32>;
@group(0) @binding(11) var<storage, read_write> order: array<u32>;
// Of each key, where its grains begin and end in `order`.
@group(0) @binding(12) var<storage, read> ranges: array<vec2<u32>>;
// What each grain has of lists and of memory; scanned, where its own begins.
@group(0) @binding(14) var<storage, read_write> starts: array<u32>;
@group(0) @binding(15) var<storage, read_write> memory_starts: array<u32>;
// Bumps of rough walls near each grain: where its own begin, one more than there are grains; then the bumps.
@group(0) @binding(16) var<storage, read> bumps: array<u32>;
@group(0) @binding(17) var<storage, read> old: array<u32>;

fn plus_long(a: Long, b: Long) -> Long {
    let low = a.low + b.low;
    return Long(low, a.high + b.high + select(vec3<u32>(0u), vec3<u32>(1u), low < a.low));
}

// The domain's sides: what has left through a periodic one comes back on the other. Each is given what it may go until the next time.
@compute @workgroup_size(64)
fn wrap(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * many.x + w.x) * 64u + t;
    if (i >= c.n) { return; }
    orient();
    var place = place_of(i);
    let under = negative(minus(place, Long(c.low.xyz, c.low_high.xyz)));
    let above = negative(minus(Long(c.high.xyz, c.high_high.xyz), place));
    let periodic = c.periodic.xyz == vec3<u32>(1u);
    if (any((under | above) & !periodic)) { atomicStore(&board[OUTSIDE], 1u); }
    if (any((under | above) & periodic)) {
        let period = Long(c.period.xyz, c.period_high.xyz);
        let back = minus(place, period);
        let forth = plus_long(place, period);
        let goes_back = above & periodic;
        let goes_forth = under & periodic;
        place.low = select(select(place.low, back.low, goes_back), forth.low, goes_forth);
        place.high = select(select(place.high, back.high, goes_back), forth.high, goes_forth);
        record[here + 3u * i] = vec4<u32>(place.low, record[here + 3u * i].w);
        let f = fine[3u * i];
        fine[3u * i] = vec4<u32>((place.high << vec3<u32>(16u)) | (f.xyz & vec3<u32>(65535u)), f.w);
    }
    // Those that are fast are given more: lists are meant to last as long for all.
    let velocity = bitcast<vec3<f32>>(record[here + 3u * i + 1u].xyz);
    let steps = 260.0;
    let budget = clamp(length(velocity) / c.speed * steps, c.least, c.most);
    record[here + 3u * i + 2u].w = bitcast<u32>(budget);
}

fn cell_of(place: Long) -> vec3<i32> {
    return bitcast<vec3<i32>>((place.high << vec3<u32>(4u)) | (place.low >> vec3<u32>(28u)));
}

// The lowest bits of the three coordinates in turn: neighbours in space are neighbours in the order. Cells far apart may share a key.
fn key_of(cell: vec3<i32>) -> u32 {
    let u = bitcast<vec3<u32>>(cell);
    var key = 0u;
    for (var b = 0u; b < c.bits; b++) {
        key |= ((u[b % 3u] >> (b / 3u)) & 1u) << b;
    }
    return key;
}

@compute @workgroup_size(64)
fn key(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * many.x + w.x) * 64u + t;
    if (i >= c.n) { return; }
    orient();
    keys[i] = key_of(cell_of(place_of(i)));
    order[i] = i;
}

struct Found { above: u32, below: u32, walls: u32 };

fn budget_of(i: u32) -> f32 { return bitcast<f32>(record[here + 3u * i + 2u].w); }

// Visits what grain i may touch, and writes it where `fills`: those above it from `at` on, those below it from `under` on, then walls.
fn visit(i: u32, fills: bool, at: u32, under: u32, at_walls: u32) -> Found {
    var found = Found(0u, 0u, 0u);
    let place = place_of(i);
    let own = record[here + 3u * i];
    let radius = own.w & 268435455u;
    let budget = budget_of(i);
    let periodic = vec3<i32>(c.periodic.xyz);
    for (var s = 0; s < 27; s++) {
        let shift = vec3<i32>(s % 3, (s / 3) % 3, s / 9) - vec3<i32>(1);
        if (any((shift != vec3<i32>(0)) & (periodic == vec3<i32>(0)))) { continue; }
        // Where the grain is, seen from partners of that image.
        var seen = place;
        let period = Long(c.period.xyz, c.period_high.xyz);
        let back = minus(place, period);
        let forth = plus_long(place, period);
        seen.low = select(select(seen.low, back.low, shift > vec3<i32>(0)), forth.low, shift < vec3<i32>(0));
        seen.high = select(select(seen.high, back.high, shift > vec3<i32>(0)), forth.high, shift < vec3<i32>(0));
        // Partners are in the domain, or not a cell's width beyond it.
        let cell_wide = Long(vec3<u32>(268435456u), vec3<u32>(0u));
        let before = negative(plus_long(minus(seen, Long(c.low.xyz, c.low_high.xyz)), cell_wide));
        let behind = negative(plus_long(minus(Long(c.high.xyz, c.high_high.xyz), seen), cell_wide));
        if (any((before | behind) & (shift != vec3<i32>(0)))) { continue; }
        let cell = cell_of(seen);
        for (var k = 0; k < 27; k++) {
            let asked = cell + vec3<i32>(k % 3, (k / 3) % 3, k / 9) - vec3<i32>(1);
            let span = ranges[key_of(asked)];
            for (var p = span.x; p < span.y; p++) {
                let j = order[p];
                // Each counts in its own cell alone, whatever else shares the key.
                if (j == i || any(cell_of(place_of(j)) != asked)) { continue; }
                let other = record[here + 3u * j];
                let d = vec3<f32>(bitcast<vec3<i32>>(other.xyz - seen.low));
                // Rounding must not lose a pair: a millionth more.
                let reach = (f32(radius + (other.w & 268435455u)) + budget + budget_of(j)) * 1.000001;
                if (dot(d, d) >= reach * reach) { continue; }
                let entry = j | (u32(s) << 26u);
                if (j > i) {
                    if (fills) { lists[at + found.above] = entry; }
                    found.above++;
                } else {
                    if (fills) { lists[under + 2u * found.below] = entry; }
                    found.below++;
                }
            }
        }
    }
    for (var f = 0u; f < c.features; f++) {
        let within = budget + bitcast<f32>(walls[FEATURE * f + 5u].w);
        if (meet(place, radius, FEATURE * f, within).overlap < -within) { continue; }
        if (fills) { lists[at_walls + found.walls] = f; }
        found.walls++;
    }
    let first = bumps[i];
    let many = bumps[i + 1u] - first;
    for (var k = 0u; fills && k < many; k++) { lists[at_walls + found.walls + k] = bumps[c.n + 1u + first + k] | 1073741824u; }
    found.walls += many;
    return found;
}

@compute @workgroup_size(64)
fn count(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * many.x + w.x) * 64u + t;
    if (i >= c.n) { return; }
    orient();
    let found = visit(i, false, 0u, 0u, 0u);
    if (found.above > 2047u || found.below > 2047u || found.walls > 1023u) { atomicStore(&board[CROWDED], 1u); }
    lists[3u * i + 2u] = min(found.above, 2047u) | (min(found.below, 2047u) << 11u) | (min(found.walls, 1023u) << 22u);
}

// Before they are scanned: how much of lists and of memory each has.
@compute @workgroup_size(64)
fn spread(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * many.x + w.x) * 64u + t;
    if (i > c.n) { return; }
    var own = 0u;
    if (i < c.n) { own = lists[3u * i + 2u]; }
    let above = own & 2047u;
    starts[i] = above + 2u * ((own >> 11u) & 2047u) + (own >> 22u);
    memory_starts[i] = above + (own >> 22u);
}

// After it: the heads of the lists.
@compute @workgroup_size(64)
fn head(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * many.x + w.x) * 64u + t;
    if (i >= c.n) { return; }
    lists[3u * i] = 3u * c.n + starts[i];
    lists[3u * i + 1u] = memory_starts[i];
}

@compute @workgroup_size(64)
fn fill(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * many.x + w.x) * 64u + t;
    if (i >= c.n) { return; }
    orient();
    let begin = lists[3u * i];
    let own = lists[3u * i + 2u];
    let under = begin + (own & 2047u);
    visit(i, true, begin, under, under + 2u * ((own >> 11u) & 2047u));
}

// Tells those above where the pair's memory is.
@compute @workgroup_size(64)
fn link(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * many.x + w.x) * 64u + t;
    if (i >= c.n) { return; }
    let own = lists[3u * i + 2u];
    let under = lists[3u * i] + (own & 2047u);
    for (var k = 0u; k < ((own >> 11u) & 2047u); k++) {
        let entry = lists[under + 2u * k];
        let j = entry & 67108863u;
        // As the other sees it, the image is the opposite one.
        let seen = i | ((26u - ((entry >> 26u) & 31u)) << 26u);
        let theirs = lists[3u * j];
        for (var m = 0u; m < (lists[3u * j + 2u] & 2047u); m++) {
            if (lists[theirs + m] == seen) { lists[under + 2u * k + 1u] = lists[3u * j + 1u] + m; }
        }
    }
}

// Whether what an old entry is about is what a new one is about. Images change when a grain goes through a side of the domain, and a pair has
// one image only: the domain is wide enough.
fn same(a: u32, b: u32, mask: u32) -> bool { return ((a ^ b) & mask) == 0u; }

// From the half of the memory that is that of the first step to the other.
@compute @workgroup_size(64)
fn carry(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let i = (w.y * many.x + w.x) * 64u + t;
    if (i >= c.n) { return; }
    orient();
    let own = lists[3u * i + 2u];
    let above = own & 2047u;
    let below = (own >> 11u) & 2047u;
    let begin = lists[3u * i];
    let was = old[3u * i + 2u];
    let old_above = was & 2047u;
    let old_below = (was >> 11u) & 2047u;
    let old_begin = old[3u * i];
    for (var k = 0u; k < above; k++) {
        for (var m = 0u; m < old_above; m++) {
            let from_ = old[old_begin + m];
            if ((from_ >> 31u) == 1u && same(from_, lists[begin + k], 67108863u)) {
                lists[begin + k] |= 2147483648u;
                bring(old[3u * i + 1u] + m, lists[3u * i + 1u] + k);
            }
        }
    }
    for (var k = 0u; k < below; k++) {
        let at = begin + above + 2u * k;
        for (var m = 0u; m < old_below; m++) {
            let from_ = old[old_begin + old_above + 2u * m];
            if ((from_ >> 31u) == 1u && same(from_, lists[at], 67108863u)) { lists[at] |= 2147483648u; }
        }
    }
    for (var k = 0u; k < (own >> 22u); k++) {
        let at = begin + above + 2u * below + k;
        for (var m = 0u; m < (was >> 22u); m++) {
            let from_ = old[old_begin + old_above + 2u * old_below + m];
            if ((from_ >> 31u) == 1u && same(from_, lists[at], 2147483647u)) {
                lists[at] |= 2147483648u;
                bring(old[3u * i + 1u] + old_above + m, lists[3u * i + 1u] + above + k);
            }
        }
    }
}

fn bring(from_: u32, to: u32) {
    for (var k = 0u; k < c.memory; k++) { memory[has + to * c.memory + k] = memory[had + from_ * c.memory + k]; }
}
