//! Whatever the text, the reader answers with problems, not with a panic.

use barchan_scene::Scene;
use proptest::prelude::*;

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(?s).{0,200}") {
        let _ = Scene::from_toml(&text, "test");
    }

    #[test]
    fn no_mutilation_of_a_scene_makes_the_reader_panic(
        which in 0..11usize, from in 0.0..1.0f64, length in 0usize..40, put in "[\\[\\]{}=\",0-9a-z. \n-]{0,12}"
    ) {
        let source = barchan_scene::gallery()[which].source;
        let bytes: Vec<char> = source.chars().collect();
        let start = (from * bytes.len() as f64) as usize;
        let end = (start + length).min(bytes.len());
        let text: String = bytes[..start].iter().copied().chain(put.chars()).chain(bytes[end..].iter().copied()).collect();
        if let Err(errors) = Scene::from_toml(&text, "test") {
            for p in &errors.problems {
                prop_assert!(p.message.len() > 3);
                prop_assert!(p.span.is_none() || p.excerpt().is_some(), "the span of `{}` lies in the text", p.message);
            }
        }
    }
}
