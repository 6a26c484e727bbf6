module @jit_cumsum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x8xf32> {jax.result_info = "result"}) {
    %0 = call @cumsum(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
  func.func private @cumsum(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 8>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
    return %1 : tensor<3x8xf32>
  }
}
// bound 6e-07
// arg0 f32 3,8 e2f042bf1f0aa5bf27d37b3d53cf35bf8565a7bf890aa2bf1ff2fabe4e21edbfdb79acbf2b4cd1bf3aa23a3e4fe3d03eff7400400eafbfbf11fa2dbfe6a0693ff4f95dbe466ca7be13c6da3f9243adbe32fe93bf7d91a8bf20e0ab3ea1489c3e
// result f32 3,8 e2f042bf484103c0f7a3febfd0c52cc0493c80c0ebbea8c00d6eb8c060b6f3c0db79acbf03e33ec0df3833c0751c19c0b03bc5befafdf0bf81fd23c08f2ad3bff4f95dbea0340bbfc32b953fbdb5533f4e8da8bed0b4d2bfc8bca7bfa0aa80bf
