//! What goes wrong is told apart.

use crate::open;
use barchan_gpu::{Cap, GpuError};

#[test]
fn a_buffer_beyond_the_limit_is_named_with_both_sizes() {
    let Some(gpu) = open(Some(Cap { binding: 1 << 20, groups: 64 })) else { return };
    assert!(gpu.buffer::<u32>("fits", 1 << 18).is_ok());
    let error = gpu.buffer::<u32>("grains", (1 << 18) + 1).err();
    assert_eq!(error, Some(GpuError::TooLarge { what: "grains".into(), needs: (1 << 20) + 4, allows: 1 << 20 }));
}

#[test]
fn a_shader_that_does_not_compile_is_an_error_and_the_device_lives_on() {
    let Some(gpu) = open(None) else { return };
    let error = gpu.kernel("wrong", "@compute @workgroup_size(1) fn go() { let x: u32 = 1.5; }", "go").err();
    assert!(matches!(error, Some(GpuError::Compile { .. })), "{error:?}");
    gpu.alive().unwrap();
    assert_eq!(gpu.read::<u32>(&gpu.upload("numbers", &[3u32, 4, 5]).unwrap(), 3).unwrap(), [3, 4, 5]);
}
