//! The recorded law against the processor's, over random contacts.

use crate::open;
use barchan_core::contact::{Cap, ContactLaw, Encounter, Memory, NormalLaw, TangentialLaw, react};
use barchan_core::rng::Random;
use barchan_core::simd::{Lanes, Octet, PlainLanes, Vec3, WIDTH};
use barchan_gpu::kernel::GROUP;
use barchan_gpu::law;

/// Numbers a contact has, and numbers the law answers with.
const INPUTS: usize = 29;
const OUTPUTS: usize = 16;
const CONTACTS: usize = 1 << 15;

const CALL: &str = "
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@compute @workgroup_size(64)
fn go(@builtin(global_invocation_id) g: vec3<u32>) {
    let a = g.x * 29u;
    if (a >= arrayLength(&x)) { return; }
    let r = react(vec3(x[a], x[a + 1u], x[a + 2u]), x[a + 3u], vec3(x[a + 4u], x[a + 5u], x[a + 6u]),
        vec3(x[a + 7u], x[a + 8u], x[a + 9u]), x[a + 10u], x[a + 11u],
        vec4(x[a + 12u], x[a + 13u], x[a + 14u], x[a + 15u]), vec4(x[a + 16u], x[a + 17u], x[a + 18u], x[a + 19u]),
        vec4(x[a + 20u], x[a + 21u], x[a + 22u], x[a + 23u]), vec4(x[a + 24u], x[a + 25u], x[a + 26u], x[a + 27u]),
        x[a + 28u], x[a + 3u] > 0.0);
    y[g.x * 4u] = r.traction; y[g.x * 4u + 1u] = r.couple; y[g.x * 4u + 2u] = r.slide; y[g.x * 4u + 3u] = r.roll;
}
";

/// Contacts of grains of a millimetre; a sixth of them do not touch.
fn contacts() -> Vec<f32> {
    let mut rng = Random::new(7, 1);
    let mut all = Vec::with_capacity(CONTACTS * INPUTS);
    for _ in 0..CONTACTS {
        let vectors = [rng.in_ball().normalize(), rng.in_ball(), 10.0 * rng.in_ball(), 1e-6 * rng.in_ball()];
        let [normal, velocity, spin, slide] = vectors.map(|v| v.to_array());
        let overlap = rng.range(-0.2e-5, 1e-5);
        let mut contact = [&normal[..], &[overlap], &velocity, &spin].concat();
        contact.extend([rng.range(5e-4, 1e-3), rng.range(2.5e-6, 7.5e-6)]);
        contact.extend([7.3e6, 4e3, 9e6, 4e3, 0.5, 0.1, 0.05, 0.1].map(|mean| mean * rng.range(0.5, 1.5)));
        contact.extend(slide);
        contact.push(rng.range(0.0, 2e4));
        contact.extend((1e-3 * rng.in_ball()).to_array());
        contact.extend([rng.range(-1e-3, 1e-3), 1e-5]);
        all.extend(contact.iter().map(|&c| c as f32));
    }
    all
}

/// What the processor answers to eight contacts, in the order of the kernel's output.
fn expected(law: &ContactLaw, resists: bool, contacts: &[f32]) -> [PlainLanes<f32>; OUTPUTS] {
    let at = |k: usize| PlainLanes::from_array(std::array::from_fn(|lane| contacts[lane * INPUTS + k]));
    let vector = |k: usize| Vec3(at(k), at(k + 1), at(k + 2));
    let encounter = Encounter {
        normal: vector(0),
        overlap: at(3),
        velocity: vector(4),
        spin: vector(7),
        own_spin: vector(7),
        radius: at(10),
        mass: at(11),
        row: std::array::from_fn(|k| at(12 + k)),
        touching: at(3).gt(PlainLanes::zero()),
    };
    let mut m = Memory { slide: vector(20), stiffness: at(23), roll: vector(24), twist: at(27) };
    let r = react(law, resists, &encounter, &mut m, at(28));
    let (t, c) = (r.traction, r.couple);
    let (s, o) = (m.slide, m.roll);
    [t.0, t.1, t.2, r.press, c.0, c.1, c.2, r.energy, s.0, s.1, s.2, m.stiffness, o.0, o.1, o.2, m.twist]
}

