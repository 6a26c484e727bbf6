module @jit_nested_while attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.while(%iterArg = %arg0) : tensor<3xf32>
    cond {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.reduce(%iterArg init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      %cst_0 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
      %2 = stablehlo.compare LT, %1, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %1 = stablehlo.slice %iterArg [0:1] : (tensor<3xf32>) -> tensor<1xf32>
      %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
      %cst = stablehlo.constant dense<5.000000e+00> : tensor<f32>
      %3 = stablehlo.compare GT, %2, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.convert %3 : (tensor<i1>) -> tensor<i32>
      %5 = "stablehlo.case"(%4) ({
        %6 = stablehlo.while(%iterArg_1 = %iterArg) : tensor<3xf32>
        cond {
          %9 = stablehlo.slice %iterArg_1 [1:2] : (tensor<3xf32>) -> tensor<1xf32>
          %10 = stablehlo.reshape %9 : (tensor<1xf32>) -> tensor<f32>
          %cst_2 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
          %11 = stablehlo.compare LT, %10, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %11 : tensor<i1>
        } do {
          %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
          %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %10 = stablehlo.add %iterArg_1, %9 : tensor<3xf32>
          stablehlo.return %10 : tensor<3xf32>
        }
        %cst_0 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
        %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %8 = stablehlo.add %6, %7 : tensor<3xf32>
        stablehlo.return %8 : tensor<3xf32>
      }, {
        %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %7 = stablehlo.multiply %iterArg, %6 : tensor<3xf32>
        stablehlo.return %7 : tensor<3xf32>
      }) : (tensor<i32>) -> tensor<3xf32>
      stablehlo.return %5 : tensor<3xf32>
    }
    return %0 : tensor<3xf32>
  }
}
// bound 6e-07
// arg0 f32 3 893e353f4578f1be99aa8f3f
// result f32 3 d1a776427ce8504253f58142
