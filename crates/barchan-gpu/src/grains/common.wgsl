// What all kernels of the grains share: constants, buffers, whole numbers of 64 bits.
struct Constants {
    // Grains; smooth features of walls; materials; walls.
    n: u32, features: u32, materials: u32, walls: u32,
    // Rows of memory a contact has: slide, and roll where something resists rolling. Workgroups. Rows of `walls` where bumps and sums begin.
    memory: u32, groups: u32, bumps_at: u32, sums_at: u32,
    // Rows of features from step to step, 0 where no wall moves. Bits of a cell's key. Columns of the loads on walls. Rows of half the memory.
    stride: u32, bits: u32, columns: u32, room: u32,
    dt: f32, quantum: f32, max_overlap: f32,
    // Quanta a step that an acceleration of 1 m/s² adds to a velocity.
    kick: f32,
    // Metres a second that are one quantum a step; seconds by which the velocity of a record is ahead of that which is kept; least and most
    // quanta that a grain may go before lists are built anew.
    speed: f32, ahead: f32, least: f32, most: f32,
    gravity: vec4<f32>,
    // What gravity adds a step, in the units of velocities.
    fall: vec4<u32>, fall_low: vec4<u32>,
    // The domain [quanta], its size where it is periodic, and where it is.
    low: vec4<u32>, low_high: vec4<u32>, high: vec4<u32>, high_high: vec4<u32>,
    period: vec4<u32>, period_high: vec4<u32>, periodic: vec4<u32>,
};
@group(0) @binding(0) var<uniform> c: Constants;
// Three rows a grain: low words of its place, radius [quanta] and from bit 28 on its material; velocity [m/s], inverse mass [1/kg]; spin
// [rad/s], what it may still go before lists are built anew [quanta]. Twice: a step reads one half and writes the other.
@group(0) @binding(1) var<storage, read_write> record: array<vec4<u32>>;
// Three rows a grain: place beyond its low words, 16 bits above and 16 behind the point; velocity and spin times radius, of 48 bits, in
// 2^-22 quanta a step. Their lowest 16 bits stand in the fourth words, that of velocity above.
@group(0) @binding(2) var<storage, read_write> fine: array<vec4<u32>>;
// What contacts remember: twice, as records.
@group(0) @binding(3) var<storage, read_write> memory: array<vec4<f32>>;
// Of each grain three words: where its entries begin, where its memory does, and how many entries it has of partners above it (11 bits), of
// those below it (11) and of walls (10). Then the entries, in this order: slot of the partner, from bit 26 on the image it is in, in bit 31
// whether they touched. Those below are followed by where the pair's memory is. Walls: feature, or with bit 30 bump.
@group(0) @binding(4) var<storage, read_write> lists: array<u32>;
// Status, then of each column of the loads on walls the steps that are done and whether no more may be, then the loads step by step.
@group(0) @binding(5) var<storage, read_write> board: array<atomic<u32>>;
// Features of walls for each step, bumps, and sums over the grains of a workgroup: force and torque on each wall.
@group(0) @binding(6) var<storage, read_write> walls: array<vec4<u32>>;
@group(0) @binding(7) var<uniform> rows: array<vec4<f32>, 512>;
// Three rows a grain: force [N], contacts; torque [N m], sum of normal forces [N]; elastic energy [J], largest overlap over the smaller radius.
@group(0) @binding(8) var<storage, read_write> load: array<vec4<f32>>;

// Words of the board: whether a grain has spent what it may go; the first that is not finite; largest overlap over radius; the first beyond
// what is let pass; the first that went beyond what its list holds; whether one is outside; the step of what went wrong.
const SPENT: u32 = 0u;
const BROKEN: u32 = 1u;
const SHARE: u32 = 2u;
const DEEP: u32 = 3u;
const FAST: u32 = 4u;
const OUTSIDE: u32 = 5u;
const WRONG: u32 = 6u;
// One has more neighbours than a head can say.
const CROWDED: u32 = 7u;
// Which half of records and of memory is that of the first step.
const HALVES: u32 = 8u;
const LEDGER: u32 = 16u;
const FEATURE: u32 = 16u;

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

fn opposite(a: vec2<u32>) -> vec2<u32> { return add(vec2<u32>(~a.x, ~a.y), vec2<u32>(1u, 0u)); }

// The low 64 bits of a product with a signed word: sums of these are right where the sum itself is small, however large its terms are.
fn product(a: vec2<u32>, b: i32) -> vec2<u32> {
    let low = bitcast<u32>(b);
    var out = wide(a.x, low);
    out.y += a.y * low;
    if (b < 0) { out.y -= a.x; }
    return out;
}

fn along(a: Long, b: vec3<i32>) -> vec2<u32> {
    let xy = add(product(vec2<u32>(a.low.x, a.high.x), b.x), product(vec2<u32>(a.low.y, a.high.y), b.y));
    return add(xy, product(vec2<u32>(a.low.z, a.high.z), b.z));
}

fn extended(a: vec3<i32>) -> Long { return Long(bitcast<vec3<u32>>(a), bitcast<vec3<u32>>(a >> vec3<u32>(31u))); }

// By sign and size, so that a small number keeps its digits on both sides of 0.
fn signed(a: vec2<u32>) -> f32 {
    let below = (a.y >> 31u) == 1u;
    let size = select(a, opposite(a), below);
    let real = f32(size.y) * 4294967296.0 + f32(size.x);
    return select(real, -real, below);
}

// Bits 30 to 61 of a sum of products in units of 2^-30.
fn whole(a: vec2<u32>) -> u32 { return (a.x >> 30u) | (a.y << 2u); }

fn high_of(extension: vec3<u32>) -> vec3<u32> {
    return bitcast<vec3<u32>>(bitcast<vec3<i32>>(extension) >> vec3<u32>(16u));
}

// Where this step reads and writes, in rows.
var<private> here: u32;
var<private> onward: u32;
var<private> had: u32;
var<private> has: u32;

fn orient() {
    let done = atomicLoad(&board[LEDGER]);
    let half = (atomicLoad(&board[HALVES]) + done) & 1u;
    here = half * 3u * c.n;
    onward = (1u - half) * 3u * c.n;
    let kept = (atomicLoad(&board[HALVES + 1u]) + done) & 1u;
    had = kept * c.room;
    has = (1u - kept) * c.room;
}

fn place_of(i: u32) -> Long { return Long(record[here + 3u * i].xyz, high_of(fine[3u * i].xyz)); }
