module @jit_prod_min_max attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.multiply across dimensions = [0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_0 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<f32>, tensor<3xf32>
  }
}
// bound 6e-07
// arg0 f32 3,4 e4599b3f015cb1bfdde8953fd354743f9c90bebd29f443bffadb67be850ff23e14393e3f0be7923ea6fc7d3f08b40ebf
// result0 f32 4 b4dbabbd9ace9b3e9db486be5ac880be
// result1 f32 - 015cb1bf
// result2 f32 3 e4599b3f850ff23ea6fc7d3f