fn laws() -> Vec<(ContactLaw, bool)> {
    let normals = [
        NormalLaw::Hertz,
        NormalLaw::Linear { stiffness: 1e4 },
        NormalLaw::LinearTime { contact_time: 1e-4 },
        NormalLaw::KuwabaraKono { dissipation: 1e-5 },
        NormalLaw::LeeHerrmann { stiffness: 1e6, damping: 100.0 },
    ];
    let tangentials = [
        TangentialLaw::Mindlin,
        TangentialLaw::MindlinDisplacement,
        TangentialLaw::CundallStrack { ratio: 0.3 },
        TangentialLaw::Viscous { damping: 0.1 },
    ];
    let pairs = normals.iter().flat_map(|&normal| {
        tangentials.map(|tangential| ContactLaw { normal, tangential, cap: Cap::Shared, ..ContactLaw::HERTZ_MINDLIN })
    });
    pairs
        .enumerate()
        .map(|(k, law)| (law, k % 2 == 0))
        .chain([
            (
                ContactLaw {
                    normal: normals[0],
                    tangential: tangentials[0],
                    cap: Cap::Shared,
                    ..ContactLaw::HERTZ_MINDLIN
                },
                false,
            ),
            (
                ContactLaw {
                    normal: normals[0],
                    tangential: tangentials[1],
                    cap: Cap::Spring,
                    ..ContactLaw::HERTZ_MINDLIN
                },
                true,
            ),
        ])
        .collect()
}

#[test]
fn every_law_is_the_processors_within_4_ulp_of_the_largest_term() {
    let Some(gpu) = open(None) else { return };
    let contacts = contacts();
    let x = gpu.upload("contacts", &contacts).unwrap();
    let y = gpu.buffer::<f32>("reactions", CONTACTS * OUTPUTS).unwrap();
    for (law, resists) in laws() {
        let kernel = gpu.kernel("law", &(law::wgsl(&law, resists) + CALL), "go").unwrap();
        let mut launches = gpu.launches();
        launches.run(&kernel, &[(0, &x), (1, &y)], CONTACTS as u32 / GROUP);
        launches.submit().unwrap();
        let got: Vec<f32> = gpu.read(&y, CONTACTS * OUTPUTS).unwrap();
        let (mut same, mut worst) = (0, 0.0f32);
        for (batch, eight) in contacts.chunks(WIDTH * INPUTS).enumerate() {
            let want = expected(&law, resists, eight).map(|v| v.to_array());
            for lane in 0..WIDTH {
                let got = &got[(batch * WIDTH + lane) * OUTPUTS..][..OUTPUTS];
                // Components of one quantity share their terms: the largest of four stands for the largest term.
                for (quantity, got) in got.chunks(4).enumerate() {
                    let want: [f32; 4] = std::array::from_fn(|k| want[quantity * 4 + k][lane]);
                    let scale = want[..3].iter().fold(0.0f32, |most, w| most.max(w.abs()));
                    for k in 0..4 {
                        let scale = if k == 3 { want[3].abs() } else { scale };
                        let ulp = (scale * f32::EPSILON).max(f32::MIN_POSITIVE);
                        same += usize::from(got[k] == want[k]);
                        worst = worst.max((got[k] - want[k]).abs() / ulp);
                        assert!(got[k].is_finite() == want[k].is_finite(), "{law:?}: {got:?} for {want:?}");
                    }
                }
            }
        }
        println!("{law:?}, rolling {resists}: {same} of {} equal, worst {worst:.1} ulp", CONTACTS * OUTPUTS);
        assert!(worst <= 4.0, "{law:?}, rolling {resists}: {worst} ulp");
    }
}
