module @jit_edges attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<6xf32>, %arg2: tensor<6xf32>) -> (tensor<6xf32> {jax.result_info = "result[0]"}, tensor<6xui32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.clamp %arg0, %arg1, %arg2 : tensor<6xf32>
    %1 = stablehlo.sign %arg0 : tensor<6xf32>
    %2 = stablehlo.bitcast_convert %1 : (tensor<6xf32>) -> tensor<6xui32>
    return %0, %2 : tensor<6xf32>, tensor<6xui32>
  }
}
// bound 0
// arg0 f32 6 0000c07f000000000000803f000000c00000008000004040
// arg1 f32 6 0000803f0000c07f0000a040000000000000004000004040
// arg2 f32 6 00000040000040400000c07f0000804000000000000040c0
// result0 f32 6 0000c07f0000c07f0000c07f0000000000000000000040c0
// result1 u32 6 0000c07f000000000000803f000080bf000000800000803f
