// Where walls are, seen from a grain: in whole numbers, so that an overlap is right to a few quanta however large the wall is.
//
// The direction to a curved wall is found in f32 and brought to unit length, across the axis, in units of 2^-30; along it the distance is a
// sum of products of whole numbers. What the direction misses is second order in it.

const PLANE: u32 = 0u;
const FACE: u32 = 1u;
const BLOCK: u32 = 2u;
const CYLINDER: u32 = 3u;
const MANTLE: u32 = 4u;
const SPHERE: u32 = 5u;
const DISC: u32 = 6u;

const UNIT: f32 = 1073741824.0;
const CELL: f32 = 268435456.0;
// As a gap [quanta]: farther than any list looks.
const FAR: f32 = 1e9;

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

// How deep a grain is in a wall [quanta], negative by the gap; the direction out of the wall; radius of a bump [quanta], 0 of a smooth one.
struct Meeting { overlap: f32, inward: vec3<f32>, bump: f32 };

fn gap(by: f32) -> Meeting { return Meeting(-by, vec3<f32>(0.0), 0.0); }

// From a point of the wall at that offset; `s` is what the distance falls short of.
fn about_point(s: i32, offset: vec3<i32>, facing: vec3<f32>) -> Meeting {
    let away = vec3<f32>(offset);
    let distance = sqrt(dot(away, away));
    var over = f32(s) - distance;
    if (all(abs(offset) < vec3<i32>(s))) { over = excess(s, offset) / (f32(s) + distance); }
    return Meeting(over, select(facing, away / distance, distance > 0.0), 0.0);
}

// Distance from a plane [quanta], where it is within some cells; `d` is the place relative to a point of the plane. The normal is known in whole
// numbers, in units of 2^-30 within a cell and of 2^-52 from cell to cell, so that nothing is lost however far the point is.
fn plane_distance(d: Long, at: u32) -> f32 {
    let unit = bitcast<vec3<i32>>(walls[at + 3u].xyz);
    let step_low = walls[at + 4u].xyz;
    let step_high = walls[at + 5u].xyz;
    let cell = (d.high << vec3<u32>(4u)) | (d.low >> vec3<u32>(28u));
    let within = d.low & vec3<u32>(268435455u);
    var sum = vec2<u32>(0u);
    for (var k = 0u; k < 3u; k++) {
        let cells = cell[k];
        var step = wide(cells, step_low[k]);
        step.y += cells * step_high[k];
        if ((cells >> 31u) == 1u) { step.y -= step_low[k]; }
        sum = add(sum, step);
        var inner = wide(u32(abs(unit[k])), within[k]);
        inner = vec2<u32>((inner.x >> 6u) | (inner.y << 26u), inner.y >> 6u);
        if (unit[k] < 0) { inner = opposite(inner); }
        sum = add(sum, inner);
    }
    return signed(sum) * 5.9604644775390625e-8;
}

// A direction across an axis, near to `about`, in units of 2^-30.
fn direction(about: vec3<f32>, axis: vec3<i32>, has_axis: bool) -> vec3<i32> {
    var o = vec3<i32>(round(about * UNIT));
    var square = along(extended(o), o);
    square.y -= 268435456u;
    o -= vec3<i32>(round(about * (signed(square) / (2.0 * UNIT))));
    if (has_axis) {
        let lean = signed(along(extended(o), axis)) / UNIT;
        o -= vec3<i32>(round(vec3<f32>(axis) / UNIT * lean));
    }
    return o;
}

// A fraction of a direction: products of units of 2^-30.
fn part(o: vec3<i32>, much: i32) -> vec3<i32> {
    let d = extended(o);
    return bitcast<vec3<i32>>(vec3<u32>(
        whole(product(vec2<u32>(d.low.x, d.high.x), much)),
        whole(product(vec2<u32>(d.low.y, d.high.y), much)),
        whole(product(vec2<u32>(d.low.z, d.high.z), much)),
    ));
}

// Low words of the point that is so far [quanta, low and high word] along a direction.
fn reach(by: vec2<u32>, o: vec3<i32>) -> vec3<u32> {
    return vec3<u32>(whole(product(by, o.x)), whole(product(by, o.y)), whole(product(by, o.z)));
}

