module @jit_lstm attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x5xf32>, %arg1: tensor<5x2xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<5x3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %arg0, %iterArg_2 = %c, %iterArg_3 = %0, %iterArg_4 = %1) : tensor<5x2xf32>, tensor<6x5xf32>, tensor<i32>, tensor<3xf32>, tensor<5x3xf32>
    cond {
      %c_5 = stablehlo.constant dense<5> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_2, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<5x2xf32>, tensor<i32>) -> tensor<2xf32>
      %4:2 = func.call @closed_call(%iterArg_1, %iterArg_3, %3) : (tensor<6x5xf32>, tensor<3xf32>, tensor<2xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      %5 = func.call @dynamic_update_index_in_dim(%iterArg_4, %4#1, %iterArg_2) : (tensor<5x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<5x3xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg_2, %c_5 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %6, %4#0, %5 : tensor<5x2xf32>, tensor<6x5xf32>, tensor<i32>, tensor<3xf32>, tensor<5x3xf32>
    }
    return %2#3, %2#4 : tensor<3xf32>, tensor<5x3xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x2xf32>, %arg1: tensor<i32>) -> tensor<2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 2] : (tensor<5x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @closed_call(%arg0: tensor<6x5xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.concatenate %arg1, %arg2, dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x5xf32>, tensor<5xf32>) -> tensor<6xf32>
    %2 = stablehlo.slice %1 [3:6] : (tensor<6xf32>) -> tensor<3xf32>
    %3 = stablehlo.negate %2 : tensor<3xf32>
    %4 = stablehlo.exponential %3 : tensor<3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %6 = stablehlo.add %5, %4 : tensor<3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %8 = stablehlo.divide %7, %6 : tensor<3xf32>
    %9 = stablehlo.slice %1 [0:3] : (tensor<6xf32>) -> tensor<3xf32>
    %10 = stablehlo.tanh %9 : tensor<3xf32>
    %11 = stablehlo.multiply %8, %10 : tensor<3xf32>
    return %11, %11 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> tensor<5x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<5x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x3xf32>
    return %1 : tensor<5x3xf32>
  }
}
// bound 6e-07
// arg0 f32 6,5 8e6c4ebf24e45f3fb34a83bf980591bff19eb1bfdc48b4bf1019f13e8b6c2440fbd07ebf8298733f1a91803e130f8dbf90ab8dbeb6816ebed7d130bf201ef73fc2fbf3bf3617c33e94bda93eba6114bf4717193eb8aa603f99661c3eaaabd53ead62313f350d02c07f3bbd3fbbcf114062157b3fc3bf813f
// arg1 f32 5,2 7041b4bf938af2bd1ae24fbf5d5216bfbb8f773f6ecc4dbf463905be604cf4bf003c22beb55ab83d
// result0 f32 3 a28710bff5bb81bed6f8393d
// result1 f32 5,3 46dcc13e46e0943e00ed903d1d54063fa0b5623c38246d3d856bb9bef13cf4bef490023eae9b473fd8dedfbd09c40f3ea28710bff5bb81bed6f8393d
