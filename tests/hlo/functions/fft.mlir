module @jit_fft attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8xf32>) -> (tensor<2x8xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x8xf32>) -> tensor<2x8xcomplex<f32>>
    return %0 : tensor<2x8xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<2x8xf32>) -> tensor<2x8xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<2x8xf32>) -> tensor<2x8xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [8] : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
    return %1 : tensor<2x8xcomplex<f32>>
  }
}
// bound 6e-07
// arg0 f32 2,8 c8b385bfbb4db2bed1a403bf0588f9be78ec403f0d00273f2cd213bfe43768bf858e903ee1d4ccbdc29e833f54f02940e5c9573f54410ebd4b2c30be4e505bbf
// result f32 2,8,2 32451ec000000000e05b33c033f0b13ee4fb4c3f8b6ad9bf8e384bbf9fa5f23ebc9e95be000000008e384bbf9fa5f2bee4fb4c3f8b6ad93fe05b33c033f0b1be7a4d69400000000036c445c004cd68c06ebd893eda77f73fcb05fc3f71519ebf90a2a23e00000000cb05fc3f71519e3f6ebd893eda77f7bf36c445c004cd6840
