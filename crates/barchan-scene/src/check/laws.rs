//! The contact law: what it needs, and keys that mean nothing to it.

use super::Check;
use crate::types::*;

pub(super) fn check(c: &mut Check) {
    let law = &c.scene.contact;
    let (normal, tangential) = (law.normal, law.tangential);
    // (key, given, used by the law, the law that uses it)
    let keys = [
        ("stiffness", law.stiffness.is_some(), normal == NormalLaw::Linear, normal.name(), "normal = \"linear\""),
        ("contact_time", law.contact_time.is_some(), normal == NormalLaw::Linear, normal.name(), "normal = \"linear\""),
        (
            "dissipation",
            law.dissipation.is_some(),
            normal == NormalLaw::KuwabaraKono,
            normal.name(),
            "normal = \"kuwabara-kono\"",
        ),
        (
            "lee_herrmann",
            law.lee_herrmann.is_some(),
            normal == NormalLaw::LeeHerrmann,
            normal.name(),
            "normal = \"lee-herrmann\"",
        ),
        (
            "tangential_stiffness",
            law.tangential_stiffness.is_some(),
            tangential == TangentialLaw::CundallStrack,
            tangential.name(),
            "tangential = \"cundall-strack\"",
        ),
        (
            "tangential_damping",
            law.tangential_damping.is_some(),
            matches!(tangential, TangentialLaw::Viscous | TangentialLaw::CundallStrack),
            tangential.name(),
            "tangential = \"viscous\"",
        ),
        (
            "normal_damping",
            law.normal_damping.is_some(),
            normal == NormalLaw::Linear && law.stiffness.is_some(),
            normal.name(),
            "normal = \"linear\" with a `stiffness`",
        ),
        (
            "cap",
            law.cap != FrictionCap::Shared,
            tangential != TangentialLaw::Viscous,
            tangential.name(),
            "tangential = \"mindlin-displacement\"",
        ),
    ];
    for (key, given, used, chosen, other) in keys {
        if given && !used {
            c.error(
                format!("contact.{key}"),
                format!("`{key}` has no meaning for `{chosen}`"),
                format!("remove it, or choose `{other}`"),
            );
        }
    }
    match normal {
        NormalLaw::Hertz => {}
        NormalLaw::Linear => match (law.stiffness, law.contact_time) {
            (None, None) => c.error(
                "contact.normal",
                "the linear law needs a stiffness",
                "add `stiffness = \"1e5 N/m\"` or `contact_time = \"1e-4 s\"`",
            ),
            (Some(_), Some(_)) => c.error(
                "contact.contact_time",
                "`stiffness` and `contact_time` cannot both be given: each follows from the other",
                "keep one of the two",
            ),
            _ => {}
        },
        NormalLaw::KuwabaraKono if law.dissipation.is_none() => c.error(
            "contact.normal",
            "the kuwabara-kono law needs its dissipative time",
            "add `dissipation = \"1e-5 s\"`",
        ),
        NormalLaw::LeeHerrmann if law.lee_herrmann.is_none() => c.error(
            "contact.normal",
            "the lee-herrmann law needs its constants",
            "add `lee_herrmann = { stiffness = \"1e8 N/m^1.5\", damping = \"100 /s\" }`",
        ),
        NormalLaw::KuwabaraKono | NormalLaw::LeeHerrmann => {}
    }
    if tangential == TangentialLaw::Viscous && law.tangential_damping.is_none() {
        let help = "add `tangential_damping = \"0.1 N s/m\"`";
        c.error("contact.tangential", "the viscous law needs its damping", help);
    }
    if !law.uses_restitution() {
        let (message, source) = match normal {
            NormalLaw::KuwabaraKono => ("of the kuwabara-kono law follows", "`contact.dissipation`"),
            NormalLaw::Linear => ("follows", "`contact.normal_damping`"),
            _ => ("of the lee-herrmann law follows", "`contact.lee_herrmann.damping`"),
        };
        let materials = c.scene.materials.keys().map(|n| format!("materials.{n}.restitution"));
        let pairs = (0..c.scene.pairs.len()).map(|i| format!("pairs[{i}].restitution"));
        let given: Vec<_> = materials.chain(pairs).filter(|path| c.given(path)).collect();
        for path in given {
            let message = format!("this restitution is not used: that {message} from {source}");
            c.warn(path, message, "remove it, or choose `normal = \"hertz\"`");
        }
    }
}
