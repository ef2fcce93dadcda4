struct Constants {
    n: u32, features: u32, materials: u32, walls: u32,
    // Rows of memory a contact has: slide, and roll where something resists rolling.
    memory: u32, dt: f32, quantum: f32, max_overlap: f32,
    // Quanta a step that an acceleration of 1 m/s² adds to a velocity; metres a second that are one quantum a step; seconds by which the
    // velocity of a record is ahead of that which is kept; quanta that a grain may move before lists are built anew.
    kick: f32, speed: f32, ahead: f32, allowance: f32,
    gravity: vec4<f32>,
    // Quanta a step, whole and fraction.
    fall: vec4<u32>, fall_fraction: vec4<u32>,
};
@group(0) @binding(0) var<uniform> c: Constants;
// Four rows a grain: low words of its place and radius [quanta]; high words, material; velocity [m/s], inverse mass [1/kg]; spin [rad/s],
// radius [m].
@group(0) @binding(1) var<storage, read_write> record: array<vec4<u32>>;
// Three rows a grain: force [N], contacts; torque [N m], sum of normal forces [N]; elastic energy [J], largest overlap over the smaller radius.
@group(0) @binding(2) var<storage, read_write> load: array<vec4<f32>>;
// Whether a grain has spent its allowance; the first that is not finite; largest overlap over radius; the first beyond what is let pass; the
// first that went beyond what its list holds.
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 8>;
