module @jit_fft2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<4x6xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    %1 = call @fft_0(%0) : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    %2 = stablehlo.abs %1 : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>
    return %2 : tensor<4x6xf32>
  }
  func.func private @fft(%arg0: tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [4, 6] : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    return %1 : tensor<4x6xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [4, 6] : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    return %0 : tensor<4x6xcomplex<f32>>
  }
}
// bound 6e-07
// arg0 f32 4,6 c95e193eaf12ed3e60b7b9bfb0b60140e07d973f215a3e3fdfa9bbbefdfebabd9aa80f3ffbc6d73ec64bdcbf2060423f733f3f405357f2bfcc84823f03cbc13e8752eabd1719b43f20579bbff31a2b3e0d40c03fecf24ebe5dc8dbbe0b9ef13d
// result f32 4,6 c85e193eb412ed3e60b7b93fb0b60140e07d973f1c5a3e3fe1a9bb3e06ffba3d9da80f3ffac6d73ec64bdc3f2160423f743f3f405357f23fcc84823ffccac13e8052ea3d1619b43f20579b3ff31a2b3e0e40c03ff4f24e3e5ec8db3e089ef13d
