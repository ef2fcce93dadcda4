//! Every shader as the languages of the drivers that are not at hand.

use barchan_core::contact::{ContactLaw, NormalLaw, TangentialLaw};
use barchan_gpu::blocks::{lists, reduce, scan, sort};
use barchan_gpu::{grains, law};
use naga::back::{hlsl, msl, spv};
use naga::valid::{Capabilities, ValidationFlags, Validator};

fn shaders() -> Vec<(&'static str, String)> {
    let law = ContactLaw {
        normal: NormalLaw::Hertz,
        tangential: TangentialLaw::Mindlin,
        cap: barchan_core::contact::Cap::Shared,
        ..ContactLaw::HERTZ_MINDLIN
    };
    vec![
        ("scan", scan::SHADER.into()),
        ("sort", sort::SHADER.into()),
        ("reduce", reduce::SHADER.into()),
        ("lists", lists::SHADER.into()),
        ("law", law::wgsl(&law, true)),
        ("step of grains", grains::step_shader(&law, true)),
        ("end of a step", grains::close_shader()),
        ("lists of grains", grains::near_shader()),
    ]
}

#[test]
fn every_shader_is_valid_as_spirv_msl_and_hlsl() {
    for (name, source) in shaders() {
        let module = naga::front::wgsl::parse_str(&source).unwrap_or_else(|e| panic!("{name}: {e}"));
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let words = spv::write_vec(&module, &info, &spv::Options::default(), None);
        assert!(words.is_ok_and(|w| !w.is_empty()), "{name} as SPIR-V");
        let metal = msl::write_string(&module, &info, &msl::Options::default(), &msl::PipelineOptions::default());
        assert!(metal.is_ok_and(|(text, _)| !text.is_empty()), "{name} as MSL");
        let mut text = String::new();
        let options = hlsl::Options::default();
        let pipeline = hlsl::PipelineOptions::default();
        hlsl::Writer::new(&mut text, &options, &pipeline)
            .write(&module, &info, None)
            .unwrap_or_else(|e| panic!("{name} as HLSL: {e:?}"));
    }
}
