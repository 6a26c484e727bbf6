module @jit_top_k attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x7xf32>) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<2x3xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<2x7xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
    return %values, %indices : tensor<2x3xf32>, tensor<2x3xi32>
  }
}
// bound 0
// arg0 f32 2,7 4d09cfbec751dcbfb63ce2beff0eb6bf4f2714be4d2775bffe53cf3dfb0ee83e94c6b5bf0f3350bfe47c71bf311a3f3f126ada3f4efe593f
// result0 f32 2,3 fe53cf3d4f2714be4d09cfbe126ada3f4efe593f311a3f3f
// result1 i32 2,3 060000000400000000000000050000000600000004000000
