module @jit_complexes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>) -> (tensor<5xf32> {jax.result_info = "result[0]"}, tensor<5xf32> {jax.result_info = "result[1]"}, tensor<5xf32> {jax.result_info = "result[2]"}, tensor<5xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<5xcomplex<f32>> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.convert %arg1 : (tensor<5xf32>) -> tensor<5xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
    %2 = stablehlo.multiply %1, %0 : tensor<5xcomplex<f32>>
    %3 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xcomplex<f32>>
    %4 = stablehlo.add %3, %2 : tensor<5xcomplex<f32>>
    %5 = stablehlo.multiply %4, %4 : tensor<5xcomplex<f32>>
    %6 = stablehlo.real %4 : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %7 = stablehlo.imag %4 : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %8 = stablehlo.negate %7 : tensor<5xf32>
    %9 = stablehlo.complex %6, %8 : tensor<5xcomplex<f32>>
    %10 = stablehlo.add %5, %9 : tensor<5xcomplex<f32>>
    %11 = stablehlo.abs %10 : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %12 = stablehlo.real %10 : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %13 = call @angle(%4) : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %14 = stablehlo.exponential %4 : tensor<5xcomplex<f32>>
    return %11, %12, %13, %10, %14 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>
  }
  func.func private @angle(%arg0: tensor<5xcomplex<f32>>) -> tensor<5xf32> {
    %0 = stablehlo.real %arg0 : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %1 = stablehlo.imag %arg0 : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %2 = stablehlo.atan2 %1, %0 : tensor<5xf32>
    return %2 : tensor<5xf32>
  }
}
// bound 6e-07
// arg0 f32 5 79e2453fdc7fcbbfd2b18d3fae661abf23561f3f
// arg1 f32 5 acd33a3eda7925c06b8d41bff2cc613eb0e8c63f
// result0 f32 5 0da3ab3f67d74341a729fe3fa1ba103f4652ba3f
// result1 f32 5 a629ab3f8eeab7c04761e13f347393be68d8b3bf
// result2 f32 5 c8596d3e60d007c0716619bf17a13240904c983f
// result3 f32 5,2 a629ab3f5401cc3d8eeab7c0bce82c414761e13febf76abf347393be5416f9be68d8b3bfd4c8c23e
// result4 f32 5,2 65560840e13bc93e1d6431be3579dcbdf5dc0c400cd504c061aa083f7d12f53d0660003d947bee3f
