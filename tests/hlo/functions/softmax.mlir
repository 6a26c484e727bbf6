module @jit_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x7xf32>) -> (tensor<3x7xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<3x7xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<3xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x7xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<3x7xf32>
    %6 = stablehlo.exponential %5 : tensor<3x7xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<3x7xf32>, tensor<f32>) -> tensor<3xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x7xf32>
    %10 = stablehlo.divide %6, %9 : tensor<3x7xf32>
    return %10 : tensor<3x7xf32>
  }
}
// bound 6e-07
// arg0 f32 3,7 d414933eb7f0833ed5d2b4bfd12fb73f4d4ee73f3516ea3cfe0761be053dcfbf5421623f25f22c40b994373f09c1a13f3cc60a3f002a7cbf1718ab3f8d069ebf8bb857bea8c58e3e5e06623f13fcd43e2c0fc63e
// result f32 3,7 733cb63d07edb03d282c853c90018f3e2e44d03e7bb28c3d1a845b3dabbb003c6680c43d8c70173f4a69a63dbeb90f3e08b18b3d06b0723c8f7fa73e7fdbcc3c74958e3d1fa1e83d0ccd543e2c69053ef093013e
