module @jit_update attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x6xf32>, %arg1: tensor<i32>) -> (tensor<5x6xf32> {jax.result_info = "result[0]"}, tensor<2x3xf32> {jax.result_info = "result[1]"}, tensor<5x6xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %3 = stablehlo.select %1, %2, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.dynamic_update_slice %arg0, %0, %3, %c_1 : (tensor<5x6xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<5x6xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<5> : tensor<i32>
    %6 = stablehlo.add %arg1, %c_3 : tensor<i32>
    %7 = stablehlo.select %5, %6, %arg1 : tensor<i1>, tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %arg1, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<6> : tensor<i32>
    %9 = stablehlo.add %arg1, %c_5 : tensor<i32>
    %10 = stablehlo.select %8, %9, %arg1 : tensor<i1>, tensor<i32>
    %11 = stablehlo.dynamic_slice %arg0, %7, %10, sizes = [2, 3] : (tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %c_6 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %14 = "stablehlo.scatter"(%arg0, %12, %13) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<5x6xf32>, tensor<1xi32>, tensor<6xf32>) -> tensor<5x6xf32>
    return %4, %11, %14 : tensor<5x6xf32>, tensor<2x3xf32>, tensor<5x6xf32>
  }
}
// bound 0
// arg0 f32 5,6 2b6435bf892cb13f106956bde6cd01be0bbf383f91dc643f922da23f0a45a83e94b319bf2da309bfa278023fdbb5143f55f3b23f843cd63e98b3873f8e25c23f79c1283ec926bebf8df296bfed09b8bf3cb9cb3fc5ef58bffcac9d3f87f2153ff08ddb3f6165803f80a7d1bdc8d44cbe6a6cae3d9b77333e
// arg1 i32 - 02000000
// result0 f32 5,6 2b6435bf892cb13f106956bde6cd01be0bbf383f91dc643f922da23f0a45a83e94b319bf2da309bfa278023fdbb5143f55f3b23f0000803f0000803f8e25c23f79c1283ec926bebf8df296bf0000803f0000803fc5ef58bffcac9d3f87f2153ff08ddb3f6165803f80a7d1bdc8d44cbe6a6cae3d9b77333e
// result1 f32 2,3 98b3873f8e25c23f79c1283e3cb9cb3fc5ef58bffcac9d3f
// result2 f32 5,6 2b6435bf892cb13f106956bde6cd01be0bbf383f91dc643f00000000000000000000000000000000000000000000000055f3b23f843cd63e98b3873f8e25c23f79c1283ec926bebf8df296bfed09b8bf3cb9cb3fc5ef58bffcac9d3f87f2153ff08ddb3f6165803f80a7d1bdc8d44cbe6a6cae3d9b77333e
