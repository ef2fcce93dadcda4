// The end of a step: loads on walls are summed, a column a workgroup, and the next step is let run or not.
@group(0) @binding(9) var<storage, read_write> launch: array<u32, 4>;

var<workgroup> partial: array<vec4<f32>, 256>;
var<workgroup> stopped: u32;

// Word of the ledger of a column.
fn ledger(column: u32) -> u32 { return LEDGER + 2u * column; }

fn sum_up(column: u32, t: u32, always: bool) {
    if (t == 0u) { stopped = select(atomicLoad(&board[ledger(column) + 1u]), 0u, always); }
    if (workgroupUniformLoad(&stopped) != 0u) { return; }
    let done = atomicLoad(&board[ledger(column)]);
    if (column < 2u * c.walls) {
        var own = vec4<f32>(0.0);
        // In a fixed order, which depends on how many there are and on nothing else.
        for (var g = t; g < c.groups; g += 256u) { own += bitcast<vec4<f32>>(walls[c.sums_at + 2u * c.walls * g + column]); }
        partial[t] = own;
        workgroupBarrier();
        for (var half = 128u; half > 0u; half /= 2u) {
            if (t < half) { partial[t] += partial[t + half]; }
            workgroupBarrier();
        }
        if (t < 4u) {
            let to = LEDGER + 2u * c.columns + 4u * (done * c.columns + column) + t;
            atomicStore(&board[to], bitcast<u32>(partial[0][t]));
        }
    }
    workgroupBarrier();
    if (t == 0u) {
        let spent = atomicLoad(&board[SPENT]);
        atomicStore(&board[ledger(column)], done + 1u);
        atomicStore(&board[ledger(column) + 1u], spent);
        if (column == 0u && spent != 0u) { launch[0] = 0u; }
    }
}

@compute @workgroup_size(256)
fn close(@builtin(workgroup_id) w: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    sum_up(w.x, t, false);
}

// After the last step, which is always done.
@compute @workgroup_size(256)
fn finish(@builtin(workgroup_id) w: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    sum_up(w.x, t, true);
}

// After the first motion of a submission: whether a step may follow within it.
@compute @workgroup_size(64)
fn gate(@builtin(local_invocation_index) t: u32) {
    if (atomicLoad(&board[SPENT]) == 0u) { return; }
    for (var column = t; column < c.columns; column += 64u) { atomicStore(&board[ledger(column) + 1u], 1u); }
    if (t == 0u) { launch[0] = 0u; }
}