// How a grain, of that place and radius [quanta], meets the smooth feature in row `at`. Beyond `within` the gap is an estimate.
fn meet(place: Long, radius: u32, at: u32, within: f32) -> Meeting {
    let r = f32(radius);
    let d = minus(place, Long(walls[at + 1u].xyz, walls[at + 2u].xyz));
    let df = to_real(d);
    let kind = walls[at].x;
    let axis = bitcast<vec3<f32>>(walls[at + 6u].xyz);
    // What estimates in f32 may be wrong by.
    let loose = 1e-6 * (abs(df.x) + abs(df.y) + abs(df.z) + bitcast<f32>(walls[at + 6u].w));
    if (kind == PLANE) {
        let about = dot(df, axis);
        if (about - loose > r + within) { return gap(about - loose - r); }
        var distance = about;
        if (about > -1073741824.0) { distance = plane_distance(d, at); }
        return Meeting(r - distance, axis, 0.0);
    }
    if (kind == FACE || kind == BLOCK) {
        // A face of a box with an open side, or a block: the offset from its nearest point.
        let half = Long(walls[at + 7u].xyz, walls[at + 8u].xyz);
        let lowest = minus(Long(vec3<u32>(0u), vec3<u32>(0u)), half);
        let over = minus(d, half);
        let under = minus(d, lowest);
        var low = select(select(vec3<u32>(0u), over.low, !negative(over)), under.low, negative(under));
        var high = select(select(vec3<u32>(0u), over.high, !negative(over)), under.high, negative(under));
        if (kind == FACE) {
            let side = walls[at].w >> 1u;
            let upper = (walls[at].w & 1u) == 1u;
            low[side] = select(under.low[side], over.low[side], upper);
            high[side] = select(under.high[side], over.high[side], upper);
        }
        let offset = bitcast<vec3<i32>>(low);
        // Beyond what a cell holds in some direction, by the words themselves: the rest is small.
        let fits = (bitcast<vec3<i32>>(high) == (offset >> vec3<u32>(31u))) & (abs(offset) < vec3<i32>(1073741824));
        if (!all(fits)) { return gap(FAR); }
        // A centre on the surface has no direction; it overlaps by its radius, which is refused as too deep.
        return about_point(i32(radius), offset, vec3<f32>(0.0));
    }
    let sizes = bitcast<vec4<f32>>(walls[at + 15u]);
    let outside = (walls[at].w & 1u) == 1u;
    if (kind == SPHERE) {
        let rho = length(df);
        let distance = select(sizes.x - rho, rho - sizes.x, outside);
        if (distance - loose > r + within || rho == 0.0) { return gap(distance - loose - r); }
        let o = direction(df / rho, vec3<i32>(0), false);
        let radial = signed(add(along(d, o), opposite(walls[at + 7u].xy))) / UNIT;
        let out = vec3<f32>(o) / UNIT;
        return Meeting(r - select(-radial, radial, outside), select(-out, out, outside), 0.0);
    }
    let a = bitcast<vec3<i32>>(walls[at + 3u].xyz);
    let z = dot(df, axis);
    let across = df - z * axis;
    let rho = length(across);
    // On the axis every direction is as near as any other; the wall is far.
    let o = direction(select(vec3<f32>(1.0, 0.0, 0.0), across / rho, rho > 0.0), a, true);
    let out = vec3<f32>(o) / UNIT;
    if (kind == CYLINDER) {
        let distance = select(sizes.x - rho, rho - sizes.x, outside);
        if (distance - loose > r + within) { return gap(distance - loose - r); }
        let radial = signed(add(along(d, o), opposite(walls[at + 7u].xy))) / UNIT;
        return Meeting(r - select(-radial, radial, outside), select(-out, out, outside), 0.0);
    }
    // A mantle from (sizes.x, 0) to (sizes.y, sizes.z), or a disc from its hole to its edge: thin shells with rims.
    var first = vec2<f32>(sizes.x, 0.0);
    var second = vec2<f32>(sizes.y, sizes.z);
    let side = second - first;
    let t = dot(vec2<f32>(rho, z) - first, side) / dot(side, side);
    let nearest = vec2<f32>(rho, z) - (first + side * clamp(t, 0.0, 1.0));
    let about = length(nearest);
    if (about - loose > r + within) { return gap(about - loose - r); }
    if (t > 0.0 && t < 1.0) {
        // Its normal in the half-plane through the axis, and how far it is from the pivot along that.
    
        var normal = part(a, bitcast<i32>(walls[at + 13u].w));
        if (kind == MANTLE) { normal += part(o, bitcast<i32>(walls[at + 12u].w)); }
        let distance = signed(add(along(d, normal), opposite(walls[at + 7u].xy))) / UNIT;
        let unit = vec3<f32>(normal) / UNIT;
        return Meeting(r - abs(distance), select(unit, -unit, distance < 0.0), 0.0);
    }
    // The rim: low words of its nearest point.
    let late = t >= 1.0;
    let radius_there = select(walls[at + 8u].xy, walls[at + 7u].zw, late);
    let height = select(vec2<u32>(0u), walls[at + 10u].xy, late);
    let offset = bitcast<vec3<i32>>(d.low - reach(radius_there, o) - reach(height, a));
    return about_point(i32(radius), offset, out);
}

// The same for a bump of a rough wall, whose wall's feature is in row `at`.
fn meet_bump(place: Long, radius: u32, bump: u32, at: u32) -> Meeting {
    let x = walls[bump + 1u];
    let y = walls[bump + 2u];
    let turned = reach(x.xy, bitcast<vec3<i32>>(walls[at + 12u].xyz)) + reach(x.zw, bitcast<vec3<i32>>(walls[at + 13u].xyz))
        + reach(y.xy, bitcast<vec3<i32>>(walls[at + 14u].xyz));
    let offset = bitcast<vec3<i32>>(place.low - walls[at + 1u].xyz - turned);
    var found = about_point(i32(radius + y.z), offset, vec3<f32>(0.0));
    found.bump = f32(y.z);
    return found;
}
