//! Pictures that can be drawn.

use super::Check;
use crate::types::Camera;
use glam::DVec3;

pub(super) fn check(c: &mut Check) {
    let picture = &c.scene.picture;
    if let Some([low, high]) = picture.range
        && low >= high
    {
        c.error("picture.range", "the lower end of the range is not below the upper one", "swap or change the two");
    }
    if let Some(sun) = picture.sun
        && sun != DVec3::ZERO
        && sun.z <= 0.0
    {
        let help = "give a direction with z above 0, such as [-1, -1, 2]";
        c.error("picture.sun", "the sun is below the horizon", help);
    }
    camera(c);
}

fn camera(c: &mut Check) {
    let path = |key: &str| format!("picture.camera.{key}");
    match &c.scene.picture.camera {
        Camera::Auto { .. }
        | Camera::Orbit { .. }
        | Camera::Follow { .. }
        | Camera::Front { .. }
        | Camera::Valley { .. } => {}
        Camera::Fixed { eye, target, .. } => apart(c, &path("fixed"), *eye, *target),
        Camera::Fly(keys) => {
            if keys.len() < 2 {
                let help = "give two or more, or use `fixed`";
                c.error(path("fly"), "a camera that flies needs at least two keyframes", help);
            }
            for (i, k) in keys.iter().enumerate() {
                let at = path(&format!("fly[{i}]"));
                apart(c, &at, k.eye, k.target);
                if i > 0 && k.time <= keys[i - 1].time {
                    let message = "this keyframe does not come after the one before it";
                    c.error(format!("{at}.time"), message, "sort the keyframes by time, with no time twice");
                }
            }
        }
    }
}

fn apart(c: &mut Check, path: &str, eye: DVec3, target: DVec3) {
    if eye == target {
        let help = "move one of them: the camera looks from the eye to the target";
        c.error(format!("{path}.target"), "the target is where the eye is", help);
    }
}

#[cfg(test)]
mod tests {
    use crate::types::{Camera, Scene};

    const SCENE: &str = r#"
duration = 1
[domain]
min = [0, 0, 0]
max = [0.1, 0.1, 0.1]
[materials.sand]
preset = "dry sand"
[[grains]]
material = "sand"
radius = "2 mm"
at = [[0.05, 0.05, 0.05]]
[picture]
"#;

    fn paths(picture: &str) -> Vec<String> {
        match Scene::from_toml(&format!("{SCENE}{picture}"), "test") {
            Ok(_) => vec![],
            Err(e) => e.problems.iter().map(|p| p.path.clone()).collect(),
        }
    }

    #[test]
    fn a_whole_block_reads_and_writes_itself() {
        let text = format!(
            "{SCENE}colour = \"speed\"\nmap = \"inferno\"\nrange = [0, 2]\nsun = [-1, -1, 3]\nbackground = \"dark\"\nsize = [640, 360]\n\
             rate = \"30 Hz\"\nspeed = 0.25\ncamera = {{ fly = [{{ time = 0, eye = [0, -1, \"50 cm\"], target = [0, 0, 0], field = \"40 deg\" }}, \
             {{ time = 1, eye = [1, 0, 0], target = [0, 0, 0] }}] }}"
        );
        let scene = Scene::from_toml(&text, "test").unwrap().scene;
        assert_eq!((scene.picture.size, scene.picture.speed), ([640, 360], Some(0.25)));
        let Camera::Fly(keys) = &scene.picture.camera else { panic!("{:?}", scene.picture.camera) };
        assert!((keys[0].field - 40f64.to_radians()).abs() < 1e-12 && keys[0].eye.z == 0.5);
        let again = Scene::from_toml(&scene.to_toml().unwrap(), "again").unwrap().scene;
        assert_eq!(again, scene);
        let longer = scene.scaled(8.0);
        let Camera::Fly(keys) = &longer.picture.camera else { panic!() };
        assert!((keys[1].eye.x - 2.0).abs() < 1e-12, "twice as far for a geometry twice as long");
    }

    #[test]
    fn what_cannot_be_drawn_is_named() {
        assert_eq!(paths(""), [""; 0]);
        let cases = [
            ("size = [8, 1080]", "picture.size[0]"),
            ("rate = 0", "picture.rate"),
            ("speed = -1", "picture.speed"),
            ("range = [2, 1]", "picture.range"),
            ("sun = [0, 0, -1]", "picture.sun"),
            ("map = \"jet\"", "picture.map"),
            ("camera = { fixed = { eye = [0, 0, 0], target = [0, 0, 0] } }", "picture.camera.fixed.target"),
            ("camera = { fly = [{ time = 0, eye = [0, 0, 1], target = [0, 0, 0] }] }", "picture.camera.fly"),
            ("camera = { orbit = { elevation = \"100 deg\" } }", "picture.camera.orbit.elevation"),
            ("camera = { auto = {}, orbit = {} }", "picture.camera.orbit"),
            ("camera = { follow = { distance = 0 } }", "picture.camera.follow.distance"),
            ("color = \"speed\"", "picture.color"),
        ];
        for (text, path) in cases {
            assert_eq!(paths(text), [path], "{text}");
        }
    }

    #[test]
    fn a_mistyped_key_is_told_the_nearest() {
        let error = Scene::from_toml(&format!("{SCENE}color = \"speed\""), "test").unwrap_err();
        assert!(error.problems[0].help.contains("`colour`"), "{}", error.problems[0].help);
    }
}
