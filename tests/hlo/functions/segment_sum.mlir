module @jit_segment_sum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x2xf32>, %arg1: tensor<9xi32>) -> (tensor<4x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
    %2 = "stablehlo.scatter"(%0, %1, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<4x2xf32>, tensor<9x1xi32>, tensor<9x2xf32>) -> tensor<4x2xf32>
    return %2 : tensor<4x2xf32>
  }
}
// bound 6e-07
// arg0 f32 9,2 d5a582be978d69be346fd03e2fb1a2bfc6586ebfe3cd943ea913153ee6d8c0beeceb12bfdb9c55bfd3056fbd3e22973f356e87bf16fcc23f2b0f583fddeae7be9877483fb9a2bbbf
// arg1 i32 9 010000000100000001000000000000000100000000000000010000000200000000000000
// result f32 4,2 25cc5e3f696d29bf1b4f1ac0800305bf2b0f583fddeae7be0000000000000000
