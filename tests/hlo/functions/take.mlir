module @jit_take attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x6xf32>, %arg1: tensor<2x2xi32>) -> (tensor<3x2x2xf32> {jax.result_info = "result"}) {
    %0 = call @_take(%arg0, %arg1) : (tensor<3x6xf32>, tensor<2x2xi32>) -> tensor<3x2x2xf32>
    return %0 : tensor<3x2x2xf32>
  }
  func.func private @_take(%arg0: tensor<3x6xf32>, %arg1: tensor<2x2xi32>) -> tensor<3x2x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1>}> : (tensor<3x6xf32>, tensor<2x2x1xi32>) -> tensor<3x2x2xf32>
    return %1 : tensor<3x2x2xf32>
  }
}
// bound 0
// arg0 f32 3,6 ed95ad3ce5070c4063be2f3f8c9ababebcb0403f95b4d63ec34661bf92a1993df7b12dbe1d6101c0688135be350595be33bae6bedc75d8bf68b3babe182027bd0b9fd63d0a6c95bf
// arg1 i32 2,2 04000000030000000000000004000000
// result f32 3,2,2 bcb0403f8c9ababeed95ad3cbcb0403f688135be1d6101c0c34661bf688135be0b9fd63d182027bd33bae6be0b9fd63d
