module @jit_norm attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf32>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = call @norm(%arg0) : (tensor<3x5xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @norm(%arg0: tensor<3x5xf32>) -> tensor<3xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<3x5xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.sqrt %1 : tensor<3xf32>
    return %2 : tensor<3xf32>
  }
}
// bound 6e-07
// arg0 f32 3,5 554f0dc049c800bee7c60ebe7331f53fc579adbeb5274fbc9ceb173feb0acb3f877e81bd9d0d853f31a1043f28ac97beddd49e3d7be5ea3c97806abf
// result f32 3 d3b63c40a27efe3f04578c3f
